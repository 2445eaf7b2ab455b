"""Check functions of "What it costs".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import numpy as np

from bookkit.exercises.answers import Answer, Expected, check


def check_block(flops: Answer) -> None:
    """Check the operations of a Transformer's block whose feed-forward layer is 4 e wide.

    Args:
        flops: `flops(n, e)`, from the number of tokens and the width to the operations of all
            products in one forward pass, a multiplication and an addition each.
    """

    def expected(n: int, e: int) -> Expected:
        square = n * e * e
        weights, pairs = 24.0 * square, 4.0 * n * n * e
        return weights + pairs, {
            "a multiplication and an addition are two operations": (weights + pairs) / 2,
            "scores and blend meet every pair of tokens": weights,
            "scores are one product of all pairs, the blend is another": weights + pairs / 2,
            "attention has four projections: the output's, too": weights - 2 * square + pairs,
            "feed-forward has two products, of e and 4 e each": weights - 8 * square + pairs,
            "that is training: the forward pass alone is asked for": 3 * (weights + pairs),
        }

    cases = [(7, 12), (512, 64), (1, 3)]
    check(flops, cases, expected, otherwise="flops({}, {}): got {got:g}, which is not it")


def check_crossing(crossing: Answer) -> None:
    """Check the length at which attention does as many operations as the feed-forward layer.

    Args:
        crossing: `crossing(e, f)`, from the width and the feed-forward layer's to the length at
            which the layer of attention, projections included, does as many; f is above 2 e.
    """

    def expected(e: int, f: int) -> Expected:
        right = float(f - 2 * e)
        return right, {
            "that is without the projections, which are a part of the layer": f,
            "only at f = 4 e: write both sides with e and f, and solve for n": f / 2,
            "there are four projections of e by e": f - e,
            "there are four projections: queries, keys, values, output": f - 1.5 * e,
            "scores and blend are two products of all pairs": 2 * right,
        }

    cases = [(64, 300), (64, 256), (10, 100)]
    check(crossing, cases, expected, otherwise="crossing({}, {}): got {got:g}, which is not it")


def check_share(share: Answer) -> None:
    """Check what a batch does to the time of a token where memory alone is the bound.

    Args:
        share: `share(weights, cache, b)`, from the bytes of the weights, those of one sequence's
            cache and the number of sequences to the time of a token, as a part of that with one
            sequence.
    """

    def expected(weights: float, cache: float, b: int) -> Expected:
        one, many = weights + cache, weights + b * cache
        one_cache = (b * weights + cache) / (b * one)
        return many / (b * one), {
            "the weights are read once for all, but each sequence has a cache of its own": 1 / b,
            "that is the time of a step, which writes b tokens": many / one,
            "that is how many times faster: turn it over": b * one / many,
            "weights are shared, caches are not": one_cache,
        }

    cases = [(100.0, 10.0, 4), (100.0, 300.0, 16), (50.0, 0.0, 8), (7.0, 2.0, 1)]
    check(share, cases, expected, otherwise="share({:g}, {:g}, {}): got {got:g}, which is not it")


def check_exponents(exponents: Answer) -> None:
    """Check the exponents from each length to the next.

    Args:
        exponents: `exponents(lengths, times)`, from n lengths and n times to the n - 1 exponents
            of the power laws between neighbours.
    """

    def expected(lengths: list[int], times: list[float]) -> Expected:
        n, time = np.array(lengths), np.array(times)
        slower = time[1:] / time[:-1]
        longer, logarithms = np.log(n[1:] / n[:-1]), np.log(slower)
        from_first = np.log(time[1:] / time[0]) / np.log(n[1:] / n[0])
        return logarithms / longer, {
            "that is by how much the time is multiplied: take logarithms": slower,
            "divide by the logarithm of the ratio of the lengths": logarithms,
            "lengths need not double: divide by the logarithm of their ratio": np.log2(slower),
            "time belongs above, length below": longer / logarithms,
            "from each length to the next, not from the first": from_first,
        }

    cases = [
        (lengths, [5 * n**power + 7 * n for n in lengths])
        for lengths, power in (([1, 2, 4, 8], 2.0), ([3, 9, 30, 40], 1.5))
    ]
    otherwise = "exponents({0}, ...): got {got}, not it"
    axes = "(n - 1,), one between neighbours"
    check(exponents, cases, expected, axes=axes, otherwise=otherwise)
