"""Check functions of "Scores, and why the square root".

Each calls your function, or looks at your arrays, compares with a computation of its own, and
prints "Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.pages.exercises.answers import as_number, called, fail, named
from companion.scores import dot_score

Numbers = NDArray[np.float64]

KEYS_ON_THE_CIRCLE = 12
LEAST_WEIGHT = 0.9
"""The weight that each query of `check_circle` has to put on its own key."""


def check_variance(variance: Callable[..., Any]) -> None:
    """Check the variance of a dot product whose entries are correlated.

    Args:
        variance: `variance(d, query_std, key_std, correlation)`: query and key are independent of
            each other, all d entries have mean 0, and the standard deviation of their side; any
            two entries of one vector have that correlation.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for d, query_std, key_std, rho in (
        (7, 1.0, 1.0, 0.0),
        (5, 3.0, 0.5, 0.25),
        (64, 2.0, 1.5, -0.01),
    ):
        got = as_number(called(variance, d, query_std, key_std, rho))
        squares = query_std**2 * key_std**2
        right = squares * (d + d * (d - 1) * rho**2)
        mistakes = {
            math.sqrt(right): "that is the standard deviation: square it",
            squares * d: "pairs of different entries count, too: their covariances multiply",
            squares
            * (d + d * (d - 1) * rho): "the queries' covariance meets the keys': rho appears twice",
            squares * (d + d * d * rho**2): "there are d * (d - 1) pairs of different entries, not "
            "d * d",
            squares
            * (d + d * (d - 1) / 2 * rho**2): "every pair of different entries comes twice, as "
            "(m, l) and as (l, m)",
            query_std * key_std * right / squares: "standard deviations enter squared",
            query_std**2 * right / squares: "the keys have a variance, too",
            key_std**2 * right / squares: "the queries have a variance, too",
            squares * (1 + (d - 1) * rho**2): "that is the variance divided by d",
        }
        if not _same(got, right):
            _hint(got, mistakes)
            fail(f"variance({d}, {query_std}, {key_std}, {rho}): got {got:g}, which is not it")
    print("Right.")


def check_start_and_rate(start_and_rate: Callable[..., Any]) -> None:
    """Check by which factors first weights and learning rates stand in for a scale.

    Args:
        start_and_rate: `start_and_rate(scale, optimizer)`, the optimizer "sgd" or "adam", to two
            factors: on the first query and key weights, and on the learning rate of both, with
            which a model without the scale trains as one with it.

    Raises:
        AssertionError: a factor is wrong; the message hints at the cause.
    """
    for scale in (0.25, 1 / 9):
        for optimizer, rate in (("sgd", scale), ("adam", math.sqrt(scale))):
            got = called(start_and_rate, scale, optimizer)
            if not isinstance(got, tuple | list) or len(got) != 2:
                fail(f"got {named(got)}, wanted two factors, (start, rate)")
            _check_factor(
                "start", as_number(got[0]), math.sqrt(scale), _start_mistakes(scale), scale
            )
            name = f"rate of {optimizer}"
            _check_factor(name, as_number(got[1]), rate, _rate_mistakes(scale), scale)
    print("Right.")


def _start_mistakes(scale: float) -> dict[float, str]:
    return {
        scale: "the scores hold query weights times key weights; multiply both by the scale, and "
        "the scores are multiplied by its square",
        1 / math.sqrt(scale): "without the scale the weights have to be smaller, not larger",
        1.0: "the first scores have to be those with the scale",
    }


def _rate_mistakes(scale: float) -> dict[float, str]:
    too_long = "the weights are smaller, and a step has to be as much smaller"
    return {
        math.sqrt(scale): "the gradient changes, too: with respect to smaller weights it is larger",
        scale: "a step of Adam is as long whatever the size of the gradient; that of the weights "
        "alone counts",
        1 / math.sqrt(scale): too_long,
        1 / scale: too_long,
        1.0: too_long,
    }


def _check_factor(
    name: str, got: float, right: float, mistakes: dict[float, str], scale: float
) -> None:
    if not _same(got, right):
        _hint(got, {wrong: f"{name}: {hint}" for wrong, hint in mistakes.items()})
        fail(f"{name}: got {got:g} for the scale {scale:g}, which is not it")


def check_circle(queries: Any, keys: Any) -> None:
    """Check twelve queries and twelve keys of width 2: each query finds the key of its number.

    Args:
        queries: (12, 2).
        keys: (12, 2); the softmax of the dot products has more than 0.9 on the diagonal.

    Raises:
        AssertionError: a weight is too small; the message hints at the cause.
    """
    n = KEYS_ON_THE_CIRCLE
    arrays = []
    for name, value in (("queries", queries), ("keys", keys)):
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            fail(f"{name}: got {named(value)}, wanted numbers, ({n}, 2)")
        if array.shape == (2, n):
            fail(f"{name}: got shape (2, {n}), wanted ({n}, 2): one vector a row")
        if array.shape != (n, 2):
            fail(f"{name}: got shape {array.shape}, wanted ({n}, 2)")
        if not np.isfinite(array).all():
            fail(f"{name}: not all numbers are finite")
        arrays.append(array)
    scores = dot_score(*arrays)
    found = scores.argmax(-1)
    for i in range(n):
        if found[i] != i:
            longest = np.linalg.norm(arrays[1], axis=-1).argmax()
            why = (
                "a long key wins against nearer ones: give all keys one length"
                if found[i] == longest and np.ptp(np.linalg.norm(arrays[1], axis=-1)) > 1e-9
                else "let it point where its key points, and no two keys the same way"
            )
            fail(f"query {i} looks most at key {found[i]}: {why}")
    least = float(masked_softmax(scores).diagonal().min())
    if least <= LEAST_WEIGHT:
        fail(
            f"every query looks most at its own key, but with {least:.2f} at the least: longer "
            "vectors make larger differences of scores"
        )
    print("Right.")


def check_attention(attention: Callable[..., Any]) -> None:
    """Check attention with a softcap and a mask: what is scaled, and in which order.

    Args:
        attention: `attention(query, key, value, mask, softcap)`, from (h, q, d), (h, k, d) and
            (h, k, v) arrays, a boolean mask (q, k) and a number to outputs (h, q, v).

    Raises:
        AssertionError: the outputs are wrong; the message hints at the cause.
    """
    h, q, k, d, v = 3, 4, 6, 5, 2
    generator = np.random.default_rng(4)
    query, key = 2.0 * generator.normal(size=(h, q, d)), 2.0 * generator.normal(size=(h, k, d))
    value, softcap = generator.normal(size=(h, k, v)), 3.0
    mask = np.arange(k) <= np.arange(q)[:, None] + 1

    def capped(scores: Numbers) -> Numbers:
        return softcap * np.tanh(scores / softcap)

    def blend(scores: Numbers) -> Numbers:
        return attend(masked_softmax(scores, mask), value)

    dots = dot_score(query, key)
    scores = dots / math.sqrt(d)
    masked = np.where(mask, scores, -math.inf)
    over_all = dots / math.sqrt(h * d)
    doubly = scores / math.sqrt(h * d)
    right = scaled_dot_product_attention(query, key, value, mask, softcap=softcap)
    early = "the softcap comes before the mask: tanh(-inf) is -1, and a forbidden key gets weight"
    mistakes = {
        "nothing is scaled": blend(capped(dots)),
        "divided by d: the square root is missing, or taken twice": blend(capped(dots / d)),
        "multiplied by sqrt(d) instead of divided": blend(capped(dots * math.sqrt(d))),
        "the width that counts is that of one head, d, not that of all heads": blend(
            capped(over_all)
        ),
        "scaled twice: query is divided, and then the scores are": blend(capped(doubly)),
        "the softcap comes after the scale": blend(capped(dots) / math.sqrt(d)),
        "the softcap is missing": blend(scores),
        "the softcap divides, but does not multiply": blend(np.tanh(scores / softcap)),
        early: attend(masked_softmax(capped(masked)), value),
        early + "; and the scale is not that of one head": attend(
            masked_softmax(capped(np.where(mask, over_all, -math.inf))), value
        ),
        early + "; and it is scaled twice": attend(
            masked_softmax(capped(np.where(mask, doubly, -math.inf))), value
        ),
        "the mask is missing": attend(masked_softmax(capped(scores)), value),
        "the mask is upside down: True means may attend": attend(
            masked_softmax(capped(scores), ~mask), value
        ),
        "the weights are scaled, after the softmax": blend(capped(dots)) / math.sqrt(d),
    }
    got = called(attention, query.copy(), key.copy(), value.copy(), mask.copy(), softcap)
    try:
        array = np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"got {named(got)}, wanted an array")
    if array.shape != right.shape:
        fail(
            f"got {named(got)}, wanted an array (h, q, v)"
            if array.ndim == 0
            else f"got shape {array.shape}, wanted (h, q, v), {right.shape}"
        )
    if not np.allclose(array, right, atol=1e-6):
        for hint, wrong in mistakes.items():
            if np.allclose(array, wrong, atol=1e-6):
                fail(hint)
        fail("the shape is right, the numbers are not")
    print("Right.")


def _hint(got: float, mistakes: dict[float, str]) -> None:
    """Fail with the hint of the known wrong number that was given, if it is one."""
    for wrong, hint in mistakes.items():
        if _same(got, wrong):
            fail(hint)


def _same(number: float, other: float) -> bool:
    return math.isclose(number, other, rel_tol=1e-4)
