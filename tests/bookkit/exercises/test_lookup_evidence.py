"""Right answers pass; empty and typical wrong ones fail, with a hint at the cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises import lookup_evidence as lookup
from companion import attend, masked_softmax


def temperature_for(gap: float, keys: int, weight: float) -> float:
    """Bisect: the weight of the best key falls as the temperature rises."""
    low, high = 1e-3, 1e3
    for _ in range(200):
        middle = math.sqrt(low * high)
        scores = np.array([[gap] + [0.0] * (keys - 1)])
        if masked_softmax(scores / middle)[0, 0] > weight:
            low = middle
        else:
            high = middle
    return low


def test_temperature_takes_what_softmax_gives(capsys: pytest.CaptureFixture[str]) -> None:
    lookup.check_temperature(temperature_for)
    lookup.check_temperature(lambda g, k, w: g / math.log((k - 1) * w / (1 - w)))
    assert capsys.readouterr().out == "Right.\nRight.\n"


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda g, k, w: None, "nothing"),
        (lambda g, k, w: "0.5", "wanted a number"),
        (lambda g, k: 1.0, "stops with"),
        (lambda g, k, w: math.log((k - 1) * w / (1 - w)) / g, r"1 / T"),
        (lambda g, k, w: -g / math.log((k - 1) * w / (1 - w)), "sign"),
        (lambda g, k, w: g / math.log2((k - 1) * w / (1 - w)), "base"),
        (lambda g, k, w: g / (math.log(w / (1 - w)) or 1), "others share"),
        (lambda g, k, w: g / math.log(k * w / (1 - w)), "not among the others"),
        (lambda g, k, w: g / -math.log(1 - w), "divided by their sum"),
        (lambda g, k, w: 1.0, "Solve weight"),
    ],
)
def test_temperature_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_temperature(answer)


def off(weights: Any) -> Any:
    return weights - np.diag(np.diag(weights))


def by_refitting(weights: Any, value: Any) -> Any:
    """Leave each sample out for real: what is left of the row, from the logarithms."""
    rows = []
    for i in range(len(weights)):
        rest = [j for j in range(len(weights)) if j != i]
        rows.append(attend(masked_softmax(np.log(weights[i : i + 1, rest])), value[rest])[0])
    return np.array(rows)


def by_shortcut(weights: Any, value: Any) -> Any:
    own = np.diag(weights)[:, None]
    return (weights @ value - own * value) / (1 - own)


@pytest.mark.parametrize("answer", [by_refitting, by_shortcut])
def test_left_out_takes_the_slow_and_the_fast_way(answer: Callable[..., Any]) -> None:
    lookup.check_left_out(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda w, v: None, "nothing"),
        (lambda w, v: "none", "wanted an array"),
        (lambda w: w, "stops with"),
        (lambda w, v: w @ v, "answers for itself"),
        (lambda w, v: off(w) @ v, "divide by its sum"),
        (lambda w, v: off(w) / off(w).sum(0, keepdims=True) @ v, "of the column"),
        (lambda w, v: (v - w @ v) / (1 - np.diag(w)[:, None]), "residual"),
        (lambda w, v: masked_softmax(off(w)) @ v, "no second softmax"),
        (lambda w, v: masked_softmax(w, ~np.eye(len(w), dtype=bool)) @ v, "no second softmax"),
        (lambda w, v: (off(w) / off(w).sum(1, keepdims=True)).T @ v, "transpose"),
        (lambda w, v: off(w) / off(w).sum(1, keepdims=True), "blend the values"),
        (lambda w, v: w @ v / (1 - np.diag(w)[:, None]), "before you divide"),
        (lambda w, v: by_shortcut(w, v)[:, 0], "shape"),
        (lambda w, v: 0 * v, "without sample i"),
    ],
)
def test_left_out_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_left_out(answer)


def parts(query: Any, key: Any, value: Any, bandwidth: float, two: float = 2.0) -> Any:
    weights = masked_softmax(-((query[:, None] - key) ** 2) / (two * bandwidth**2))
    key_mean, value_mean = weights @ key, weights @ value
    apart = key - key_mean[:, None]
    covariance = np.sum(weights * apart * (value - value_mean[:, None]), axis=1)
    return key_mean, value_mean, covariance, np.sum(weights * apart**2, axis=1)


def line_lookup(query: Any, key: Any, value: Any, bandwidth: float, two: float = 2.0) -> Any:
    key_mean, value_mean, covariance, variance = parts(query, key, value, bandwidth, two)
    return value_mean + covariance / variance * (query - key_mean)


def by_least_squares(query: Any, key: Any, value: Any, bandwidth: float) -> Any:
    found = []
    for q in query:
        root = np.exp(-((q - key) ** 2) / (4 * bandwidth**2))
        columns = np.column_stack([np.ones_like(key), key - q]) * root[:, None]
        found.append(np.linalg.lstsq(columns, value * root, rcond=None)[0][0])
    return found


@pytest.mark.parametrize("answer", [line_lookup, by_least_squares])
def test_line_takes_covariances_and_least_squares(answer: Callable[..., Any]) -> None:
    lookup.check_line(answer)


def wrong_line(kind: str) -> Callable[..., Any]:
    def answer(query: Any, key: Any, value: Any, bandwidth: float) -> Any:
        key_mean, value_mean, covariance, variance = parts(query, key, value, bandwidth)
        slope = covariance / variance
        everywhere, intercept = np.polyfit(key, value, 1)
        return {
            "soft": value_mean,
            "one": everywhere * query + intercept,
            "far": value_mean + slope * query,
            "round": value_mean + slope * (key_mean - query),
            "undivided": value_mean + covariance * (query - key_mean),
            "plain": value_mean + everywhere * (query - key_mean),
            "other": value_mean + 2 * slope * (query - key_mean),
            "shape": value_mean[:, None],
        }[kind]

    return answer


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda q, k, v, h: None, "nothing"),
        (lambda q, k, v: q, "stops with"),
        (wrong_line("soft"), "that is soft lookup"),
        (wrong_line("one"), "one line for all"),
        (wrong_line("far"), "through the mean key"),
        (wrong_line("round"), "wrong way round"),
        (wrong_line("undivided"), "divide"),
        (wrong_line("plain"), "not plain ones"),
        (lambda q, k, v, h: line_lookup(q, k, v, h, 1.0), r"2 h\^2"),
        (wrong_line("other"), "lie on a line"),
        (wrong_line("shape"), "shape"),
    ],
)
def test_line_hints_at_the_cause(answer: Callable[..., Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        lookup.check_line(answer)
