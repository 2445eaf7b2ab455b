"""What must not matter to a sequence: its neighbours, padding, order, what follows, a cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from companion.arrays import Array, namespace
from companion.conformance._outputs import (
    Function,
    Numbers,
    check_positions,
    differ,
    fail_if,
    first_change,
    outputs_of,
    steady_outputs,
    with_positions,
)
from companion.contracts import contract

Step = Callable[[Any], Any]


@contract()
def check_alone(function: Function, x: Array) -> None:
    """Check that a sequence gives the same alone as in its batch.

    Args:
        function: from (b, n, ...) to (b, ...).
        x: (b, n, ...) ids or features, b at least 2, the sequences different.

    >>> x = np.array([[1.0, 2.0], [3.0, 5.0]])
    >>> check_alone(lambda x: x.cumsum(axis=1), x)
    >>> check_alone(lambda x: x.cumsum(axis=0), x)
    Traceback (most recent call last):
    AssertionError: sequence 1 gives something else alone than in its batch: is the first axis the \
batch for every part, or does a norm run over it?
    """
    check_positions(1, x)
    if x.shape[0] < 2:
        raise ValueError(f"x: got {x.shape[0]} sequences, wanted at least 2")
    together = steady_outputs(function, x)
    for row in range(x.shape[0]):
        fail_if(
            differ(together[row], outputs_of(function, x[row : row + 1])[0]),
            f"sequence {row} gives something else alone than in its batch: is the first axis "
            f"the batch for every part, or does a norm run over it?",
        )


@contract()
def check_padding(
    function: Function,
    x: Array,
    lengths: Array,
    other: Array,
    *,
    per_place: bool = True,
) -> None:
    """Check that padding changes nothing: neither what stands in it, nor that it is there.

    Args:
        function: `function(x, lengths)`, from (b, n, ...) and (b,) to (b, n, ...), of which the
            positions within the lengths are compared, or to (b, ...), a loss for each sequence.
        x: (b, n, ...) ids or features, padded at the end.
        lengths: (b,) number of real positions, each at least 1, some below n.
        other: as x, with something else at every position; it gives what is put in the padding.
        per_place: axis 1 of the output is that of x.

    >>> x, lengths = np.array([[1.0, 2.0, 4.0], [3.0, 0.0, 0.0]]), np.array([3, 1])
    >>> mean = lambda x, lengths: (x * (np.arange(x.shape[1]) < lengths[:, None])).sum(1) / lengths
    >>> check_padding(mean, x, lengths, 9 - x, per_place=False)
    >>> check_padding(lambda x, lengths: x.mean(1), x, lengths, 9 - x, per_place=False)
    Traceback (most recent call last):
    AssertionError: what stands in the padding of sequence 1 changes its output: a mask is missing
    """
    check_positions(2, x, other)
    real, n = [int(length) for length in lengths], x.shape[1]  # type: ignore[attr-defined]
    if all(length >= n for length in real):
        raise ValueError(
            f"lengths: got {real}, wanted some below {n}: no padding to try"
        )

    def result(x: Array, its_length: Array) -> Numbers:
        outputs = steady_outputs(function, x, its_length)
        return outputs[0, : int(its_length[0])] if per_place else outputs[0:1]

    for row in range(x.shape[0]):
        one, its_length = x[row : row + 1], lengths[row : row + 1]
        length, padded = int(its_length[0]), result(one, its_length)
        other_padding = with_positions(one, other[row : row + 1], length, n)
        fail_if(
            differ(padded, result(other_padding, its_length)),
            f"what stands in the padding of sequence {row} changes its output: a mask is missing",
        )
        fail_if(
            differ(padded, result(one[:, :length], its_length)),
            f"sequence {row} gives something else without its padding: "
            f"the padding is read, averaged or counted, whatever stands in it",
        )


@contract()
def check_permutation(function: Function, x: Array) -> None:
    """Check that positions in another order give the same outputs, in that order.

    It holds for self-attention without positions and without a causal mask, however many heads.

    Args:
        function: from (b, n, ...) to (b, n, ...), without positions.
        x: (b, n, ...) features, n at least 3, the positions different.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_permutation(lambda x: x / x.sum(), x)
    >>> check_permutation(lambda x: x.cumsum(axis=1), x)
    Traceback (most recent call last):
    AssertionError: tokens in another order give other outputs: a view without a transpose cuts \
heads across tokens, or positions or a causal mask are on
    """
    check_positions(3, x)
    before, xp = steady_outputs(function, x), namespace(x)
    # No two neighbours stay neighbours.
    order = [*range(1, x.shape[1], 2), *range(0, x.shape[1], 2)]
    turned = xp.concat([x[:, 1::2], x[:, ::2]], axis=1)
    moved = outputs_of(function, turned)
    fail_if(
        differ(before[:, order], moved),
        "tokens in another order give other outputs: a view without a transpose cuts heads "
        "across tokens, or positions or a causal mask are on",
    )


@contract()
def check_prefixes(function: Function, x: Array) -> None:
    """Check that a longer text leaves the outputs of its beginning as they were.

    A causal function may pass `check_causal`, which changes later positions, and yet depend on how
    many there are: by a sort that breaks ties differently in a longer row, or by an average.

    Args:
        function: causal, from (b, n, ...) to (b, n, ...).
        x: (b, n, ...) ids or features, n at least 3.

    >>> x = np.array([[1.0, 2.0, 4.0]])
    >>> check_prefixes(lambda x: x.cumsum(axis=1), x)
    >>> check_prefixes(lambda x: x.cumsum(axis=1) / x.shape[1], x)
    Traceback (most recent call last):
    AssertionError: output 0 of 1 positions is another when there are 3: does a sum run over all \
positions, or does a choice among equal scores depend on how many there are?
    """
    check_positions(3, x)
    whole: Any = steady_outputs(function, x)
    for length in range(1, x.shape[1]):
        alone, wanted = outputs_of(function, x[:, :length]), whole[:, :length]
        if differ(wanted, alone):
            raise AssertionError(
                f"output {first_change(wanted, alone)} of {length} positions is another when "
                f"there are {x.shape[1]}: does a sum run over all positions, or does a choice "
                f"among equal scores depend on how many there are?"
            )


@contract()
def check_cached(whole: Function, start: Callable[[], Step], x: Array) -> None:
    """Check that a sequence in pieces, with a cache, gives what it gives as a whole.

    Args:
        whole: from (b, n, ...) to (b, n, ...), without a cache.
        start: begins a text: gives a function that takes the next positions, (b, m, ...), any
            number of them, and gives their outputs, (b, m, ...).
        x: (b, n, ...) ids or features, n at least 4.

    >>> def start():
    ...     seen = [np.zeros((1, 1))]
    ...     def step(piece):
    ...         sums = seen[-1] + piece.cumsum(axis=1)
    ...         seen.append(sums[:, -1:])
    ...         return sums
    ...     return step
    >>> check_cached(lambda x: x.cumsum(axis=1), start, np.array([[1.0, 2.0, 4.0, 8.0]]))
    """
    check_positions(4, x)
    wanted, n = steady_outputs(whole, x), x.shape[1]
    for mistake in (
        "the whole text as one piece gives something else: not the same model",
        "a second text gives something else than the first: the cache was not emptied",
    ):
        fail_if(differ(wanted, _in_pieces(start(), x, [n])), mistake)
    for sizes in ([1] * n, [n - 2, 1, 1], [1, n - 1], [2, n - 2]):
        outputs = _in_pieces(start(), x, sizes)
        if differ(wanted, outputs):
            raise AssertionError(
                f"in pieces of {sizes} positions, output {first_change(wanted, outputs)} is "
                f"another: does the causal mask begin at the number of cached keys (offset), do "
                f"positions, too, and does a window of w keep w - 1 keys beside the new one?"
            )


def _in_pieces(step: Step, x: Any, sizes: list[int]) -> Numbers:
    pieces, start = [], 0
    for size in sizes:
        pieces.append(outputs_of(step, x[:, start : start + size]))
        start += size
    return np.concatenate(pieces, axis=1)
