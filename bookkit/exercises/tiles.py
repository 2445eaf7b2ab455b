"""Check functions of "Blocks and tiles".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Numbers, check, compare, fail
from companion.attention import masked_softmax
from companion.scores import dot_score
from companion.tiled import merge_attention, online_softmax

Attention = Callable[[Numbers, Numbers, int], float]
"""From scores (k,), values (k,) and the size of a block to one answer."""

PAIR = "two arrays, (output, lse)"
FIRST = 3
"""Words in the first half of the sentence, in the exercise by hand."""


def check_rescales(rescales: Answer) -> None:
    """Check a function that counts how often the three numbers have to be rescaled.

    Args:
        rescales: `rescales(scores, size)`, from scores (k,) that come in blocks of that size to how
            many blocks after the first one raise the maximum.
    """
    cases = (
        (np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), 1),
        (np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), 2),
        (np.array([9.0, 5.0, 4.0, 3.0, 1.0]), 2),
        (np.array([-7.0, -7.0, -6.0, -8.0, -6.0, -5.0]), 1),
        (np.array([2.0, 0.0, 1.0]), 3),
    )

    def expected(scores: Numbers, size: int) -> answers.Expected:
        tops = np.array(
            [scores[first : first + size].max() for first in range(0, len(scores), size)]
        )
        before = np.maximum.accumulate(tops)[:-1]
        return int((tops[1:] > before).sum()), {
            "a block with the same maximum changes nothing": int((tops[1:] >= before).sum()),
            "compare with the maximum of all blocks so far, not of the one before": int(
                (np.diff(tops) > 0).sum()
            ),
            "those are all blocks after the first: some bring nothing larger": len(tops) - 1,
            "those are the scores that raise it, not the blocks": int(
                (np.diff(np.maximum.accumulate(scores)) > 0).sum()
            ),
            "the first block finds nothing to rescale": int((tops[1:] > before).sum()) + 1,
        }

    otherwise = "got {got:g}: compare the maximum of each block with that of all blocks before it"
    check(rescales, cases, expected, otherwise=otherwise)


def check_halves(first: Any, second: Any, both: Any, answer: Any) -> None:
    """Check the row *the*, in two halves, by hand: two digits after the point will do.

    The scores are the dot products of `plane_words`, and a value is the first number of a word.

    Args:
        first: (3,) maximum, sum and blend of *she works in*.
        second: (3,) those of *the new house*.
        both: (3,) those of the two together.
        answer: the blend over the sum.
    """
    words, vectors = plane_words()
    scores, values = dot_score(vectors, vectors)[words.index("the")], vectors[:, 0]
    parts = {
        "first": (first, slice(0, FIRST)),
        "second": (second, slice(FIRST, 6)),
        "both": (both, slice(0, 6)),
    }
    one, two = (_three(scores[part], values[part]) for _, part in list(parts.values())[:2])
    for name, (given, part) in parts.items():
        right = _three(scores[part], values[part])
        mistakes: dict[str, Any] = {
            "subtract the maximum before the exponential": _three(
                scores[part], values[part], highest=0.0
            ),
            "the third is a blend: powers times values, not yet divided": [
                right[0], right[1], right[2] / right[1],
            ],
            "the half with the smaller maximum has to be rescaled": [
                right[0], one[1] + two[1], one[2] + two[2],
            ],
        }  # fmt: skip
        mistakes = {
            hint: wrong for hint, wrong in mistakes.items() if not np.allclose(wrong, right)
        }
        compare(given, right, mistakes, where=f"{name}: ", axes="(3,)", rtol=0, atol=0.011)
    whole = float((masked_softmax(scores[None]) @ values)[0])
    halves = {
        "the halves weigh as their rescaled sums do, not alike": (one[2] / one[1] + two[2] / two[1])
        / 2,
        "that is the blend: divide it by the sum": one[2] * math.exp(one[0] - two[0]) + two[2],
    }
    compare(answer, whole, halves, where="answer: ", otherwise="got {got:g}", rtol=0, atol=0.006)
    print("Right.")


def _three(scores: Numbers, values: Numbers, highest: float | None = None) -> Numbers:
    """Return maximum, sum and blend of some keys."""
    if highest is None:
        maximum, total = online_softmax([scores[None]])
        blend = (masked_softmax(scores[None]) @ values) * total
        return np.array([maximum[0], total[0], blend[0]])
    powers = np.exp(scores - highest)
    return np.array([highest, powers.sum(), powers @ values])


def check_merge(merge: Answer) -> None:
    """Check that attention to some keys and attention to others becomes attention to all.

    Args:
        merge: `merge(output, lse, other_output, other_lse)`, from outputs (q, v) and log-sum-exps
            (q,) to the merged pair; a half with -inf counts for nothing, and two of them give
            zeros and -inf.
    """
    generator = np.random.default_rng(6)
    one, two = generator.normal(size=(2, 5, 3))
    lse, other = generator.normal(size=(2, 5))
    _check_merged(merge, one, lse, two, other)
    _check_merged(merge, one, lse + 900.0, two, other + 900.0, "with log-sum-exps near 900")
    other[1], lse[3] = -math.inf, -math.inf
    _check_merged(merge, one, lse, two, other, "where one half has no key")
    one[2], two[2], lse[2], other[2] = 0.0, 0.0, -math.inf, -math.inf
    _check_merged(merge, one, lse, two, other, "where neither half has a key")
    print("Right.")


def _check_merged(
    merge: Answer, one: Numbers, lse: Numbers, two: Numbers, other: Numbers, when: str = ""
) -> None:
    with np.errstate(all="ignore"):
        got = answers.called(merge, one, lse, two, other)
        right, right_lse = merge_attention(one, lse, two, other)
        share = (lse / (lse + other))[:, None]
        shared, rest = share * one + (1 - share) * two, np.log(1 + np.exp(-np.abs(lse - other)))
        of_output = {
            "halves weigh as their denominators do, not alike": (one + two) / 2,
            "each half is a mean already; the sum has to be one, too": one + two,
            "a log-sum-exp is a logarithm: its exponential is the weight": shared,
            "the weights are exchanged": merge_attention(one, other, two, lse)[0],
        }
        of_lse = {
            "the sums add up, not their logarithms": lse + other,
            "that is the larger one; the smaller adds something": np.maximum(lse, other),
            "that is the sum; its logarithm is wanted": np.exp(lse) + np.exp(other),
            "the logarithm of the sum, without the maximum added back": rest,
        }
    names = {"output": "(q, v)", "lse": "(q,)"}
    for (name, axes), part in zip(names.items(), answers.as_parts(got, 2, PAIR), strict=True):
        if np.isnan(answers.as_array(part, f"{name}: ", axes)).any():
            fail(f"NaN {when}: subtract the larger log-sum-exp first, unless it is -inf")
    parts = {"output": (right, of_output), "lse": (right_lse, of_lse)}
    otherwise = f"the shape is right, the numbers are not {when}".strip()
    answers.compare_parts(got, parts, PAIR, otherwise=otherwise, atol=1e-9)


def check_depends_on_blocks(depends_on_blocks: Answer) -> None:
    """Check a function that finds out whether attention in blocks forgets to rescale.

    Args:
        depends_on_blocks: `depends_on_blocks(attention)`, from a function that blends values by
            `attention(scores, values, size)` to True if its answer depends on the order or the
            size of the blocks, and else False.
    """
    cases: tuple[tuple[Attention, bool, str], ...] = (
        (_loop(), False, "a loop that rescales is accused: allow for rounding errors"),
        (_loop(of_sum=False, of_blend=False), True, "a loop that rescales nothing is not found: "
         "let the largest score come last"),
        (_loop(of_blend=False), True, "a loop that rescales the sum and not the blend is not "
         "found: the first values must not be 0"),
        (_loop(of_sum=False), True, "a loop that rescales the blend and not the sum is not found"),
        (_loop(rescued=1), True, "a loop that rescales only once is not found: let the maximum "
         "rise several times"),
        (_loop(wide=False), True, "a loop that rescales only in blocks of one is not found: try "
         "larger ones as well"),
    )  # fmt: skip
    for attention, wanted, hint in cases:
        got = answers.called(depends_on_blocks, attention)
        if not isinstance(got, bool | np.bool_):
            answers.refuse(got, "True or False")
        if bool(got) is not wanted:
            fail(hint)
    print("Right.")


def _loop(
    *, of_sum: bool = True, of_blend: bool = True, rescued: int | None = None, wide: bool = True
) -> Attention:
    """Return attention in blocks that may forget to rescale.

    Args:
        of_sum: whether it rescales the sum.
        of_blend: whether it rescales the blend.
        rescued: after how many rescalings it stops to rescale; None means never.
        wide: whether it rescales in blocks of more than one score.
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
