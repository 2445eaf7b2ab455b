"""Whether a state of decoding still says what its caches hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from companion.cache import KVCache

StateT = TypeVar("StateT", bound="WrittenState")


class CachedState(Protocol):
    """A state that shares its caches with those before and after it."""

    @property
    def caches(self) -> Sequence[KVCache] | None:
        """Keys and values of the tokens so far; None if they are computed anew."""

    @property
    def changes(self) -> int:
        """How often the caches had changed when the state was made."""


class WrittenState(CachedState, Protocol):
    """A named tuple that has either caches or the tokens themselves."""

    @property
    def tokens(self) -> Tensor | None:
        """The tokens so far, (b, n), if there are no caches."""

    def _replace(self: StateT, *, tokens: Tensor | None, changes: int) -> StateT: ...


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


def reordered(state: StateT, indices: Tensor) -> StateT:
    """Let row i go on from what row indices[i] was; caches are reordered in place.

    Args:
        state: if it has caches, it is spent.
        indices: (b,) rows.

    Raises:
        ValueError: a state that is spent already, or indices of another shape.
    """
    check_unspent(state)
    for cache in state.caches or ():
        cache.reorder(indices)
    tokens = None if state.tokens is None else state.tokens.index_select(0, indices)
    return state._replace(tokens=tokens, changes=changes_of(state.caches))
