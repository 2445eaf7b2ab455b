"""Rotary angles in Python: hands, score and curve without a script are those of `rotate`."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import rotary_angles
from companion import rotary_frequencies, rotate, scaled_dot_score

RNG = np.random.default_rng(5)
QUERY, KEY = RNG.normal(size=(2, 6))


def score(i: int, j: int) -> float:
    query = rotate(QUERY[None], np.array([i]))
    key = rotate(KEY[None], np.array([j]))
    return float(scaled_dot_score(query, key)[0, 0])


def test_the_words_tell_the_score() -> None:
    shown = rotary_angles(QUERY, KEY, positions=(9, 2))
    said = f"{score(9, 2):.2f}".replace("-", "−")
    assert repr(shown) == (
        "Rotary positions as angles. Query at position 9, key at position 2: "
        f"score {said} at distance −7."
    )
    assert f'<b class="am-rotary-sum">{said}</b>' in shown.drawing
    assert "style=" not in shown.drawing
    assert "<button" not in shown.drawing


def test_the_hands_are_the_rotated_pairs() -> None:
    shown = rotary_angles(QUERY, KEY, positions=(9, 2))
    turned = rotate(QUERY[None], np.array([9]))[0]
    found = re.findall(r'am-rotary-query"><line x2="([-\d.]+)" y2="([-\d.]+)"', shown.drawing)
    ends = np.array(found, float) * [1, -1]
    scale = float(re.findall(r'data-am-scale="([\d.]+)"', shown.drawing)[0])
    np.testing.assert_allclose(ends / scale, turned.reshape(2, 3).T, atol=2e-4)


def test_the_curve_is_the_score_over_the_distance() -> None:
    shown = rotary_angles(QUERY, KEY, positions=(1, 4), longest=5)
    (points,) = re.findall(r'<polyline points="([^"]*)"', shown.drawing)
    down = np.array([point.split(",")[1] for point in points.split()], float)
    wanted = [score(max(0, -gap), max(0, gap)) for gap in range(-5, 6)]
    assert abs(np.corrcoef(down, wanted)[0, 1] + 1) < 1e-4, "upwards is a smaller y"
    assert f"lowest {min(wanted):.2f}, highest {max(wanted):.2f}" in shown.drawing


def test_the_numbers_are_stored_exactly() -> None:
    given = rotary_angles(torch.tensor(QUERY), KEY)
    again = rotary_angles(QUERY, KEY, frequencies=rotary_frequencies(6))
    assert given._repr_html_() == again._repr_html_()
    stored = np.frombuffer(base64.b64decode(given.data["query"]["base64"]), "<f8")
    np.testing.assert_array_equal(stored, QUERY)
    assert len(given._repr_html_()) < 25_000


@pytest.mark.parametrize(
    ("query", "key", "options", "message"),
    [
        (np.ones(3), np.ones(3), {}, "query: got width 3, wanted an even one, at most 16"),
        (np.ones(18), np.ones(18), {}, "query: got width 18, wanted an even one"),
        (np.ones(4), np.ones(2), {}, r"key: got shape \(2,\), wanted \(4,\)"),
        (np.ones((2, 2)), np.ones(2), {}, r"query: got shape \(2, 2\), wanted \(n,\)"),
        (np.zeros(2), np.zeros(2), {}, "query: got zeros, as key is"),
        (np.ones(2), [1, np.nan], {}, "key: got .*, wanted finite numbers"),
        (np.ones(4), np.ones(4), {"frequencies": [1.0]}, r"frequencies: got shape \(1,\)"),
        (
            np.ones(2),
            np.ones(2),
            {"positions": (0, 33)},
            r"positions: got \(0, 33\), wanted two from 0",
        ),
        (np.ones(2), np.ones(2), {"longest": 0}, "longest: got 0, wanted at least 1"),
    ],
    ids=["odd", "wide", "key", "rank", "zeros", "nan", "frequencies", "positions", "longest"],
)
def test_wrong_calls(query: Any, key: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rotary_angles(query, key, **options)
