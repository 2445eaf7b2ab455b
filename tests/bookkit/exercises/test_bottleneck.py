"""The check functions of "The bottleneck": right passes, wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bookkit.exercises.bottleneck import (
    check_half_length,
    check_last_states,
    check_looking,
    check_uniform,
)
from companion import attend, dot_score, masked_softmax

Answer = Callable[..., Any]


def half_length(chance: float) -> int:
    words = 0
    while chance**words >= 0.5:
        words += 1
    return words


def uniform(memory: Tensor, mask: Tensor) -> Tensor:
    return (mask.float() / mask.sum(-1, keepdim=True)) @ memory


def last(outputs: Tensor, lengths: Tensor) -> Tensor:
    return torch.stack([row[int(n) - 1] for row, n in zip(outputs, lengths, strict=True)])


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_half_length, half_length),
        (check_uniform, uniform),
        (check_last_states, last),
    ],
)
def test_the_right_answer_passes(
    check: Callable[[Answer], None], answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


QUERY, MEMORY = np.array([[1.0, 2.0]]), np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
SCORES = dot_score(QUERY, MEMORY)[0]
WEIGHTS = masked_softmax(SCORES[None])[0]
CONTEXT = attend(WEIGHTS[None], MEMORY)[0]


@pytest.mark.parametrize("digits", [2, 3, 9])
def test_a_look_by_hand_passes_when_rounded(
    digits: int, capsys: pytest.CaptureFixture[str]
) -> None:
    check_looking(WEIGHTS.round(digits).tolist(), CONTEXT.round(digits))
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(
    ("weights", "context", "hint"),
    [
        (SCORES, CONTEXT, "weights: those are the scores"),
        (np.exp(SCORES), CONTEXT, "divide each by their sum"),
        (SCORES / SCORES.sum(), CONTEXT, "shares of exp"),
        (masked_softmax(dot_score(np.array([[1.0, 0.0]]), MEMORY))[0], CONTEXT, "here it is"),
        ([0, 1, 0], CONTEXT, "at the others, too"),
        ([1 / 3, 1 / 3, 1 / 3], CONTEXT, "every word alike"),
        ([0.3, 0.4, 0.3], CONTEXT, "weights: the shape is right"),
        (WEIGHTS[:2], CONTEXT, r"wanted \(3,\), \(3,\)"),
        (WEIGHTS, MEMORY.mean(0), "context: that is the plain mean"),
        (WEIGHTS, MEMORY.sum(0), "the sum of the memory"),
        (WEIGHTS, MEMORY[1], "the memory of one word"),
        (WEIGHTS, CONTEXT[::-1], "in the wrong order"),
        (WEIGHTS, None, "end in a return"),
    ],
)
def test_a_wrong_look_gets_a_hint(weights: Any, context: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_looking(weights, context)


HALF: list[tuple[Answer, str]] = [
    (lambda p: math.ceil(0.5 / (1 - p)), "chances multiply"),
    (lambda p: math.log(0.5) / math.log(p), "round up"),
    (lambda p: half_length(p) - 1, "one word more"),
    (lambda p: 2 * half_length(p), r"half_length\(0.99\): got 138"),
    (lambda p: None, "wanted a number"),
    (lambda p: 1 / 0, "your function stops"),
]

UNIFORM: list[tuple[Answer, str]] = [
    (lambda m, mask: m.mean(1, keepdim=True), "padding is averaged"),
    (lambda m, mask: mask.float() @ m / m.shape[1], "the number you divide by"),
    (lambda m, mask: mask.float() @ m, "divide by the number of words"),
    (lambda m, mask: uniform(m, ~mask), "upside down"),
    (lambda m, mask: mask.float().softmax(-1) @ m, "softmax of the mask"),
    (lambda m, mask: mask / mask.sum(-1, keepdim=True), "those are the weights"),
    (lambda m, mask: uniform(m, mask)[:, 0], "keep its axis"),
    (lambda m, mask: uniform(m, mask).mT, r"wanted \(b, 1, d\)"),
    (lambda m, mask: uniform(m, mask) + 1, "the numbers are not"),
    (lambda m, mask: m @ mask, "your function stops"),
    (lambda m, mask: None, "end in a return"),
]

LAST: list[tuple[Answer, str]] = [
    (lambda o, n: o[:, -1], "the very bug"),
    (lambda o, n: o[torch.arange(3), n], "has place 4"),
    (lambda o, n: o[torch.arange(3), n.clamp(max=4)], "one word late"),
    (lambda o, n: o[torch.arange(3), (n - 2).clamp(min=0)], "one word early"),
    (lambda o, n: o[:, 0], "after the first word"),
    (lambda o, n: o[:, n - 1], "choose place and sentence together"),
    (lambda o, n: last(o, n)[:, None], "size 1 too many"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_half_length, *case) for case in HALF),
        *((check_uniform, *case) for case in UNIFORM),
        *((check_last_states, *case) for case in LAST),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Callable[[Answer], None], answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""
