"""The exercise of "Scores, and why the square root: evidence"."""

import math

from bookkit.exercises.exercise import Function


def _variance(
    d: int, query_std: float, key_std: float, rho: float, *, power: float = 2, pairs: float = 1
) -> float:
    """Add the terms, and some part of the pairs of different ones."""
    variance: float = query_std**2 * key_std**2 * (d + pairs * d * (d - 1) * rho**power)
    return variance


check_variance = Function(
    "`variance(d, query_std, key_std, correlation)`, the variance of a dot product whose entries "
    "are correlated: query and key are independent of each other, all d entries have mean 0, and "
    "the standard deviation of their side; any two entries of one vector have that correlation.",
    right=_variance, cases=[(7, 1.0, 1.0, 0.0), (5, 3.0, 0.5, 0.25), (64, 2.0, 1.5, -0.01)],
    mistakes={
        "that is the standard deviation: square it": lambda *given: math.sqrt(_variance(*given)),
        "pairs of different entries count, too: their covariances multiply":
            lambda *given: _variance(*given, pairs=0),
        "the queries' covariance meets the keys': rho appears twice":
            lambda *given: _variance(*given, power=1),
        "there are d * (d - 1) pairs of different entries, not d * d":
            lambda d, *rest: _variance(d, *rest, pairs=d / (d - 1)),
        "every pair of different entries comes twice, as (m, l) and as (l, m)":
            lambda *given: _variance(*given, pairs=1 / 2),
        "standard deviations enter squared": lambda d, q, k, r: _variance(d, q, k, r) / (q * k),
        "the keys have a variance, too": lambda d, q, _, r: _variance(d, q, 1, r),
        "the queries have a variance, too": lambda d, _, k, r: _variance(d, 1, k, r),
        "that is the variance divided by d": lambda d, *rest: _variance(d, *rest) / d,
    }, otherwise="variance({}, {}, {}, {}): got {got:g}, which is not it", rtol=1e-4, atol=0.0,
)  # fmt: skip
