"""Right answers pass; empty and typical wrong ones fail, with a hint at the cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.data.plane import plane_words
from bookkit.exercises import lookup
from companion import masked_softmax, scaled_dot_product_attention

WORDS, VECTORS = plane_words()


def test_nowhere_takes_the_mean(capsys: pytest.CaptureFixture[str]) -> None:
    lookup.check_nowhere([0.33, 0.0])
    lookup.check_nowhere(scaled_dot_product_attention(np.zeros((1, 2)), VECTORS, VECTORS)[0])
    assert capsys.readouterr().out == "Right.\nRight.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "nothing"),
        ([0, 0], "that is the query"),
        ([2, 0], "sum of the values"),
        ([0.01, 0.10], "Gaussian"),
        ([0.5, 0.5], "blend"),
        ([0.33], r"\(2,\)"),
    ],
)
def test_nowhere_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_nowhere(answer)


SQUARES = np.array([4, 8, 5, 1, 0, 2.0])


def test_gaussian_takes_two_digits() -> None:
    lookup.check_gaussian([0.06, 0.01, 0.04, 0.27, 0.45, 0.17])
    lookup.check_gaussian(masked_softmax(-SQUARES[None] / 2)[0])


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (None, "nothing"),
        (masked_softmax(np.array([[0, -2, -1, 1, 2, 2.0]]))[0], "of the dot product"),
        (masked_softmax(-SQUARES[None])[0], "the half is missing"),
        (masked_softmax(-np.sqrt(SQUARES)[None] / 2)[0], "square of the distance"),
        (masked_softmax(SQUARES[None] / 2)[0], "sign"),
        (np.exp(-SQUARES / 2), "divide each by their sum"),
        (-SQUARES / 2, "take exp of each"),
        ([0.45, 0.17], r"\(6,\)"),
    ],
)
def test_gaussian_hints_at_the_cause(answer: Any, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_gaussian(answer)


def circle(angle: Any, radius: float) -> Any:
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, r: circle(x / r, r),
        lambda x, r: circle(1 - x / r, r),
        lambda x, r: r * np.stack([np.sin(x / r), np.cos(x / r)], axis=1),
    ],
)
def test_circle_may_start_anywhere(answer: Callable[..., Any]) -> None:
    lookup.check_on_circle(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x, r: None, "nothing"),
        (lambda x: x, "stops with"),
        (lambda x, r: circle(x / r, r).T, r"\(n, 2\), not \(2, n\)"),
        (lambda x, r: x, "shape"),
        (lambda x, r: circle(x / r, 1.0), "multiply by the radius"),
        (lambda x, r: circle(x, r), "x / radius: a step"),
        (lambda x, r: circle(x * r, r), r"not x \* radius"),
        (lambda x, r: circle(2 * np.pi * x, r), "one round"),
        (lambda x, r: circle(np.radians(x / r), r), "degrees"),
        (lambda x, r: np.stack([x, np.sqrt(np.abs(r**2 - x**3))], axis=1), "norms differ"),
        (lambda x, r: circle(x / r / 2, r), "as far apart"),
    ],
)
def test_circle_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_on_circle(answer)


def scores(query: Any, key: Any) -> Any:
    return query @ key.T


def shares(winners: Any, k: int) -> Any:
    return np.bincount(winners, minlength=k) / len(winners)


def by_loop(query: Any, key: Any) -> list[float]:
    first = [max(range(len(key)), key=lambda j: float(q @ key[j])) for q in query]
    return [first.count(j) / len(query) for j in range(len(key))]


@pytest.mark.parametrize("answer", [by_loop, lambda q, k: shares(scores(q, k).argmax(1), len(k))])
def test_first_takes_shares(answer: Callable[..., Any]) -> None:
    lookup.check_first(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda q, k: None, "nothing"),
        (lambda q: q, "stops with"),
        (lambda q, k: np.bincount(scores(q, k).argmax(1)), "those are counts"),
        (lambda q, k: shares(scores(q, k).argmax(0), len(q)), "along the keys"),
        (lambda q, k: shares(scores(q, k).argmin(1), len(k)), "comes last"),
        (lambda q, k: shares(((q[:, None] - k) ** 2).sum(-1).argmin(1), len(k)), "nearest"),
        (lambda q, k: masked_softmax(scores(q, k)).mean(0), "mean weights"),
        (lambda q, k: np.full(len(k), 1 / len(k)), "sum to 1"),
    ],
)
def test_first_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_first(answer)
