"""Check functions of "Soft lookup: evidence".

Each calls your function, compares what it gives with a computation of its own, and prints "Right."
or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers


def check_temperature(temperature_for: Answer) -> None:
    """Check a function that finds the temperature of a wanted weight.

    Args:
        temperature_for: `temperature_for(gap, keys, weight)`, the temperature at which the best of
            `keys` keys gets `weight`, when its score is above all others by `gap` and those tie.
    """

    def expected(gap: float, keys: int, weight: float) -> Expected:
        odds = weight / (1 - weight)
        right = gap / math.log((keys - 1) * odds)
        base_2 = gap / math.log2((keys - 1) * odds)
        # At odds of 1 that mistake divides by 0.
        one_other = gap / math.log(odds) if odds != 1 else math.inf
        undivided = gap / -math.log(1 - weight)
        return right, {
            "that is 1 / T: at a high temperature the best key has little": 1 / right,
            "a temperature is above 0: mind the sign of the logarithm": -right,
            "the softmax has e, not 2, as its base": base_2,
            "all keys - 1 others share the rest, not one": one_other,
            "the best key is not among the others: there are keys - 1": gap / math.log(keys * odds),
            "the weights are divided by their sum: e^(-gap / T) is not yet 1 - weight": undivided,
        }

    cases = [(2.0, 5, 0.9), (0.3, 100, 0.5), (1.0, 2, 0.75)]
    solve = "Solve weight = 1 / (1 + (keys - 1) e^(-gap / T))"
    otherwise = "temperature_for({}, {}, {}): got {got:.4g}. " + solve
    answers.check(temperature_for, cases, expected, otherwise=otherwise, rtol=1e-3, atol=1e-6)


def check_left_out(left_out: Answer) -> None:
    """Check what every sample is predicted as from the others, out of the weights of all.

    Args:
        left_out: `left_out(weights, value)`, from weights (n, n) whose rows sum to 1, sample i's
            own weight included, and values (n, v), to predictions (n, v) without it.
    """
    n, v = 7, 3
    dice = np.random.default_rng(4)
    scores, value = dice.normal(size=(n, n)), dice.normal(size=(n, v))
    kernels = np.exp(scores)
    weights = kernels / kernels.sum(1, keepdims=True)
    others = np.where(np.eye(n, dtype=bool), 0.0, kernels)
    right = others / others.sum(1, keepdims=True) @ value

    predicted, own = weights @ value, np.diag(weights)[:, None]
    off = weights - np.diag(np.diag(weights))
    rows, columns = off / off.sum(1, keepdims=True), off / off.sum(0, keepdims=True)
    again = np.exp(off) / np.exp(off).sum(1, keepdims=True)
    powers = np.where(np.eye(n, dtype=bool), 0.0, np.exp(weights))
    dropped = powers / powers.sum(1, keepdims=True)
    mistakes = {
        "every sample still answers for itself": predicted,
        "what is left of a row does not sum to 1: divide by its sum": off @ value,
        "divide by what is left of the row, not of the column": columns @ value,
        "that is the residual, not the prediction": (value - predicted) / (1 - own),
        "these are weights already: no second softmax": again @ value,
        "no second softmax, and a weight of 0 gives e^0 = 1": dropped @ value,
        "row i are the weights of query i: do not transpose": rows.T @ value,
        "those are the weights; blend the values with them": rows,
        "take its own share out of the prediction before you divide": predicted / (1 - own),
    }
    given, hint = (weights, value), f"wanted (n, v), {right.shape}; what is row i without sample i?"
    answers.check_call(left_out, given, right, mistakes, otherwise=hint, rtol=1e-3, atol=1e-6)


def check_line(line_lookup: Answer) -> None:
    """Check local linear regression: a line of Gaussian weights for each query, read at it.

    Args:
        line_lookup: `line_lookup(query, key, value, bandwidth)`, from queries (q,), keys (k,) and
            values (k,) to outputs (q,).
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
    further, one_line = query - key_mean, one_slope * query + one_intercept
    through_zero, plain_slope = value_mean + slope * query, value_mean + one_slope * further
    mistakes = {
        "that is soft lookup: the line has a slope, too": value_mean,
        "that is one line for all queries: weigh the keys for each": one_line,
        "the line goes through the mean key: how far is the query from there?": through_zero,
        "the wrong way round: the query minus the mean key": value_mean - slope * further,
        "the slope is a covariance over a variance: divide": value_mean + together * further,
        "the slope's means are those under the weights, not plain ones": plain_slope,
        "the kernel has 2 h^2 below the square": _line(wide, query, key, value),
    }
    given, right = (query, key, value, bandwidth), value_mean + slope * further
    hint = "Try it on values that lie on a line: it must give that line back, outside the keys, too"
    answers.check_call(line_lookup, given, right, mistakes, otherwise=hint, rtol=1e-3, atol=1e-6)


def _line(kernels: Numbers, query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    fit = partial(np.polynomial.Polynomial.fit, key, value, 1)
    return np.array([fit(w=np.sqrt(row))(q) for q, row in zip(query, kernels, strict=True)])
