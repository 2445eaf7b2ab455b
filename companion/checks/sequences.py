"""What must not matter to a sequence: its neighbours in the batch, its padding, its order."""

from __future__ import annotations

import numpy as np

from companion.arrays import Array, check_rank, namespace
from companion.checks._outputs import (
    Function,
    Numbers,
    changed_numbers,
    check_inputs,
    outputs_of,
    steady_outputs,
    with_places,
)


def check_alone(function: Function, x: Array) -> None:
    """Check that a sequence gives the same alone as in its batch.

    Args:
        function: from (b, n, ...) to (b, ...).
        x: (b, n, ...) ids or features, b at least 2, the sequences different.

    Raises:
        AssertionError: a neighbour matters; the message hints at the cause.
        ValueError: fewer than two sequences.

    >>> x = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> check_alone(lambda x: x.cumsum(axis=1), x)
    >>> check_alone(lambda x: x.cumsum(axis=0), x)
    Traceback (most recent call last):
    AssertionError: sequence 1 gives something else alone than in its batch: is the first axis the \
batch for every part, or does a norm run over it?
    """
    check_rank(2, "(b, n, ...)", x=x)
    if x.shape[0] < 2:
        raise ValueError(f"x: got {x.shape[0]} sequences, wanted at least 2")
    together = steady_outputs(function, x)
    for row in range(x.shape[0]):
        if _differs(together[row], outputs_of(function, x[row : row + 1])[0]):
            raise AssertionError(
                f"sequence {row} gives something else alone than in its batch: is the first axis "
                f"the batch for every part, or does a norm run over it?"
            )


def check_padding(
    function: Function, x: Array, lengths: Array, other: Array, *, per_place: bool = True
) -> None:
    """Check that padding changes nothing: neither what stands in it, nor that it is there.

    Args:
        function: `function(x, lengths)`, from (b, n, ...) and (b,) to (b, n, ...), of which the
            places within the lengths are compared, or to (b, ...), as a loss for each sequence.
        x: (b, n, ...) ids or features, padded at the end.
        lengths: (b,) number of real places, each at least 1, some below n.
        other: as x, with something else at every place; its places stand in for padding.
        per_place: axis 1 of the output is that of x.

    Raises:
        AssertionError: padding matters; the message hints at the cause.
        ValueError: no padding to try, or x and other cannot show a change at every place.

    >>> x, lengths = np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 0.0]]), np.array([3, 1])
    >>> mean = lambda x, lengths: (x * (np.arange(x.shape[1]) < lengths[:, None])).sum(1) / lengths
    >>> check_padding(mean, x, lengths, 9 - x, per_place=False)
    >>> check_padding(lambda x, lengths: x.mean(1), x, lengths, 9 - x, per_place=False)
    Traceback (most recent call last):
    AssertionError: what stands in the padding of sequence 1 changes its output: a mask is missing
    """
    check_inputs(x, other)
    real = [int(length) for length in lengths]  # type: ignore[attr-defined]
    if not any(length < x.shape[1] for length in real):
        raise ValueError(f"lengths: got {real}, wanted some below {x.shape[1]}: no padding to try")

    def result(x: Array, lengths: Array, length: int) -> Numbers:
        found = steady_outputs(function, x, lengths)
        return found[0, :length] if per_place else found[0:1]

    for row, length in enumerate(real):
        one, its_length = x[row : row + 1], lengths[row : row + 1]
        padded = result(one, its_length, length)
        dirty = with_places(one, other[row : row + 1], length, x.shape[1])
        if _differs(padded, result(dirty, its_length, length)):
            raise AssertionError(
                f"what stands in the padding of sequence {row} changes its output: "
                f"a mask is missing"
            )
        if _differs(padded, result(one[:, :length], its_length, length)):
            raise AssertionError(
                f"sequence {row} gives something else without its padding: "
                f"the padding is read, averaged or counted, whatever stands in it"
            )


def check_permutation(function: Function, x: Array) -> None:
    """Check that places in another order give the same outputs, in that order.

    It holds for self-attention without positions and without a causal mask, however many heads.

    Args:
        function: from (b, n, ...) to (b, n, ...), without positions.
        x: (b, n, ...) features, n at least 3, the places different.

    Raises:
        AssertionError: the order matters; the message hints at the cause.
        ValueError: fewer than three places.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_permutation(lambda x: x / x.sum(), x)
    >>> check_permutation(lambda x: x.cumsum(axis=1), x)
    Traceback (most recent call last):
    AssertionError: places in another order give other outputs: a view without a transpose cuts \
heads across places, or positions or a causal mask are on
    """
    check_rank(2, "(b, n, ...)", x=x)
    if x.shape[1] < 3:
        raise ValueError(f"x: got shape {tuple(x.shape)}, wanted (b, n, ...), n at least 3")
    before, xp = steady_outputs(function, x), namespace(x)
    order = [*range(1, x.shape[1]), 0]  # every place moves, and no pair keeps its distance
    moved = outputs_of(function, xp.stack([x[:, place] for place in order], axis=1))
    if _differs(before[:, order], moved):
        raise AssertionError(
            "places in another order give other outputs: a view without a transpose cuts heads "
            "across places, or positions or a causal mask are on"
        )


def _differs(before: Numbers, after: Numbers) -> bool:
    return before.shape != after.shape or bool(
        changed_numbers(before, after).any() or np.isnan(after).any()
    )
