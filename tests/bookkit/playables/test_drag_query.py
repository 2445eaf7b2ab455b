"""The query to drag, in Node: scores, weights and context are those of the package."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from bookkit.figures import drag_query
from bookkit.playables.queries import TEMPERATURES
from companion import scaled_dot_product_attention
from tests.bookkit.playables.node import ask

WORDS, MEMORIES = ["the", "new", "house"], np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])


def test_the_numbers_are_those_of_the_package() -> None:
    made = drag_query(
        WORDS, MEMORIES, (1, 0), queries={"nueva": (2, 3)}, fixed=("last state", (1.25, 0.375)),
        best=True, temperature=True, gaussian=True, stretched="house",
    )  # fmt: skip
    assert made.data["reach"] == [(-1, 3), (-1, 3)]
    options = ([-10, -10], [10, 0], [30, 30]), (0, 5, len(TEMPERATURES) - 1), (5, 35), (0, 1)
    chosen: list[dict[str, Any]] = [
        dict(zip(("query", "heat", "long", "rule"), one, strict=True)) for one in product(*options)
    ]
    for state, shown in zip(chosen, ask(made, *chosen), strict=True):
        query, key = np.array([state["query"]]) / 10, MEMORIES.copy()
        key[2] = [state["long"] / 10, 0]
        scores = query @ key.T if state["rule"] == 0 else -np.square(query - key).sum(-1)[None] / 2
        scale = 1 / TEMPERATURES[state["heat"]]
        weights, context = (
            scaled_dot_product_attention(np.ones((1, 1)), scores.T, value, scale=scale)[0]
            for value in (np.eye(3), MEMORIES)
        )
        np.testing.assert_allclose(shown["scores"], scores[0], atol=1e-6)
        np.testing.assert_allclose(shown["weights"], weights, atol=1e-6)
        np.testing.assert_allclose(shown["context"], context, atol=1e-6)


def test_it_says_where_the_weight_is() -> None:
    (said,) = ask(drag_query(WORDS, MEMORIES, (1, 0)), want="said")
    assert said == (
        "Query (1.0, 0.0): house has the largest weight, 0.67, and the context is (1.58, 0.33)."
    )
    with pytest.raises(ValueError, match="stretched: got 'old'"):
        drag_query(WORDS, MEMORIES, (1, 0), stretched="old")
