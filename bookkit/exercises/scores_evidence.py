"""Check function of "Scores, and why the square root: evidence".

It calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected


def check_variance(variance: Answer) -> None:
    """Check the variance of a dot product whose entries are correlated.

    Args:
        variance: `variance(d, query_std, key_std, correlation)`: query and key are independent of
            each other, all d entries have mean 0, and the standard deviation of their side; any
            two entries of one vector have that correlation.
    """

    def expected(d: int, query_std: float, key_std: float, rho: float) -> Expected:
        squares = query_std**2 * key_std**2
        right = squares * (d + d * (d - 1) * rho**2)
        unsquared, all_pairs = squares * (d + d * (d - 1) * rho), squares * (d + d * d * rho**2)
        half = squares * (d + d * (d - 1) / 2 * rho**2)
        return right, {
            "that is the standard deviation: square it": math.sqrt(right),
            "pairs of different entries count, too: their covariances multiply": squares * d,
            "the queries' covariance meets the keys': rho appears twice": unsquared,
            "there are d * (d - 1) pairs of different entries, not d * d": all_pairs,
            "every pair of different entries comes twice, as (m, l) and as (l, m)": half,
            "standard deviations enter squared": right / (query_std * key_std),
            "the keys have a variance, too": right / key_std**2,
            "the queries have a variance, too": right / query_std**2,
            "that is the variance divided by d": squares * (1 + (d - 1) * rho**2),
        }

    cases = [(7, 1.0, 1.0, 0.0), (5, 3.0, 0.5, 0.25), (64, 2.0, 1.5, -0.01)]
    otherwise = "variance({}, {}, {}, {}): got {got:g}, which is not it"
    answers.check(variance, cases, expected, otherwise=otherwise, rtol=1e-4, atol=0.0)
