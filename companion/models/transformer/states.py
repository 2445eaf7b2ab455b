"""What a decoding step asks of the state that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from torch import Tensor

from companion.cache import KVCache
from companion.models._checks import check_rows

StateT = TypeVar("StateT", bound="State")


class State(Protocol):
    """A named tuple with the caches that it shares with the states before and after it.

    A model that computes all tokens anew at every step keeps the tokens instead.
    """

    @property
    def caches(self) -> Sequence[KVCache] | None:
        """Keys and values of the tokens so far."""

    @property
    def changes(self) -> int:
        """How often the caches had changed when the state was made."""

    @property
    def tokens(self) -> Tensor | None:
        """The tokens so far, (b, n), if there are no caches."""

    @property
    def limit(self) -> int | None:
        """Most tokens there may be, if there are no caches, which have a limit of their own."""

    def _replace(
        self: StateT, *, tokens: Tensor | None, changes: int
    ) -> StateT: ...


def changes_of(caches: Sequence[KVCache] | None) -> int:
    """Return how often caches have changed; those of all blocks change together."""
    return caches[0].changes if caches else 0


def check_step(tokens: Tensor, state: State, rows: Tensor) -> None:
    """Refuse a spent state, other than a token for each row, and a step too many.

    Args:
        tokens: the argument of `step`.
        state: the other one.
        rows: of the state, one row a sequence.
    """
    _check_unspent(state)
    check_rows("tokens", tokens, rows)
    length = 0 if state.tokens is None else state.tokens.shape[1]
    if state.limit is not None and length >= state.limit:
        raise ValueError(
            f"tokens: got one after {length}, wanted at most {state.limit} in all, as many "
            f"as `start` was told"
        )


def check_reorder(indices: Tensor, state: State, rows: Tensor) -> None:
    """Refuse a spent state, and other than an index for each of its rows."""
    _check_unspent(state)
    check_rows("indices", indices, rows)


def reordered(state: StateT, indices: Tensor) -> StateT:
    """Return a state whose row i is what row indices[i] was; caches are reordered in place."""
    for cache in state.caches or ():
        cache.reorder(indices)
    tokens = (
        None if state.tokens is None else state.tokens.index_select(0, indices)
    )
    return state._replace(tokens=tokens, changes=changes_of(state.caches))


def _check_unspent(state: State) -> None:
    """Refuse a state whose caches have been changed since it was made."""
    if state.caches and changes_of(state.caches) != state.changes:
        raise ValueError(
            f"state: got one that a step or a reordering has spent (its caches hold "
            f"{state.caches[0].length} tokens by now), wanted the state that came back from it"
        )
