"""The exercises of "Blocks and tiles"."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.exercises.answers import Numbers, softmax
from bookkit.exercises.exercise import Function, Several, Value, Verdict
from companion.scores import dot_score
from companion.tiled import merge_attention

Attention = Callable[[Numbers, Numbers, int], float]
"""From scores (k,), values (k,) and the size of a block to one answer."""


def _tops(scores: Numbers, size: int) -> Numbers:
    """Return the maximum of each block."""
    return np.array([scores[first : first + size].max() for first in range(0, len(scores), size)])


def _rises(tops: Numbers) -> int:
    return int((np.diff(np.maximum.accumulate(tops)) > 0).sum())


check_rescales = Function(
    "`rescales(scores, size)`, how often the three numbers have to be rescaled: from scores (k,) "
    "that come in blocks of that size to how many blocks after the first one raise the maximum.",
    right=lambda scores, size: _rises(_tops(scores, size)), cases=[
        (np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), 1),
        (np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), 2), (np.array([9.0, 5.0, 4.0, 3.0, 1.0]), 2),
        (np.array([-7.0, -7.0, -6.0, -8.0, -6.0, -5.0]), 1), (np.array([2.0, 0.0, 1.0]), 3),
    ], mistakes={
        "a block with the same maximum changes nothing":
            lambda s, i: int((_tops(s, i)[1:] >= np.maximum.accumulate(_tops(s, i))[:-1]).sum()),
        "compare with the maximum of all blocks so far, not of the one before":
            lambda s, i: int((np.diff(_tops(s, i)) > 0).sum()),
        "those are all blocks after the first: some bring nothing larger":
            lambda s, i: len(_tops(s, i)) - 1,
        "those are the scores that raise it, not the blocks": lambda s, i: _rises(s),
        "the first block finds nothing to rescale": lambda s, i: _rises(_tops(s, i)) + 1,
    }, otherwise="got {got:g}: compare the maximum of each block with that of all blocks before it",
)  # fmt: skip

WORDS, VECTORS = plane_words()
SCORES, VALUES = dot_score(VECTORS, VECTORS)[WORDS.index("the")], VECTORS[:, 0]


def _three(part: slice, highest: float | None = None) -> Numbers:
    """Return maximum, sum and blend of some keys."""
    top = SCORES[part].max() if highest is None else highest
    powers = np.exp(SCORES[part] - top)
    return np.array([top, powers.sum(), powers @ VALUES[part]])


FIRST, SECOND, BOTH = slice(0, 3), slice(3, 6), slice(0, 6)
ONE, TWO = _three(FIRST), _three(SECOND)


def _numbers(part: slice) -> Value:
    right = _three(part)
    divided = [*right[:2], right[2] / right[1]]
    listed: dict[str, Any] = {
        "subtract the maximum before the exponential": _three(part, 0.0),
        "the third is a blend: powers times values, not yet divided": divided,
        "the half with the smaller maximum has to be rescaled": [right[0], *(ONE + TWO)[1:]],
    }
    wrong = {hint: one for hint, one in listed.items() if not np.allclose(one, right)}
    asked = "(3,) maximum, sum and blend."
    return Value(asked, right=right, mistakes=wrong, axes="(3,)", rtol=0, atol=0.011)


check_halves = Several(
    "The row *the*, in two halves, by hand, *she works in* and *the new house*: two digits after "
    "the point will do. The scores are the dot products of `plane_words`, and a value is the first "
    "number of a word.",
    first=_numbers(FIRST), second=_numbers(SECOND), both=_numbers(BOTH), answer=Value(
        "The blend over the sum.", right=float(softmax(SCORES) @ VALUES),
        mistakes={
            "each half counts in proportion to its rescaled sum, not equally":
                (ONE[2] / ONE[1] + TWO[2] / TWO[1]) / 2,
            "that is the blend: divide it by the sum": _three(BOTH)[2],
        }, otherwise="got {got:g}", rtol=0, atol=0.006,
    ),
)  # fmt: skip


def _halves() -> dict[str, tuple[Numbers, ...]]:
    """Draw two outputs with their log-sum-exps, and let some of them have no key."""
    generator = np.random.default_rng(6)
    one, two = generator.normal(size=(2, 5, 3))
    lse, other = generator.normal(size=(2, 5))
    lonely, deserted = lse.copy(), other.copy()
    lonely[3], deserted[1] = -math.inf, -math.inf
    empty = np.arange(5) == 2
    zeros = np.where(empty[:, None], 0, one), np.where(empty[:, None], 0, two)
    none = np.where(empty, -math.inf, lonely), np.where(empty, -math.inf, deserted)
    return {
        "": (one, lse, two, other),
        "with log-sum-exps near 900": (one, lse + 900, two, other + 900),
        "where one half has no key": (one, lonely, two, deserted),
        "where neither half has a key": (zeros[0], none[0], zeros[1], none[1]),
    }


def _lost(got: Numbers, *_: Numbers) -> str:
    if np.isnan(got).any():
        return "NaN {when}: subtract the larger log-sum-exp first, unless it is -inf"
    return "the shape is right, the numbers are not {when}"


def _unsafe(one: Numbers, lse: Numbers, two: Numbers, other: Numbers) -> tuple[Numbers, Numbers]:
    a, b = np.exp(lse), np.exp(other)
    return (a[:, None] * one + b[:, None] * two) / (a + b)[:, None], np.log(a + b)


check_merge = Function(
    "`merge(output, lse, other_output, other_lse)`, attention to some keys and attention to others "
    "becomes attention to all: from outputs (q, v) and log-sum-exps (q,) to the merged pair; a "
    "half with -inf counts for nothing, and two of them give zeros and -inf.",
    right=merge_attention, cases=_halves(), parts={
        "output": {
            "a half counts in proportion to its exponentials": lambda o, s, t, h: (o + t) / 2,
            "each half is a mean already; the sum has to be one, too": lambda o, s, t, h: o + t,
            "a log-sum-exp is a logarithm: its exponential is the weight":
                lambda o, s, t, h: t + (s / (s + h))[:, None] * (o - t),
            "the weights are swapped": lambda o, s, t, h: merge_attention(o, h, t, s)[0],
        },
        "lse": {
            "the sums add up, not their logarithms": lambda o, s, t, h: s + h,
            "that is the larger one; the smaller adds something":
                lambda o, s, t, h: np.maximum(s, h),
            "that is the sum; its logarithm is wanted": lambda o, s, t, h: np.exp(s) + np.exp(h),
            "the logarithm of the sum, without the maximum added back":
                lambda o, s, t, h: np.log(1 + np.exp(-np.abs(s - h))),
        },
    }, examples={
        "output: NaN with log-sum-exps near 900": _unsafe,
        "lse: NaN where neither half has a key": lambda one, lse, two, other: (
            merge_attention(one, lse, two, other)[0],
            np.maximum(lse, other) + np.log1p(np.exp(-abs(lse - other))),
        ),
    }, kind="two arrays, (output, lse)", otherwise=_lost, atol=1e-9,
)  # fmt: skip


def _loop(
    *, of_sum: bool = True, of_blend: bool = True, rescued: int | None = None, wide: bool = True
) -> Attention:
    """Return attention in blocks that may forget to rescale.

    It forgets the sum or the blend, all after some first ones that are rescued, or all wide blocks.
    """

    def attention(scores: Numbers, values: Numbers, size: int) -> float:
        scores, values = np.asarray(scores, float), np.asarray(values, float)
        highest, total, blend, done = -math.inf, 0.0, 0.0, 0
        for first in range(0, len(scores), size):
            block = scores[first : first + size]
            risen = max(highest, float(block.max()))
            factor = math.exp(highest - risen)
            may = (rescued is None or done < rescued) and (wide or size == 1)
            done += factor < 1 and first > 0
            powers = np.exp(block - risen)
            total = total * (factor if of_sum and may else 1.0) + float(powers.sum())
            kept = blend * (factor if of_blend and may else 1.0)
            blend = kept + float(powers @ values[first : first + size])
            highest = risen
        return blend / total

    return attention


check_depends_on_blocks = Verdict(
    "`depends_on_blocks(attention)`, from a function that blends values by "
    "`attention(scores, values, size)` to True if its answer depends on the order or the size of "
    "the blocks, as it does where it forgets to rescale, and else False.",
    suspects=[
        ((_loop(),), False, "a loop that rescales is accused: allow for rounding errors"),
        ((_loop(of_sum=False, of_blend=False),), True, "a loop that rescales nothing is not found: "
         "let the largest score come last"),
        ((_loop(of_blend=False),), True, "a loop that rescales the sum and not the blend is not "
         "found: the first values must not be 0"),
        ((_loop(of_sum=False),), True, "a loop that rescales the blend and not the sum is not "
         "found"),
        ((_loop(rescued=1),), True, "a loop that rescales only once is not found: let the maximum "
         "rise several times"),
        ((_loop(wide=False),), True, "a loop that rescales only in blocks of one is not found: try "
         "larger ones as well"),
    ],
)  # fmt: skip
