"""Check functions of "What it costs".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from companion.pages.exercises.answers import as_number, called, fail, named


def check_block(flops: Callable[..., Any]) -> None:
    """Check the operations of a Transformer's block whose feed-forward layer is 4 e wide.

    Args:
        flops: `flops(n, e)`, from the number of tokens and the width to the operations of all
            products in one forward pass, a multiplication and an addition each.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for n, e in ((7, 12), (512, 64), (1, 3)):
        weights, pairs = 24 * n * e * e, 4 * n * n * e
        hints = {
            (weights + pairs) / 2: "a multiplication and an addition are two operations",
            weights: "scores and blend meet every pair of tokens",
            weights + pairs / 2: "scores are one product of all pairs, the blend is another",
            weights - 2 * n * e * e + pairs: "attention has four projections: the output's, too",
            weights - 8 * n * e * e + pairs: "feed-forward has two products, of e and 4 e each",
            3 * (weights + pairs): "that is training: the forward pass alone is asked for",
        }
        _compare(called(flops, n, e), weights + pairs, hints, f"flops({n}, {e})")
    print("Right.")


def check_crossing(crossing: Callable[..., Any]) -> None:
    """Check the length at which attention does as many operations as the feed-forward layer.

    Args:
        crossing: `crossing(e, f)`, from the width and the feed-forward layer's to the length at
            which the layer of attention, projections included, does as many; f is above 2 e.

    Raises:
        AssertionError: a length is wrong; the message hints at the cause.
    """
    for e, f in ((64, 300), (64, 256), (10, 100)):
        right = f - 2 * e
        hints = {
            float(f): "that is without the projections, which are a part of the layer",
            f / 2: "only at f = 4 e: write both sides with e and f, and solve for n",
            float(f - e): "there are four projections of e by e",
            f - 1.5 * e: "there are four projections: queries, keys, values, output",
            2.0 * (f - 2 * e): "scores and blend are two products of all pairs",
        }
        _compare(called(crossing, e, f), right, hints, f"crossing({e}, {f})")
    print("Right.")


def check_share(share: Callable[..., Any]) -> None:
    """Check what a batch does to the time of a token where memory alone is the bound.

    Args:
        share: `share(weights, cache, b)`, from the bytes of the weights, those of one sequence's
            cache and the number of sequences to the time of a token, as a part of that with one
            sequence.

    Raises:
        AssertionError: a share is wrong; the message hints at the cause.
    """
    for weights, cache, b in ((100.0, 10.0, 4), (100.0, 300.0, 16), (50.0, 0.0, 8), (7.0, 2.0, 1)):
        one, many = weights + cache, weights + b * cache
        right = many / (b * one)
        hints = {
            1 / b: "the weights are read once for all, but each sequence has a cache of its own",
            many / one: "that is the time of a step, which writes b tokens",
            b * one / many: "that is how many times faster: turn it over",
            (b * weights + cache) / (b * one): "weights are shared, caches are not",
        }
        hints = {wrong: hint for wrong, hint in hints.items() if not math.isclose(wrong, right)}
        _compare(
            called(share, weights, cache, b), right, hints, f"share({weights:g}, {cache:g}, {b})"
        )
    print("Right.")


def check_exponents(exponents: Callable[..., Any]) -> None:
    """Check the exponents from each length to the next.

    Args:
        exponents: `exponents(lengths, times)`, from n lengths and n times to the n - 1 exponents
            of the power laws between neighbours.

    Raises:
        AssertionError: an exponent is wrong; the message hints at the cause.
    """
    for lengths, power in (([1, 2, 4, 8], 2.0), ([3, 9, 30, 40], 1.5)):
        times = [5 * n**power + 7 * n for n in lengths]
        got = called(exponents, list(lengths), list(times))
        try:
            numbers = [float(x) for x in got]
        except (TypeError, ValueError):
            fail(f"got {named(got)}, wanted a list of numbers")
        if len(numbers) != len(lengths) - 1:
            fail(f"got {len(numbers)} exponents, wanted {len(lengths) - 1}: one between neighbours")
        pairs = [
            (lengths[i + 1] / lengths[i], times[i + 1] / times[i]) for i in range(len(numbers))
        ]
        right = [math.log(time) / math.log(length) for length, time in pairs]
        mistakes = {
            "that is by how much the time is multiplied: take logarithms": [t for _, t in pairs],
            "divide by the logarithm of the ratio of the lengths": [math.log(t) for _, t in pairs],
            "lengths need not double: divide by the logarithm of their ratio": [
                math.log2(t) for _, t in pairs
            ],
            "time belongs above, length below": [math.log(a) / math.log(t) for a, t in pairs],
            "from each length to the next, not from the first": _from_first(lengths, times),
        }
        if not _close(numbers, right):
            for hint, wrong in mistakes.items():
                if _close(numbers, wrong):
                    fail(hint)
            fail(f"exponents({lengths}, ...): got {[round(x, 3) for x in numbers]}, not it")
    print("Right.")


def _from_first(lengths: Sequence[float], times: Sequence[float]) -> list[float]:
    rest = zip(lengths[1:], times[1:], strict=True)
    return [math.log(t / times[0]) / math.log(n / lengths[0]) for n, t in rest]


def _close(got: Sequence[float], wanted: Sequence[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(got, wanted, strict=True))


def _compare(got: Any, right: float, hints: Mapping[float, str], call: str) -> None:
    number = as_number(got)
    if math.isclose(number, right, rel_tol=1e-6):
        return
    for wrong, hint in hints.items():
        if math.isclose(number, wrong, rel_tol=1e-6):
            fail(hint)
    fail(f"{call}: got {number:g}, which is not it")
