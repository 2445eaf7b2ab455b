"""Rotary angles in Node: hands, score and curve are those of `rotate`."""

from typing import Any

import numpy as np
import pytest

from bookkit.figures import rotary_angles
from companion import rotary_frequencies, rotate, scaled_dot_score
from tests.bookkit.playables.node import ask

QUERY, KEY = np.random.default_rng(5).normal(size=(2, 6))
FREQUENCIES = rotary_frequencies(6, base=100.0)
MADE = rotary_angles(QUERY, KEY, frequencies=FREQUENCIES, positions=(9, 2), longest=11)


def turned(vector: Any, place: int) -> Any:
    return rotate(vector[None], np.array([place]), frequencies=FREQUENCIES)


def test_hands_score_and_curve_are_those_of_the_package() -> None:
    places = [(9, 2), (0, 11), (4, 4)]
    states = [{"i": i, "j": j} for i, j in places]
    for (i, j), shown in zip(places, ask(MADE, *states), strict=True):
        query, key = turned(QUERY, i), turned(KEY, j)
        score = float(scaled_dot_score(query, key)[0, 0])
        for name, vector in (("query", query), ("key", key)):
            ends = [hand[name] for hand in shown["hands"]]
            np.testing.assert_allclose(ends, vector.reshape(2, 3).T, atol=1e-6)
        assert shown["score"] == pytest.approx(score, abs=1e-6)
        assert sum(hand["adds"] for hand in shown["hands"]) == pytest.approx(score, abs=1e-6)
        assert shown["curve"][11 + j - i] == pytest.approx(score, abs=1e-6)
