"""Check functions of "Soft lookup".

Each calls your function, compares what it gives with a computation of its own, and prints "Right."
or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import called, fail, named

Numbers = NDArray[np.float64]


def check_temperature(temperature_for: Callable[..., Any]) -> None:
    """Check a function that finds the temperature of a wanted weight.

    Args:
        temperature_for: `temperature_for(gap, keys, weight)`, the temperature at which the best of
            `keys` keys gets `weight`, when its score is above all others by `gap` and those tie.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for gap, keys, weight in ((2.0, 5, 0.9), (0.3, 100, 0.5), (1.0, 2, 0.75)):
        got = called(temperature_for, gap, keys, weight)
        if got is None:
            fail(f"got {named(got)}")
        if not isinstance(got, float | int | np.floating):
            fail(f"got {named(got)}, wanted a number")
        odds = weight / (1 - weight)
        right = gap / math.log((keys - 1) * odds)
        _compare(
            np.array(float(got)),
            np.array(right),
            {
                "that is 1 / T: at a high temperature the best key has little": 1 / right,
                "a temperature is above 0: mind the sign of the logarithm": -right,
                "the softmax has e, not 2, as its base": gap / math.log2((keys - 1) * odds),
                "all keys - 1 others share the rest, not one": gap / math.log(odds)
                if odds != 1
                else math.inf,
                "the best key is not among the others: there are keys - 1": gap
                / math.log(keys * odds),
                "the weights are divided by their sum: e^(-gap / T) is not yet 1 - weight": gap
                / -math.log(1 - weight),
            },
            f"temperature_for({gap}, {keys}, {weight}): got {float(got):.4g}. "
            "Solve weight = 1 / (1 + (keys - 1) e^(-gap / T))",
        )
    print("Right.")


def check_left_out(left_out: Callable[..., Any]) -> None:
    """Check what every sample is predicted as from the others, out of the weights of all.

    Args:
        left_out: `left_out(weights, value)`, from weights (n, n) whose rows sum to 1, sample i's
            own weight included, and values (n, v), to predictions (n, v) without it.

    Raises:
        AssertionError: the predictions are wrong; the message hints at the cause.
    """
    n, v = 7, 3
    dice = np.random.default_rng(4)
    scores, value = dice.normal(size=(n, n)), dice.normal(size=(n, v))
    kernels = np.exp(scores)
    weights = kernels / kernels.sum(1, keepdims=True)
    others = np.where(np.eye(n, dtype=bool), 0.0, kernels)
    right = others / others.sum(1, keepdims=True) @ value

    own = np.diag(weights)[:, None]
    off = weights - np.diag(np.diag(weights))
    again = np.exp(off) / np.exp(off).sum(1, keepdims=True)
    dropped = np.where(np.eye(n, dtype=bool), 0.0, np.exp(weights))
    _compare(
        _array(called(left_out, weights.copy(), value.copy())),
        right,
        {
            "every sample still answers for itself": weights @ value,
            "what is left of a row does not sum to 1: divide by its sum": off @ value,
            "divide by what is left of the row, not of the column": off
            / off.sum(0, keepdims=True)
            @ value,
            "that is the residual, not the prediction": (value - weights @ value) / (1 - own),
            "these are weights already: no second softmax": again @ value,
            "no second softmax, and a weight of 0 gives e^0 = 1": dropped
            / dropped.sum(1, keepdims=True)
            @ value,
            "row i are the weights of query i: do not transpose": (
                (off / off.sum(1, keepdims=True)).T @ value
            ),
            "those are the weights; blend the values with them": off / off.sum(1, keepdims=True),
            "take its own share out of the prediction before you divide": weights
            @ value
            / (1 - own),
        },
        f"wanted (n, v), {right.shape}; what is row i without sample i?",
    )
    print("Right.")


def check_on_circle(on_circle: Callable[..., Any]) -> None:
    """Check how numbers are laid on a circle, so that all keys have the same norm.

    Args:
        on_circle: `on_circle(x, radius)`, from numbers (n,) to points (n, 2) on the circle of that
            radius around 0, where a step along x is as long a step along the circle.

    Raises:
        AssertionError: the points are wrong; the message hints at the cause.
    """
    x = np.array([-0.4, 0.0, 0.3, 0.35, 1.0])
    for radius in (1.0, 3.0):
        points = _array(called(on_circle, x.copy(), radius))
        if points.shape == (2, len(x)):
            fail("a point is a row: (n, 2), not (2, n)")
        if points.shape != (len(x), 2):
            fail(f"got shape {points.shape}, wanted (n, 2), {(len(x), 2)}")
        # Where the circle starts, and which way round it goes, is free: products tell the rest.
        apart = x[:, None] - x
        right = radius**2 * np.cos(apart / radius)
        _compare(
            points @ points.T,
            right,
            {
                "the points lie on the circle of radius 1: multiply by the radius": right
                / radius**2,
                "the angle is x / radius: a step along x is too long on your circle": radius**2
                * np.cos(apart),
                "the angle is x / radius, not x * radius": radius**2 * np.cos(apart * radius),
                "the angle is x / radius in radians: one round is not one unit of x": radius**2
                * np.cos(2 * np.pi * apart),
                "that is an angle in degrees": radius**2 * np.cos(np.radians(apart / radius)),
            },
            _circle_hint(points, radius),
        )
    print("Right.")


def check_line(line_lookup: Callable[..., Any]) -> None:
    """Check a lookup that fits a line with Gaussian weights, and reads it at the query.

    Args:
        line_lookup: `line_lookup(query, key, value, bandwidth)`, from queries (q,), keys (k,) and
            values (k,) to outputs (q,).

    Raises:
        AssertionError: the outputs are wrong; the message hints at the cause.
    """
    dice = np.random.default_rng(6)
    key, bandwidth = dice.uniform(size=11), 0.2
    value, query = np.sin(5 * key), np.array([-0.1, 0.2, 0.55, 0.9, 1.3])
    kernels = np.exp(-((query[:, None] - key) ** 2) / (2 * bandwidth**2))
    weights = kernels / kernels.sum(1, keepdims=True)
    key_mean, value_mean = weights @ key, weights @ value
    apart = key - key_mean[:, None]
    together = np.sum(weights * apart * value, axis=1)
    slope = together / np.sum(weights * apart**2, axis=1)
    one_slope, one_intercept = np.polyfit(key, value, 1)
    wide = np.exp(-((query[:, None] - key) ** 2) / bandwidth**2)
    got = _array(called(line_lookup, query.copy(), key.copy(), value.copy(), bandwidth))
    _compare(
        got,
        value_mean + slope * (query - key_mean),
        {
            "that is soft lookup: the line has a slope, too": value_mean,
            "that is one line for all queries: weigh the keys for each": one_slope * query
            + one_intercept,
            "the line goes through the mean key: how far is the query from there?": (
                value_mean + slope * query
            ),
            "the wrong way round: the query minus the mean key": value_mean
            + slope * (key_mean - query),
            "the slope is a covariance over a variance: divide": value_mean
            + together * (query - key_mean),
            "the slope's means are those under the weights, not plain ones": value_mean
            + one_slope * (query - key_mean),
            "the kernel has 2 h^2 below the square": _line(wide, query, key, value),
        },
        "Try it on values that lie on a line: it must give that line back, outside the keys, too",
    )
    print("Right.")


def _line(kernels: Numbers, query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    lines = [
        np.polynomial.Polynomial.fit(key, value, 1, w=np.sqrt(row))(q)
        for q, row in zip(query, kernels, strict=True)
    ]
    return np.array(lines)


def _circle_hint(points: Numbers, radius: float) -> str:
    norms = np.linalg.norm(points, axis=1)
    if not np.allclose(norms, norms[0]):
        return "the norms differ: cosine and sine of the same angle make a circle"
    return f"radius {radius}: neighbours lie as far apart as the numbers do, along the circle?"


def _array(got: Any) -> Numbers:
    if got is None:
        fail(f"got {named(got)}")
    try:
        return np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"got {named(got)}, wanted an array of numbers")


def _compare(got: Numbers, right: Numbers, mistakes: dict[str, Any], otherwise: str) -> None:
    """Compare with what is right, then with what is known to be wrong, whose keys are hints."""
    if _same(got, right):
        return
    for hint, wrong in mistakes.items():
        if _same(got, np.asarray(wrong)):
            fail(hint)
    if got.shape != right.shape:
        fail(f"got shape {got.shape}, wanted {right.shape}")
    fail(otherwise)


def _same(got: Numbers, other: Numbers) -> bool:
    return got.shape == other.shape and np.allclose(got, other, rtol=1e-3, atol=1e-6)
