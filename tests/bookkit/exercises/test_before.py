"""Right answers pass; empty and typical wrong ones fail, with a hint at the cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.exercises import before
from companion import masked_softmax


def by_loop(query: Any, keys: Any) -> int:
    best = 0
    for row, key in enumerate(keys):
        if sum(q * k for q, k in zip(query, key, strict=True)) > float(keys[best] @ query):
            best = row
    return best


def test_the_largest_product_is_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    before.check_nearest(by_loop)
    before.check_nearest(lambda query, keys: (keys @ query).argmax())
    assert capsys.readouterr().out == "Right.\nRight.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda q, k: None, "nothing"),
        (lambda q, k: "2", "wanted a number"),
        (lambda q: 2, "stops with"),
        (lambda q, k: (k @ q / np.linalg.norm(k, axis=1)).argmax(), "best direction"),
        (lambda q, k: (k @ q).argmin(), "smallest"),
        (lambda q, k: np.linalg.norm(k, axis=1).argmax(), "longest"),
        (lambda q, k: np.linalg.norm(k - q, axis=1).argmin(), "closest"),
        (lambda q, k: 5, "print keys"),
    ],
)
def test_nearest_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        before.check_nearest(answer)


def stable(scores: Any) -> Any:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def plain(scores: Any) -> Any:
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


def test_every_softmax_passes(capsys: pytest.CaptureFixture[str]) -> None:
    before.check_as_weights(stable)
    before.check_as_weights(masked_softmax)
    before.check_as_weights(lambda scores: torch.tensor(scores).softmax(-1))
    assert capsys.readouterr().out == "Right.\n" * 3


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda s: None, "nothing"),
        (lambda s: s[:1], "shape"),
        (plain, "overflow"),
        (lambda s: stable(s.T).T, "column"),
        (lambda s: np.exp(s) / np.exp(s).sum(), "whole table"),
        (lambda s: np.exp(s), "divide each row"),
        (lambda s: np.exp2(s) / np.exp2(s).sum(-1, keepdims=True), "base is e"),
        (lambda s: s / s.sum(-1, keepdims=True), "exponential of the scores"),
        (lambda s: stable(-s), "signs"),
        (lambda s: np.log(stable(s)), "logarithm"),
        (lambda s: stable(2 * s), "numbers are not"),
    ],
)
def test_as_weights_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        before.check_as_weights(answer)


def by_autograd(w: Any, x: Any, y: float, rate: float) -> Any:
    weights = torch.tensor(w, requires_grad=True)
    loss = (weights @ torch.tensor(x) - y) ** 2
    loss.backward()  # type: ignore[no-untyped-call]
    assert weights.grad is not None
    return w - rate * weights.grad.numpy()


def test_autograd_makes_the_same_step(capsys: pytest.CaptureFixture[str]) -> None:
    before.check_one_step(by_autograd)
    before.check_one_step(lambda w, x, y, rate: w - rate * 2 * (w @ x - y) * x)
    assert capsys.readouterr().out == "Right.\nRight.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda w, x, y, rate: None, "nothing"),
        (lambda w, x, y, rate: np.ones(5), "shape"),
        (lambda w, x, y, rate: w + rate * 2 * (w @ x - y) * x, "climbs"),
        (lambda w, x, y, rate: w - rate * (w @ x - y) * x, "factor of 2"),
        (lambda w, x, y, rate: w - rate * 2 * (w @ x - y), "chain rule"),
        (lambda w, x, y, rate: 2 * (w @ x - y) * x, "not yet the weights"),
        (lambda w, x, y, rate: -rate * 2 * (w @ x - y) * x, "add it"),
        (lambda w, x, y, rate: w - 2 * (w @ x - y) * x, "rate used"),
        (lambda w, x, y, rate: w - rate * 2 * abs(w @ x - y) * x, "sign"),
        (lambda w, x, y, rate: w, "numbers are not"),
    ],
)
def test_one_step_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        before.check_one_step(answer)


def by_counting(update: float, share: float) -> int:
    left, words = 1.0, 0
    while left > share * (1 + 1e-12):
        left *= update
        words += 1
    return words


def test_a_state_fades_as_it_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    before.check_fading(by_counting)
    before.check_fading(lambda z, p: math.ceil(round(math.log(p) / math.log(z), 9)))
    assert capsys.readouterr().out == "Right.\nRight.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda z, p: None, "nothing"),
        (lambda z, p: "22", "wanted a number"),
        (lambda z, p: by_counting(z, p) - 1, "one word fewer"),
        (lambda z, p: by_counting(z, p) + 1, "one word more"),
        (lambda z, p: math.log(p) / math.log(z), "whole"),
        (lambda z, p: math.ceil(math.log(p) / math.log(1 - z)), "1 - update"),
        (lambda z, p: math.ceil((1 - p) / (1 - z)), "logarithms"),
        (lambda z, p: math.ceil(math.log(z) / math.log(p)), "that of the gate"),
        (lambda z, p: 1000, "How much is left"),
    ],
)
def test_fading_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        before.check_fading(answer)
