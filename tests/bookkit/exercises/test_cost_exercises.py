"""The check functions of "What it costs": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from bookkit.exercises.cost import (
    check_block,
    check_crossing,
    check_exponents,
    check_share,
)
from companion.cost import (
    crossover_length,
    feed_forward_flops,
    multi_head_flops,
)
from companion.models.transformer import TransformerConfig

Answer = Callable[..., Any]


def block(n: int, e: int) -> int:
    return multi_head_flops(e, 1, q_len=n).total + feed_forward_flops(e, 4 * e, tokens=n)


def crossing(e: int, f: int) -> int:
    return crossover_length(TransformerConfig(2, embed_dim=e, num_heads=1, hidden_dim=f))


def share(weights: float, cache: float, b: int) -> float:
    """Read by read."""
    step = weights + sum(cache for _ in range(b))
    return step / b / (weights + cache)


def exponents(lengths: Any, times: Any) -> list[float]:
    logs = [(math.log(n), math.log(t)) for n, t in zip(lengths, times, strict=True)]
    return [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(logs)]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_block, block),
        (check_crossing, crossing),
        (check_share, share),
        (check_exponents, exponents),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


BLOCK: list[tuple[Answer, str]] = [
    (lambda n, e: block(n, e) / 2, "are two operations"),
    (lambda n, e: 24 * n * e * e, "every pair of tokens"),
    (lambda n, e: 24 * n * e * e + 2 * n * n * e, "the blend is another"),
    (lambda n, e: 22 * n * e * e + 4 * n * n * e, "four projections"),
    (lambda n, e: 16 * n * e * e + 4 * n * n * e, "feed-forward has two products"),
    (lambda n, e: 3 * block(n, e), "that is training"),
    (lambda n, e: 17, "which is not it"),
    (lambda n, e: None, "end in a return"),
    (lambda n: n, "your function stops"),
]

CROSSING: list[tuple[Answer, str]] = [
    (lambda e, f: f, "without the projections"),
    (lambda e, f: f / 2, "only at f = 4 e"),
    (lambda e, f: f - e, "four projections of e by e"),
    (lambda e, f: f - 1.5 * e, "queries, keys, values, output"),
    (lambda e, f: 2 * f - 4 * e, "two products of all pairs"),
    (lambda e, f: e, "which is not it"),
    (lambda e, f: "far", "wanted a number"),
]

SHARE: list[tuple[Answer, str]] = [
    (lambda w, c, b: 1 / b, "a cache of its own"),
    (lambda w, c, b: (w + b * c) / (w + c), "that is the time of a step"),
    (lambda w, c, b: b * (w + c) / (w + b * c), "turn it over"),
    (lambda w, c, b: (b * w + c) / (b * (w + c)), "weights are shared"),
    (lambda w, c, b: 1.0 + w, "which is not it"),
]

EXPONENTS: list[tuple[Answer, str]] = [
    (lambda n, t: [b / a for a, b in pairwise(t)], "take logarithms"),
    (lambda n, t: [math.log(b / a) for a, b in pairwise(t)], "divide by the logarithm"),
    (lambda n, t: [math.log2(b / a) for a, b in pairwise(t)], "lengths need not double"),
    (lambda n, t: exponents(t, n), "time belongs above"),
    (
        lambda n, t: [exponents([n[0], n[i]], [t[0], t[i]])[0] for i in range(1, len(n))],
        "not from the first",
    ),
    (lambda n, t: [2.0 for _ in n[1:]], "not it"),
    (lambda n, t: [2.0 for _ in n], r"one between neighbours, \(3,\)"),
    (lambda n, t: 2.0, "wanted an array \\(n - 1,\\)"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        pytest.param(check, answer, hint, id=f"{check.__name__}-{hint}")
        for check, cases in (
            (check_block, BLOCK),
            (check_crossing, CROSSING),
            (check_share, SHARE),
            (check_exponents, EXPONENTS),
        )
        for answer, hint in cases
    ],
)
def test_a_wrong_answer_gets_a_hint_at_its_cause(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
