"""The study of soft lookup: its methods against loops that nobody can misread."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments.lookup import study as lookup
from experiments.lookup.study import Descent, Design

pytestmark = pytest.mark.slow

Vector = NDArray[np.float64]
DICE = np.random.default_rng(5)
KEY, VALUE, QUERY = DICE.uniform(size=11), DICE.normal(size=11), DICE.uniform(size=7)


def by_distance(q: float, key: Vector, value: Vector) -> list[tuple[float, float, float]]:
    return sorted((abs(q - k), k, v) for k, v in zip(key, value, strict=True))


def soft(q: float, key: Vector, value: Vector, h: float) -> float:
    kernels = [math.exp(-((q - k) ** 2) / (2 * h * h)) for k in key]
    return float(np.dot(kernels, value) / sum(kernels))


def box(q: float, key: Vector, value: Vector, width: float) -> float:
    pairs = by_distance(q, key, value)
    inside = [v for distance, _, v in pairs if distance <= width * math.sqrt(3)]
    return sum(inside) / len(inside) if inside else pairs[0][2]


def k_nearest(q: float, key: Vector, value: Vector, k: float) -> float:
    return sum(v for _, _, v in by_distance(q, key, value)[: int(k)]) / k


def k_soft(q: float, key: Vector, value: Vector, k: float) -> float:
    radius = by_distance(q, key, value)[int(k) - 1][0]
    return soft(q, key, value, radius / math.sqrt(3))


def line(q: float, key: Vector, value: Vector, h: float) -> float:
    root = np.sqrt([math.exp(-((q - k) ** 2) / (2 * h * h)) for k in key])
    columns = np.column_stack([np.ones_like(key), key]) * root[:, None]
    intercept, slope = np.linalg.lstsq(columns, value * root, rcond=None)[0]
    return float(intercept + slope * q)


ORACLES: dict[str, Callable[[float, Vector, Vector, float], float]] = {
    "soft": soft, "k_nearest": k_nearest, "box": box, "k_soft": k_soft, "line": line,
}  # fmt: skip
CHOICES = {"width": np.array([0.03, 0.1, 0.7]), "neighbours": np.array([1.0, 3.0, 10.0])}


def test_methods_are_what_they_say() -> None:
    for name in lookup.METHODS:
        table, kind = lookup.METHODS[name]
        wanted = [[ORACLES[name](q, KEY, VALUE, c) for q in QUERY] for c in CHOICES[kind]]
        assert table(QUERY, KEY, VALUE, CHOICES[kind], None) == pytest.approx(np.array(wanted))


def test_a_mask_leaves_one_out() -> None:
    for name in lookup.METHODS:
        table, kind = lookup.METHODS[name]
        found = table(KEY, KEY, VALUE, CHOICES[kind], ~np.eye(11, dtype=bool))
        rest = [np.arange(11) != i for i in range(11)]
        wanted = [
            [ORACLES[name](KEY[i], KEY[rest[i]], VALUE[rest[i]], c) for i in range(11)]
            for c in CHOICES[kind]
        ]
        assert found == pytest.approx(np.array(wanted))


def test_tuning_minimises_the_error_on_what_is_left_out() -> None:
    def left_out(width: float) -> float:
        rest = [np.arange(11) != i for i in range(11)]
        found = [soft(KEY[i], KEY[rest[i]], VALUE[rest[i]], width) for i in range(11)]
        return float(np.mean((np.array(found) - VALUE) ** 2))

    width, curve = lookup.tuned("soft", KEY, VALUE)
    assert width == min(lookup.WIDTHS, key=left_out)
    assert curve == pytest.approx(np.array([soft(q, KEY, VALUE, width) for q in lookup.GRID]))


def test_descent_finds_the_least_error_of_a_fine_grid() -> None:
    key, value = Design(samples=23, datasets=1).draw(3)
    (found,) = lookup.learn_bandwidths(key, value, Descent(steps=1000))
    fine = np.geomspace(0.01, 0.3, 500)
    others = ~np.eye(23, dtype=bool)

    def left_out(h: float) -> float:
        return float(np.mean((lookup.soft(key[0], key[0], value[0], h, others) - value) ** 2))

    assert left_out(found) <= min(map(left_out, fine)) + 1e-9
