"""The check of "Softmax in floating point: evidence": wrong answers get the hint at their cause."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.answers import Answer
from bookkit.exercises.floating_point_evidence import check_additive


def make_additive(penalty: float = -math.inf, joined: Answer = np.logical_and) -> Answer:
    def additive(causal: Any, padding: Any) -> Any:
        allowed = np.broadcast_to(joined(causal, padding), causal.shape)
        return np.where(allowed, 0, penalty).astype(np.float16)

    return additive


def multiplied(causal: Any, padding: Any) -> Any:
    return (1 - (causal & padding).astype(np.float16)) * np.float16(-1e9)


@pytest.mark.parametrize("penalty", [-math.inf, float(np.finfo(np.float16).min)])
def test_the_right_mask_passes(penalty: float, capsys: pytest.CaptureFixture[str]) -> None:
    check_additive(make_additive(penalty))
    assert capsys.readouterr().out == "Right.\n"


ADDITIVE: list[tuple[Answer, str]] = [
    (multiplied, "0 times infinity"),
    (lambda causal, padding: ~make_additive(0)(causal, padding).astype(bool), "array of bool"),
    (
        lambda causal, padding: np.where(causal & padding, -np.inf, 0).astype(np.float16),
        "got the penalty",
    ),
    (make_additive(joined=np.logical_or), "needs both"),
    (make_additive(joined=lambda causal, padding: causal), "padding mask is missing"),
    (make_additive(joined=lambda causal, padding: padding), "causal mask is missing"),
    (make_additive(-100.0), "got -100: too little"),
    (lambda causal, padding: make_additive()(causal, padding) + np.float16(1), "exactly 0"),
    (lambda causal, padding: make_additive()(causal, padding)[0], r"wanted \(q, k\)"),
    (lambda causal, padding: None, "end in a return"),
    (lambda causal: causal, "your function stops"),
]


@pytest.mark.parametrize(("answer", "hint"), ADDITIVE)
def test_a_wrong_mask_gets_the_hint_at_its_cause(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_additive(answer)
