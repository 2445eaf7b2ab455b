"""Check functions of "Softmax in floating point".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Numbers, fail
from companion.attention import masked_softmax

Flags = NDArray[np.bool_]

LARGE = (1000.0, 1001.0, 1003.0)
"""The scores of the exercise by hand."""


def check_ends(ends: Answer) -> None:
    """Check a function that says how the softmax of the textbook ends in float16.

    Args:
        ends: `ends(scores)`, from an array (k,) of float16 scores, from which nothing is
            subtracted, to "weights", "zeros" or "NaN".
    """
    cases: tuple[tuple[list[float], str, str], ...] = (
        ([0.0, 1.0, 2.0], "weights", "every exponential fits, and so does their sum"),
        ([10.0] * 6, "zeros", "each exponential is 22,026, and six of them are too large a sum"),
        ([12.0, 3.0], "NaN", "exp(12) is already infinite, and inf / inf is NaN"),
        ([11.0], "weights", "one exponential of 59,874 fits"),
        ([-20.0, -19.0], "NaN", "both exponentials are rounded to 0, and 0 / 0 is NaN"),
        ([-20.0, 0.0], "weights", "one exponential is 1, so the sum is not 0"),
        ([11.0, 11.0, -3.0], "zeros", "two times 59,874 is more than 65,504"),
    )
    for scores, wanted, why in cases:
        with np.errstate(all="ignore"):
            got = answers.called(ends, np.array(scores, dtype=np.float16))
        if got not in ("weights", "zeros", "NaN"):
            answers.refuse(got, '"weights", "zeros" or "NaN"')
        if got != wanted:
            fail(f'scores {scores}: got "{got}", wanted "{wanted}": {why}')
    print("Right.")


def check_large(weights: Any, lse: Any) -> None:
    """Check the softmax of 1000, 1001 and 1003 by hand: two digits after the point will do.

    Args:
        weights: (3,) the weights.
        lse: the logarithm of the sum of the exponentials.
    """
    highest = max(LARGE)
    powers = np.exp(np.array(LARGE) - highest)
    right = powers / powers.sum()
    mistakes: Mapping[str, Any] = {
        "those are the exponentials: divide each by their sum": powers,
        "the largest score has the largest weight: the signs are turned around": right[::-1],
        "the scores themselves are not the weights": np.array(LARGE) / sum(LARGE),
    }
    answers.compare(weights, right, mistakes, where="weights: ", axes="(3,)", rtol=0, atol=0.006)
    log_of_sum = math.log(float(powers.sum()))
    of_lse: Mapping[str, Any] = {
        "add the largest score again, which you subtracted before": log_of_sum,
        "that is the largest score: the two others add something": highest,
        "the sum is added to the largest score: take its logarithm first": highest + powers.sum(),
    }
    answers.compare(lse, np.array(highest + log_of_sum), of_lse, where="lse: ", rtol=0, atol=0.006)
    print("Right.")


def check_softmax(softmax: Answer) -> None:
    """Check a masked softmax: large scores, forbidden keys, and a row with nothing allowed.

    Args:
        softmax: `softmax(scores, mask)`, from an array (q, k) and a boolean one, True = may
            attend, to weights (q, k); zeros in a row where nothing is allowed.
    """
    generator = np.random.default_rng(5)
    scores = generator.normal(size=(4, 6))
    mask = np.arange(6) <= np.arange(4)[:, None] + 1
    _check_weights(softmax, scores, mask)
    _check_weights(softmax, scores + 1000.0, mask, "with scores near 1000")
    lonely = mask.copy()
    lonely[2] = False
    _check_weights(softmax, scores, lonely, "with nothing allowed in a row")
    decoy = np.where(mask, scores - 1000.0, 1000.0)
    _check_weights(softmax, decoy, mask, "where the forbidden scores are the largest")
    print("Right.")


def _check_weights(softmax: Answer, scores: Numbers, mask: Flags, when: str = "") -> None:
    with np.errstate(all="ignore"):
        got = answers.as_array(answers.called(softmax, scores, mask), axes="(q, k)")
    right = masked_softmax(scores, mask)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    everywhere = powers / powers.sum(-1, keepdims=True)
    over_queries = masked_softmax(np.ascontiguousarray(scores.T), np.ascontiguousarray(mask.T)).T
    of_zeros = masked_softmax(scores * mask)
    mistakes = {
        "the mask is upside down: True means may attend": masked_softmax(scores, ~mask),
        "the mask is missing": everywhere,
        "the mask has to come before the softmax: what it takes away afterwards, the others do "
        "not get": everywhere * mask,
        "a score of 0 is a score like any other: a forbidden key needs -inf": of_zeros,
        "a row sums to 1; that is the axis of the keys, the last": over_queries,
    }
    otherwise = _weights_hint(got, scores, mask, when)
    answers.compare(got, right, mistakes, axes="(q, k)", otherwise=otherwise, atol=1e-9)


def _weights_hint(got: Numbers, scores: Numbers, mask: Flags, when: str) -> str:
    """Say what goes wrong with some weights that no known mistake gives."""
    if got.shape != scores.shape:
        return ""
    dead = ~mask.any(-1)
    if dead.any() and np.isnan(got[dead]).any():
        return "a row with nothing allowed is NaN: its maximum is -inf, or its sum is 0"
    if dead.any() and np.allclose(got[dead], 1 / scores.shape[-1]):
        return "a row with nothing allowed averages all keys: with -1e9 all scores tie; use -inf"
    lost = np.isnan(got).any() or np.allclose(got[~dead], 0)
    if lost and scores[~mask].min() > scores[mask].max():
        return f"all weights are lost {when}: subtract the largest of the allowed scores"
    if not np.isfinite(got).all():
        return f"not all weights are finite {when}: subtract the largest score of the row first"
    return f"the shape is right, the weights are not {when}".strip()


def check_sums_narrowly(sums_narrowly: Answer) -> None:
    """Check a function that finds out whether an attention loses the terms of a long sum.

    Args:
        sums_narrowly: `sums_narrowly(attention)`, from `attention(query, key, value)` on bfloat16
            tensors (q, d), (k, d), (k, v) to True or False.
    """
    import torch

    def sound(query: Any, key: Any, value: Any) -> Any:
        scores = query.float() @ key.float().mT
        return (masked_softmax(scores) @ value.float()).to(query.dtype)

    def running(query: Any, key: Any, value: Any) -> Any:
        scores = query.float() @ key.float().mT
        powers = (scores - scores.amax(-1, keepdim=True)).exp().to(query.dtype)
        total = torch.zeros(len(powers), dtype=query.dtype)
        for power in powers.unbind(-1):
            total = total + power
        return (powers.float() @ value.float() / total[:, None].float()).to(query.dtype)

    def seen(attention: Answer) -> Any:
        got = answers.called(sums_narrowly, attention)
        if not isinstance(got, bool | np.bool_):
            answers.refuse(got, "True or False")
        return bool(got)

    if seen(sound):
        fail("an attention whose sums are wide is accused: bfloat16 rounds its output as well, so "
             "ask for values that bfloat16 can write exactly, such as 1")  # fmt: skip
    if not seen(running):
        fail("a sum that stops at 256 is not found: give it more than 256 keys, and equal ones")
    print("Right.")
