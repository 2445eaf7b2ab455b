"""Whether a state of decoding still says what its caches hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from companion.cache import KVCache
from companion.models._checks import check_one_each

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

    @property
    def limit(self) -> int | None:
        """Most tokens there may be, if there are no caches, which have a limit of their own."""

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


def check_step(tokens: Tensor, rows: int, state: WrittenState) -> None:
    """Refuse a step that cannot be taken.

    Args:
        tokens: (b,) ids of the last tokens.
        rows: number of sequences.
        state: from which the step goes on.

    Raises:
        TypeError: tokens that are no integers.
        ValueError: a state that is spent, not one token a sequence, or more steps than allowed.
    """
    check_unspent(state)
    check_one_each(rows, tokens=tokens)
    before = state.tokens
    if before is not None and state.limit is not None and before.shape[1] >= state.limit:
        raise ValueError(
            f"tokens: got one after {before.shape[1]}, wanted at most {state.limit} in all: "
            f"`start` was told of no more steps"
        )


def reordered(state: StateT, indices: Tensor, rows: int) -> StateT:
    """Let row i go on from what row indices[i] was; caches are reordered in place.

    Args:
        state: if it has caches, it is spent.
        indices: (b,) rows.
        rows: number of sequences.

    Raises:
        TypeError: indices that are no integers.
        ValueError: a state that is spent already, or indices of another shape.
    """
    check_unspent(state)
    check_one_each(rows, indices=indices)
    for cache in state.caches or ():
        cache.reorder(indices)
    tokens = None if state.tokens is None else state.tokens.index_select(0, indices)
    return state._replace(tokens=tokens, changes=changes_of(state.caches))
