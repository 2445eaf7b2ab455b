"""The check functions of "Many heads: evidence": a wrong answer gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from bookkit.exercises.heads_evidence import (
    check_cache_bytes,
    check_grouped,
    check_heads,
)

Answer = Callable[..., Any]


def split(x: Tensor, num_heads: int) -> Tensor:
    """Number by number."""
    b, n, e = x.shape
    d = e // num_heads
    heads = x.new_zeros(b, num_heads, n, d)
    for place in range(e):
        heads[:, place // d, :, place % d] = x[:, :, place]
    return heads


def join(heads: Tensor) -> Tensor:
    return torch.cat(heads.unbind(1), dim=-1)


def cache_bytes(layers: int, tokens: int, h: int, g: int, d: int, size: int) -> int:
    return sum(g * d * size for _ in range(2 * layers) for _ in range(tokens))


def make_grouped(
    order: Callable[[int, int, int], int] = lambda i, h, g: i * g // h,
    scale: Callable[[int, int], float] = lambda h, d: 1 / math.sqrt(d),
    value_order: Callable[[int, int, int], int] | None = None,
) -> Answer:
    """Attention with a loop over query heads, one of its parts possibly wrong."""

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        h, d, g = query.shape[1], query.shape[3], key.shape[1]
        found = []
        for i in range(h):
            at = order(i, h, g)
            scores = torch.einsum("bqd,bkd->bqk", query[:, i], key[:, at]) * scale(h, d)
            at = (value_order or order)(i, h, g)
            found.append(torch.softmax(scores, -1) @ value[:, at])
        return torch.stack(found, 1)

    return attention


@pytest.mark.parametrize(
    ("check", "answers"),
    [
        (check_heads, (split, join)),
        (check_cache_bytes, (cache_bytes,)),
        (check_grouped, (make_grouped(),)),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answers: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    check(*answers)
    assert capsys.readouterr().out == "Right.\n"


HEADS: list[tuple[Answer, Answer, str]] = [
    (lambda x, h: x.reshape(len(x), h, x.shape[1], -1), join, "cuts the sequence into heads"),
    (lambda x, h: x.unflatten(-1, (h, -1)), join, "still in the order"),
    (lambda x, h: x.unflatten(-1, (-1, h)).permute(0, 3, 1, 2), join, "neighbouring features"),
    (lambda x, h: x, join, r"split: got shape \(2, 5, 12\), wanted \(b, h, n, d\), \(2, 3, 5, 4\)"),
    (lambda x, h: split(x, h).flip(1), join, "the numbers are not"),
    (lambda x, h: None, join, "end in a return"),
    (lambda x, h: [1, 2], join, "got a list, wanted a tensor"),
    (lambda x: x, join, "your function stops"),
    (split, lambda t: t.reshape(t.shape[0], t.shape[2], -1), "without a transpose back"),
    (split, lambda t: t.permute(0, 2, 3, 1).flatten(-2), "have to stay together"),
    (split, lambda t: t.sum(1), "the heads are added"),
    (split, lambda t: t, "join: got shape"),
    (split, lambda t: -join(t), "join: the shape is right"),
]

BYTES: list[tuple[Answer, str]] = [
    (lambda n, t, h, g, d, s: n * t * g * d * s, "both kept$"),
    (lambda n, t, h, g, d, s: 2 * t * g * d * s, "a cache of its own"),
    (lambda n, t, h, g, d, s: t * g * d * s, "both kept, in every layer"),
    (lambda n, t, h, g, d, s: 2 * n * t * h * d * s, "not num_heads"),
    (lambda n, t, h, g, d, s: 2 * t * h * d * s, "but in every layer"),
    (lambda n, t, h, g, d, s: 2 * n * t * g * d, "not bytes"),
    (lambda n, t, h, g, d, s: 2 * n * t * d * s, "every key and value head"),
    (lambda n, t, h, g, d, s: 2 * n * t * g * s, "a key is a vector"),
    (lambda n, t, h, g, d, s: 2 * n * t * t * g * d * s, "no table of tokens by tokens"),
    (lambda n, t, h, g, d, s: 17, "which is not it"),
    (lambda n, t, h, g, d, s: None, "end in a return"),
    (lambda n, t: 1, "your function stops"),
]

GROUPED: list[tuple[Answer, str]] = [
    (make_grouped(lambda i, h, g: i % g), "repeat_interleave, not repeat$"),
    (make_grouped(lambda i, h, g: i % g, lambda h, d: (h * d) ** -0.5), "repeat; and the width"),
    (make_grouped(scale=lambda h, d: (h * d) ** -0.5), "^the width that counts"),
    (make_grouped(scale=lambda h, d: 1.0), "nothing is scaled"),
    (make_grouped(value_order=lambda i, h, g: i % g), "keys and values are repeated in different"),
    (
        make_grouped(lambda i, h, g: i % g, value_order=lambda i, h, g: i * g // h),
        "values and keys are repeated in different",
    ),
    (make_grouped(lambda i, h, g: 0), "looks at the first key head"),
    (make_grouped(scale=lambda h, d: 2.0), "the numbers are not"),
    (
        lambda query, key, value: query,
        r"got shape \(2, 6, 4, 5\), wanted \(b, h, q, v\), \(2, 6, 4, 2\)",
    ),
    (lambda query, key, value: None, "end in a return"),
    (lambda query, key, value: "a", "got 'a', wanted a tensor"),
    (lambda query: query, "your function stops"),
]


@pytest.mark.parametrize(
    ("check", "answers", "hint"),
    [
        *((check_heads, case[:-1], case[-1]) for case in HEADS),
        *((check_cache_bytes, case[:-1], case[-1]) for case in BYTES),
        *((check_grouped, case[:-1], case[-1]) for case in GROUPED),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answers: tuple[Any, ...], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(*answers)
    assert capsys.readouterr().out == ""
