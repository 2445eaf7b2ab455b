"""The check functions of "The bug museum": right passes, wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from bookkit.exercises.museum import (
    FAULTS,
    check_diagnosis,
    check_packed_test,
    check_reads,
    check_repaired,
    suspects,
)
from companion.conformance import check_alone, check_causal, check_reach, influence

Answer = Callable[..., Any]
DIAGNOSIS = {"A": "view", "B": "none", "C": "window", "D": "scale", "E": "future", "F": "batch"}


def attention(
    *, cut: str = "right", root: str = "head", past: bool = True, axis: int = -1, back: bool = True
) -> Answer:
    """Attention in heads by einsum, some of its steps possibly wrong."""

    def attend(x: Tensor, h: int) -> Tensor:
        b, n, e = x.shape
        d = e // h
        heads = torch.stack([x[..., i * d : (i + 1) * d] for i in range(h)], 1)
        if cut == "view":
            heads = x.reshape(b, h, n, d)
        scores = torch.einsum("bhid,bhjd->bhij", heads, heads) / math.sqrt(
            d if root == "head" else e
        )
        allowed = torch.tensor(np.tri(n) if past else np.tri(n).T) > 0
        weights = torch.where(allowed, scores, -math.inf).softmax(axis)
        output = torch.einsum("bhij,bhjd->bhid", weights, heads)
        return torch.cat(list(output.unbind(1)), -1) if back else output.reshape(b, n, e)

    return attend


def packed(function: Answer, x: Tensor, other: Tensor, ids: Tensor) -> None:
    assert not (influence(function, x, other) & (ids[:, None] != ids).numpy()).any()


def blames(found: Answer) -> Answer:
    def test(function: Answer, x: Tensor, other: Tensor, ids: Tensor) -> None:
        if found(influence(function, x, other), ids.numpy()):
            raise AssertionError("no")

    return test


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_reads, influence),
        (check_reads, lambda *given: influence(*given).tolist()),
        (check_reads, lambda *given: torch.tensor(influence(*given))),
        (check_diagnosis, DIAGNOSIS),
        (check_repaired, attention()),
        (check_packed_test, packed),
    ],
)
def test_right_answers_pass(check: Answer, answer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def in_place(function: Answer, x: Tensor, other: Tensor) -> Any:
    before, columns = function(x), []
    for j in range(x.shape[1]):
        x[:, j] = other[:, j]
        columns.append((function(x) != before).any(-1).any(0))
    return torch.stack(columns, 1)


def seen_by(place: Any) -> Answer:
    """Look at one sequence or feature alone."""
    return lambda function, x, other: influence(lambda x: function(x)[place], x, other)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda *given: None, "end in a return"),
        (lambda *given: ..., "wanted|end in a return|shape"),
        (lambda *given: "a", "got shape"),
        (in_place, "writes into x"),
        (lambda *given: influence(*given)[0], r"wanted \(m, n\)"),
        (lambda *given: ~influence(*given), "the opposite"),
        (lambda *given: influence(*given).T, r"exchanged|wanted \(m, n\)"),
        (seen_by((slice(0, 1),)), "any sequence and any feature"),
        (seen_by((..., slice(0, 1))), "any sequence and any feature"),
        (lambda *given: influence(*given) | (np.arange(7) == 3), "the entries are not"),
        (lambda function: None, "your function stops"),
    ],
)
def test_wrong_influence(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_reads(answer)


@pytest.mark.parametrize("letter", DIAGNOSIS)
def test_a_wrong_diagnosis_gets_a_property_to_look_at(letter: str) -> None:
    wrong = next(fault for fault in FAULTS if fault != DIAGNOSIS[letter])
    with pytest.raises(AssertionError, match=f"{letter}: it is not '{wrong}'. Hint: "):
        check_diagnosis(DIAGNOSIS | {letter: wrong})


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "wanted a dictionary"),
        ({}, "A: got nothing"),
        ({"A": "bug"}, "A: got 'bug', wanted one of"),
    ],
)
def test_no_diagnosis(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_diagnosis(answer)


def test_the_suspects_have_what_is_said() -> None:
    draw = torch.Generator().manual_seed(0)
    x, other = torch.randn(2, 3, 7, 8, generator=draw, dtype=torch.float64)
    by_fault = {DIAGNOSIS[letter]: suspect for letter, suspect in suspects().items()}
    for fault in ("none", "scale"):
        check_reach(by_fault[fault], x, other, size=3)
    check_reach(by_fault["window"], x, other, size=4)
    assert not torch.allclose(by_fault["none"](x), by_fault["scale"](x))
    with pytest.raises(AssertionError, match="alone"):
        check_alone(by_fault["batch"], x)
    for fault in ("future", "view"):
        with pytest.raises(AssertionError, match="depends on"):
            check_causal(by_fault[fault], x, other)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (attention(cut="view", back=False), "mistake is left in the cut and the join"),
        (attention(cut="view"), "mistake is left in the cut: a view"),
        (attention(back=False), "mistake is left in the join"),
        (attention(root="model"), "mistake is left in the scale"),
        (attention(past=False), "mistake is left in the mask"),
        (attention(axis=-2), "mistake is left in the axis"),
        (attention(root="model", past=False), "more than one mistake"),
        (lambda x, h: x * math.nan, "NaN"),
        (lambda x, h: x[:, 1:], r"wanted \(b, n, h \* d\)"),
        (lambda x, h: None, "end in a return"),
        (lambda x: x, "your function stops"),
    ],
)
def test_a_repair_that_is_not_done(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_repaired(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda *given: None, "lets them pass"),
        (lambda *given: True, "a check gives nothing"),
        (blames(lambda found, ids: True), "yours blames them"),
        (blames(lambda found, ids: np.triu(found, 1).any()), "yours blames them"),
        (blames(lambda found, ids: found.all()), "only|and nothing else: yours lets them pass"),
        (blames(lambda found, ids: (found & (ids[:, None] < ids)).any()), "lets them pass"),
        (lambda function: None, "your function stops"),
    ],
)
def test_a_check_that_misjudges(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_packed_test(answer)
