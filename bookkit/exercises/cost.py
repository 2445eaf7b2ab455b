"""The exercises of "What it costs"."""

import numpy as np

from bookkit.exercises.exercise import Function


def _block(n: int, e: int, products: float = 12, pairs: float = 2) -> float:
    """Count the operations of some products by e * e weights, and of some of all pairs."""
    return 2.0 * products * n * e * e + 2.0 * pairs * n * n * e


check_block = Function(
    "`flops(n, e)`, from the number of tokens and the width to the operations of all products in "
    "one forward pass of a Transformer's block whose feed-forward layer is 4 e wide, a "
    "multiplication and an addition each.",
    right=_block, cases=[(7, 12), (512, 64), (1, 3)], mistakes={
        "a multiplication and an addition are two operations": lambda n, e: _block(n, e) / 2,
        "scores and blend meet every pair of tokens": lambda n, e: _block(n, e, pairs=0),
        "scores are one product of all pairs, the blend is another":
            lambda n, e: _block(n, e, pairs=1),
        "attention has four projections: the output's, too": lambda n, e: _block(n, e, products=11),
        "feed-forward has two products, of e and 4 e each": lambda n, e: _block(n, e, products=8),
        "that is training: the forward pass alone is asked for": lambda n, e: 3 * _block(n, e),
    }, otherwise="flops({}, {}): got {got:g}, which is not it",
)  # fmt: skip

check_crossing = Function(
    "`crossing(e, f)`, from the width and the feed-forward layer's to the length at which the "
    "layer of attention, projections included, does as many operations; f is above 2 e.",
    right=lambda e, f: float(f - 2 * e), cases=[(64, 300), (64, 256), (10, 100)], mistakes={
        "that is without the projections, which are a part of the layer": lambda e, f: f,
        "only at f = 4 e: write both sides with e and f, and solve for n": lambda e, f: f / 2,
        "there are four projections of e by e": lambda e, f: f - e,
        "there are four projections: queries, keys, values, output": lambda e, f: f - 1.5 * e,
        "scores and blend are two products of all pairs": lambda e, f: 2 * (f - 2 * e),
    }, otherwise="crossing({}, {}): got {got:g}, which is not it",
)  # fmt: skip

check_share = Function(
    "`share(weights, cache, b)`, what a batch does to the time of a token where memory alone is "
    "the bound: from the bytes of the weights, those of one sequence's cache and the number of "
    "sequences to the time of a token, as a part of that with one sequence.",
    right=lambda weights, cache, b: (weights + b * cache) / (b * (weights + cache)),
    cases=[(100.0, 10.0, 4), (100.0, 300.0, 16), (50.0, 0.0, 8), (7.0, 2.0, 1)], mistakes={
        "the weights are read once for all, but each sequence has a cache of its own":
            lambda w, c, b: 1 / b,
        "that is the time of a step, which writes b tokens": lambda w, c, b: (w + b * c) / (w + c),
        "that is how many times faster: turn it over": lambda w, c, b: b * (w + c) / (w + b * c),
        "weights are shared, caches are not": lambda w, c, b: (b * w + c) / (b * (w + c)),
    }, otherwise="share({:g}, {:g}, {}): got {got:g}, which is not it",
)  # fmt: skip

POWERS = (([1, 2, 4, 8], 2.0), ([3, 9, 30, 40], 1.5))

check_exponents = Function(
    "`exponents(lengths, times)`, from n lengths and n times to the n - 1 exponents of the power "
    "laws between neighbours.",
    right=lambda lengths, times: np.diff(np.log(times)) / np.diff(np.log(lengths)),
    cases=[(lengths, [5 * n**power + 7 * n for n in lengths]) for lengths, power in POWERS],
    mistakes={
        "that is by how much the time is multiplied: take logarithms":
            lambda n, t: np.exp(np.diff(np.log(t))),
        "divide by the logarithm of the ratio of the lengths": lambda n, t: np.diff(np.log(t)),
        "lengths need not double: divide by the logarithm of their ratio":
            lambda n, t: np.diff(np.log2(t)),
        "time belongs above, length below": lambda n, t: np.diff(np.log(n)) / np.diff(np.log(t)),
        "from each length to the next, not from the first":
            lambda n, t: np.log(np.array(t[1:]) / t[0]) / np.log(np.array(n[1:]) / n[0]),
    }, axes="(n - 1,), one between neighbours", otherwise="exponents({0}, ...): got {got}, not it",
)  # fmt: skip
