"""Whether a state of decoding still says what its caches hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from companion.cache import KVCache


class CachedState(Protocol):
    """A state that shares its caches with those before and after it."""

    @property
    def caches(self) -> Sequence[KVCache] | None:
        """Keys and values of the tokens so far; None if they are computed anew."""

    @property
    def changes(self) -> int:
        """How often the caches had changed when the state was made."""


def changes_of(caches: Sequence[KVCache] | None) -> int:
    """Return how often caches have changed; all blocks change together."""
    return caches[0].changes if caches else 0


def check_unspent(state: CachedState) -> None:
    """Refuse a state whose caches have gone on without it.

    Raises:
        ValueError: a step or a reordering took it already.
    """
    caches = state.caches
    if caches and caches[0].changes != state.changes:
        raise ValueError(
            f"state: got one that a step or a reordering has spent (its caches hold "
            f"{caches[0].length} tokens by now), wanted the state that came back from it"
        )
