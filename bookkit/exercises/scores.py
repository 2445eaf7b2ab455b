"""Check functions of "Scores, and why the square root".

Each calls your function, or looks at your arrays, compares with a computation of its own, and
prints "Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Mistakes, Numbers, fail
from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.scores import dot_score

Flags = NDArray[np.bool_]

KEYS_ON_THE_CIRCLE = 12
LEAST_WEIGHT = 0.9
"""The weight that each query of `check_circle` has to put on its own key."""


def check_doubled(scores: Any, factor: Any) -> None:
    """Check the scaled scores of vectors that are written twice, and how much larger they are.

    Args:
        scores: (3,) of the query (2, 3, 2, 3) for *the*, *new* and *house*.
        factor: by which they are larger than those of the vectors written once.
    """
    query, key = np.array([2.0, 3.0]), np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    once, twice = key @ query, key @ query * 2
    right = twice / math.sqrt(4)
    given = {
        "these are not divided: the width is now 4, so divide by 2": twice,
        "the width is now 4, and its root is 2": (twice / math.sqrt(2), twice / 4),
        "these are the scores of the vectors written once": once / math.sqrt(2),
    }
    wrong = {
        "that is the factor of the dot products; the divisor has grown, too": 2.0,
        "divide the new scores by the old ones, and both are divided": (0.5, 1 / math.sqrt(2)),
        "the dot products double, and the divisor grows less than that": 1.0,
    }
    answers.compare(scores, right, given, where="scores: ", axes="(3,)", atol=0.011)
    answers.compare(
        factor, math.sqrt(2), wrong, where="factor: ", otherwise="got {got:g}, which is not it",
        rtol=0.0, atol=0.011,
    )  # fmt: skip
    print("Right.")


def check_start_and_rate(start_and_rate: Answer) -> None:
    """Check by which factors first weights and learning rates stand in for a scale.

    Args:
        start_and_rate: `start_and_rate(scale, optimizer)`, the optimizer "sgd" or "adam", to two
            factors: on the first query and key weights, and on the learning rate of both, with
            which a model without the scale trains as one with it.
    """
    for scale in (0.25, 1 / 9):
        root = math.sqrt(scale)
        not_smaller = 1 / root, 1 / scale, 1.0
        of_start = {
            "the scores hold query weights times key weights; multiply both by the scale, and the "
            "scores are multiplied by its square": scale,
            "without the scale the weights have to be smaller, not larger": 1 / root,
            "the first scores have to be those with the scale": 1.0,
        }
        of_rate: Mistakes = {
            "the gradient changes, too: with respect to smaller weights it is larger": root,
            "a step of Adam is as long whatever the size of the gradient; that of the weights "
            "alone counts": scale,
            "the weights are smaller, and a step has to be as much smaller": not_smaller,
        }
        for optimizer, rate in (("sgd", scale), ("adam", root)):
            got = answers.called(start_and_rate, scale, optimizer)
            parts = {"start": (root, of_start), f"rate of {optimizer}": (rate, of_rate)}
            wanted = "two factors, (start, rate)"
            hint = "got {got:g} for the scale {:g}, which is not it"
            answers.compare_parts(
                got, parts, wanted, case=(scale,), otherwise=hint, rtol=1e-4, atol=0.0
            )
    print("Right.")


def check_circle(queries: Any, keys: Any) -> None:
    """Check twelve queries and twelve keys of width 2: each query finds the key of its number.

    Args:
        queries: (12, 2).
        keys: (12, 2); the softmax of the dot products has more than 0.9 on the diagonal.
    """
    n = KEYS_ON_THE_CIRCLE
    arrays = []
    for name, value in (("queries", queries), ("keys", keys)):
        array = answers.as_array(value, f"{name}: ", f"({n}, 2)", "numbers,")
        if array.shape == (2, n):
            fail(f"{name}: got shape (2, {n}), wanted ({n}, 2): one vector a row")
        if array.shape != (n, 2):
            fail(f"{name}: got shape {array.shape}, wanted ({n}, 2)")
        if not np.isfinite(array).all():
            fail(f"{name}: not all numbers are finite")
        arrays.append(array)
    scores = dot_score(*arrays)
    lengths = np.linalg.norm(arrays[1], axis=-1)
    for i, nearest in enumerate(scores.argmax(-1)):
        if nearest == i:
            continue
        why = "let it point where its key points, and no two keys the same way"
        if nearest == lengths.argmax() and np.ptp(lengths) > 1e-9:
            why = "a long key wins against nearer ones: give all keys one length"
        fail(f"query {i} looks most at key {nearest}: {why}")
    least = float(masked_softmax(scores).diagonal().min())
    if least <= LEAST_WEIGHT:
        why = "longer vectors make larger differences of scores"
        fail(f"every query looks most at its own key, but with {least:.2f} at the least: {why}")
    print("Right.")


def check_attention(attention: Answer) -> None:
    """Check attention with a softcap and a mask: what is scaled, and in which order.

    Args:
        attention: `attention(query, key, value, mask, softcap)`, from (h, q, d), (h, k, d) and
            (h, k, v) arrays, a boolean mask (q, k) and a number to outputs (h, q, v).
    """
    h, q, k, d, v = 3, 4, 6, 5, 2
    generator = np.random.default_rng(4)
    query, key = 2.0 * generator.normal(size=(h, q, d)), 2.0 * generator.normal(size=(h, k, d))
    value, softcap = generator.normal(size=(h, k, v)), 3.0
    mask = np.arange(k) <= np.arange(q)[:, None] + 1

    def capped(scores: Numbers) -> Numbers:
        return softcap * np.tanh(scores / softcap)

    def blend(scores: Numbers, mask: Flags | None = mask) -> Numbers:
        return attend(masked_softmax(scores, mask), value)

    def mask_first(scores: Numbers) -> Numbers:
        return blend(capped(np.where(mask, scores, -math.inf)), mask=None)

    dots = dot_score(query, key)
    scores, over_all = dots / math.sqrt(d), dots / math.sqrt(h * d)
    doubly = scores / math.sqrt(h * d)
    right = scaled_dot_product_attention(query, key, value, mask, softcap=softcap)
    early = "the softcap comes before the mask: tanh(-inf) is -1, and a forbidden key gets weight"
    all_heads = "the width that counts is that of one head, d, not that of all heads"
    mistakes = {
        "nothing is scaled": blend(capped(dots)),
        "divided by d: the square root is missing, or taken twice": blend(capped(dots / d)),
        "multiplied by sqrt(d) instead of divided": blend(capped(dots * math.sqrt(d))),
        all_heads: blend(capped(over_all)),
        "scaled twice: query is divided, and then the scores are": blend(capped(doubly)),
        "the softcap comes after the scale": blend(capped(dots) / math.sqrt(d)),
        "the softcap is missing": blend(scores),
        "the softcap divides, but does not multiply": blend(np.tanh(scores / softcap)),
        early: mask_first(scores),
        f"{early}; and the scale is not that of one head": mask_first(over_all),
        f"{early}; and it is scaled twice": mask_first(doubly),
        "the mask is missing": blend(capped(scores), mask=None),
        "the mask is upside down: True means may attend": blend(capped(scores), mask=~mask),
        "the weights are scaled, after the softmax": blend(capped(dots)) / math.sqrt(d),
    }
    given = query, key, value, mask, softcap
    answers.check_call(attention, given, right, mistakes, axes="(h, q, v)", atol=1e-6)
