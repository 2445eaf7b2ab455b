"""The exercises of "Soft lookup: evidence"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Answer, Numbers
from bookkit.exercises.exercise import Function


def _temperature(gap: float, others: float, weight: float) -> float:
    return gap / math.log(others * weight / (1 - weight))


check_temperature = Function(
    "`temperature_for(gap, keys, weight)`, the temperature at which the best of `keys` keys gets "
    "`weight`, when its score is above all others by `gap` and those tie.",
    right=lambda gap, keys, weight: _temperature(gap, keys - 1, weight),
    cases=[(2.0, 5, 0.9), (0.3, 100, 0.5), (1.0, 2, 0.75)], mistakes={
        "that is 1 / T: at a high temperature the best key has little":
            lambda g, n, w: 1 / _temperature(g, n - 1, w),
        "a temperature is above 0: mind the sign of the logarithm":
            lambda g, n, w: -_temperature(g, n - 1, w),
        "the softmax has e, not 2, as its base":
            lambda g, n, w: _temperature(g, n - 1, w) * math.log(2),
        "all keys - 1 others share the rest, not one": lambda g, n, w: _temperature(g, 1, w),
        "the best key is not among the others: there are keys - 1": _temperature,
        "the weights are divided by their sum: e^(-gap / T) is not yet 1 - weight":
            lambda g, n, w: g / -math.log(1 - w),
    }, otherwise="temperature_for({}, {}, {}): got {got:.4g}. Solve weight = 1 / (1 + (keys - 1) "
    "e^(-gap / T))",
    rtol=1e-3, atol=1e-6,
)  # fmt: skip

DICE = np.random.default_rng(4)


def _rows(kernels: Numbers) -> Any:
    return kernels / kernels.sum(1, keepdims=True)


def _others(weights: Numbers) -> Numbers:
    return np.where(np.eye(len(weights), dtype=bool), 0.0, weights)


check_left_out = Function(
    "`left_out(weights, value)`, what every sample is predicted as from the others, from weights "
    "(n, n) whose rows sum to 1, sample i's own weight included, and values (n, v), to predictions "
    "(n, v) without it.",
    right=lambda weights, value: _rows(_others(weights)) @ value,
    cases=[(_rows(np.exp(DICE.normal(size=(7, 7)))), DICE.normal(size=(7, 3)))], mistakes={
        "every sample still answers for itself": lambda w, v: w @ v,
        "what is left of a row does not sum to 1: divide by its sum": lambda w, v: _others(w) @ v,
        "divide by what is left of the row, not of the column":
            lambda w, v: _rows(_others(w).T).T @ v,
        "that is the residual, not the prediction":
            lambda w, v: (v - w @ v) / (1 - np.diag(w)[:, None]),
        "these are weights already: no second softmax": lambda w, v: _rows(np.exp(_others(w))) @ v,
        "no second softmax, and a weight of 0 gives e^0 = 1":
            lambda w, v: _rows(_others(np.exp(w))) @ v,
        "row i has the weights of query i: do not transpose": lambda w, v: _rows(_others(w)).T @ v,
        "those are the weights; blend the values with them": lambda w, v: _rows(_others(w)),
        "take its own share out of the prediction before you divide":
            lambda w, v: w @ v / (1 - np.diag(w)[:, None]),
    }, otherwise="wanted (n, v), (7, 3); what is row i without sample i?", rtol=1e-3, atol=1e-6,
)  # fmt: skip


def _fit(
    query: Numbers, key: Numbers, value: Numbers, bandwidth: float
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return each query's mean value, covariance, variance, and distance from its mean key."""
    weights = _rows(np.exp(-((query[:, None] - key) ** 2) / (2 * bandwidth**2)))
    apart = key - (weights @ key)[:, None]
    together, alone = (weights * apart * value).sum(1), (weights * apart**2).sum(1)
    return weights @ value, together, alone, query - weights @ key


def _line(change: str = "") -> Answer:
    """Make a local linear regression, one of its parts possibly wrong."""

    def line(query: Numbers, key: Numbers, value: Numbers, bandwidth: float) -> Numbers:
        mean, together, alone, further = _fit(query, key, value, bandwidth)
        slope = together / alone
        if change == "plain slope":
            slope = np.full_like(slope, np.polyfit(key, value, 1)[0])
        if change == "no variance":
            slope = together
        return mean + slope * {"through 0": query, "backwards": -further}.get(change, further)

    return line


KEY = np.random.default_rng(6).uniform(size=11)

check_line = Function(
    "`line_lookup(query, key, value, bandwidth)`, local linear regression, a line of Gaussian "
    "weights for each query, read at it: from queries (q,), keys (k,) and values (k,) to outputs "
    "(q,).",
    right=_line(), cases=[(np.array([-0.1, 0.2, 0.55, 0.9, 1.3]), KEY, np.sin(5 * KEY), 0.2)],
    mistakes={
        "that is soft lookup: the line has a slope, too": lambda *given: _fit(*given)[0],
        "that is one line for all queries: weigh the keys for each":
            lambda q, k, v, b: np.polyval(np.polyfit(k, v, 1), q),
        "the line goes through the mean key: how far is the query from there?": _line("through 0"),
        "the wrong way round: take the query minus the mean key": _line("backwards"),
        "the slope is a covariance over a variance: divide": _line("no variance"),
        "the slope's means are those under the weights, not plain ones": _line("plain slope"),
        "the kernel divides the square by 2 w^2":
            lambda q, k, v, b: _line()(q, k, v, b / math.sqrt(2)),
    },
    otherwise="Try it on values that lie on a line: it must give that line back, outside the keys, "
    "too",
    rtol=1e-3, atol=1e-6,
)  # fmt: skip
