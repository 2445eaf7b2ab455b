"""The exercises of "Soft lookup: evidence"."""

from __future__ import annotations

import math

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
            lambda gap, keys, weight: 1 / _temperature(gap, keys - 1, weight),
        "a temperature is above 0: mind the sign of the logarithm":
            lambda gap, keys, weight: -_temperature(gap, keys - 1, weight),
        "the softmax has e, not 2, as its base":
            lambda gap, keys, weight: _temperature(gap, keys - 1, weight) * math.log(2),
        "all keys - 1 others share the rest, not one":
            lambda gap, keys, weight: _temperature(gap, 1, weight),
        "the best key is not among the others: there are keys - 1": _temperature,
        "the weights are divided by their sum: e^(-gap / T) is not yet 1 - weight":
            lambda gap, keys, weight: gap / -math.log(1 - weight),
    },
    otherwise="temperature_for({}, {}, {}): got {got:.4g}. Solve weight = 1 / (1 + (keys - 1) "
    "e^(-gap / T))",
    rtol=1e-3, atol=1e-6,
)  # fmt: skip

DICE = np.random.default_rng(4)


def _rows(kernels: Numbers) -> Numbers:
    rows: Numbers = kernels / kernels.sum(1, keepdims=True)
    return rows


def _others(weights: Numbers) -> Numbers:
    return np.where(np.eye(len(weights), dtype=bool), 0.0, weights)


def _own(weights: Numbers) -> Numbers:
    return np.diag(weights)[:, None]


check_left_out = Function(
    "`left_out(weights, value)`, what every sample is predicted as from the others, from weights "
    "(n, n) whose rows sum to 1, sample i's own weight included, and values (n, v), to predictions "
    "(n, v) without it.",
    right=lambda weights, value: _rows(_others(weights)) @ value,
    cases=[(_rows(np.exp(DICE.normal(size=(7, 7)))), DICE.normal(size=(7, 3)))], mistakes={
        "every sample still answers for itself": lambda weights, value: weights @ value,
        "what is left of a row does not sum to 1: divide by its sum":
            lambda weights, value: _others(weights) @ value,
        "divide by what is left of the row, not of the column":
            lambda weights, value: _rows(_others(weights).T).T @ value,
        "that is the residual, not the prediction":
            lambda weights, value: (value - weights @ value) / (1 - _own(weights)),
        "these are weights already: no second softmax":
            lambda weights, value: _rows(np.exp(_others(weights))) @ value,
        "no second softmax, and a weight of 0 gives e^0 = 1":
            lambda weights, value: _rows(_others(np.exp(weights))) @ value,
        "row i are the weights of query i: do not transpose":
            lambda weights, value: _rows(_others(weights)).T @ value,
        "those are the weights; blend the values with them":
            lambda weights, value: _rows(_others(weights)),
        "take its own share out of the prediction before you divide":
            lambda weights, value: weights @ value / (1 - _own(weights)),
    }, otherwise="wanted (n, v), (7, 3); what is row i without sample i?", rtol=1e-3, atol=1e-6,
)  # fmt: skip


def _kernels(query: Numbers, key: Numbers, bandwidth: float) -> Numbers:
    kernels: Numbers = np.exp(-((query[:, None] - key) ** 2) / (2 * bandwidth**2))
    return kernels


def _fit(
    query: Numbers, key: Numbers, value: Numbers, bandwidth: float
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return each query's mean value, covariance, variance, and distance from its mean key."""
    weights = _rows(_kernels(query, key, bandwidth))
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
            lambda query, key, value, bandwidth: np.polyval(np.polyfit(key, value, 1), query),
        "the line goes through the mean key: how far is the query from there?": _line("through 0"),
        "the wrong way round: the query minus the mean key": _line("backwards"),
        "the slope is a covariance over a variance: divide": _line("no variance"),
        "the slope's means are those under the weights, not plain ones": _line("plain slope"),
        "the kernel has 2 h^2 below the square": (
            lambda query, key, value, bandwidth: _line()(
                query, key, value, bandwidth / math.sqrt(2)
            )
        ),
    },
    otherwise="Try it on values that lie on a line: it must give that line back, outside the keys, "
    "too",
    rtol=1e-3, atol=1e-6,
)  # fmt: skip
