"""The board of mistakes in Node: every mistake breaks what it breaks in the package."""

import math
from typing import Any

import numpy as np
import pytest

from bookkit.data.plane import plane_words
from bookkit.exercises import silent
from bookkit.figures import switchboard
from tests.bookkit.playables.node import ask

WORDS, PLANE = plane_words()
BOARD = {
    "query": np.array([[-1.0, 0, 1, 0], [2, -1, 0, 1]]),
    "key": np.array([[1.0, 0, 1, -1], [1, 1, 0, 1]]),
    "value": np.array([[1.0, 0, 1, 0], [0, 1, 0, 1]]),
    "output": np.array([[1.0, 0], [0, 1], [0, 0.5], [-0.5, 0]]),
}
DICE = np.random.default_rng(3)
X = DICE.normal(size=(6, 3))
W = {name: DICE.normal(size=(3, 6)) for name in ("query", "key", "value")}
W["output"] = DICE.normal(size=(6, 3))


@pytest.mark.parametrize(("x", "w", "heads"), [(PLANE, BOARD, 2), (X, W, 3)], ids=["page", "dice"])
def test_every_mistake_is_that_of_the_package(x: Any, w: Any, heads: int) -> None:
    right, weights = silent.layer_with("", x, w, heads)
    made = switchboard(WORDS, x, w, heads=heads, other=x[0], wanted=right)
    states = [{"on": place} for place in range(-1, len(silent.MISTAKES))]
    for mistake, shown in zip(("", *silent.MISTAKES), ask(made, *states), strict=True):
        output, maps = silent.layer_with(mistake, x, w, heads)
        np.testing.assert_allclose(shown["maps"], maps, atol=1e-6)
        np.testing.assert_allclose(shown["sums"], maps.sum(-1), atol=1e-6)
        np.testing.assert_allclose(shown["output"], output, atol=1e-6)
        np.testing.assert_allclose(shown["off"], abs(output - right).max(-1), atol=1e-6)
        np.testing.assert_array_equal(shown["changed"], abs(maps - weights) > 1e-6)
        wanted = silent.differences(mistake, x, w, heads, other=x[0], wanted=right)
        found = {name: math.inf if size is None else size
                 for name, size in shown["differences"].items()}  # fmt: skip
        assert found == pytest.approx(wanted, abs=1e-6)
