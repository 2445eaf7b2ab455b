"""The lookup among arrows in Node: scores, weights and blend are those of the package."""

from itertools import product
from typing import Any

import numpy as np

from bookkit.figures import arrow_lookup
from bookkit.playables.arrows import LENGTHS, REACH, TEMPERATURES
from companion import scaled_dot_product_attention
from tests.bookkit.playables.node import ask

VECTORS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
MADE = arrow_lookup(["the", "new", "house"], VECTORS, stretched="house", length=2.0)


def test_the_numbers_are_those_of_the_package() -> None:
    ends = [[10 * int(end) for end in point] for point in product(*REACH)]
    chosen: list[dict[str, Any]] = [
        {"query": query, "heat": heat, "long": long, "rule": rule}
        for query, heat, long, rule in product(
            ends, (0, 5, len(TEMPERATURES) - 1), [int(10 * end) for end in LENGTHS], (0, 1)
        )
    ]
    for state, shown in zip(chosen, ask(MADE, *chosen), strict=True):
        query, key = np.array([state["query"]]) / 10, VECTORS.copy()
        key[2] = [state["long"] / 10, 0]
        scores = query @ key.T if state["rule"] == 0 else -np.square(query - key).sum(-1)[None] / 2
        scale = 1 / TEMPERATURES[state["heat"]]
        weights, blend = (
            scaled_dot_product_attention(np.ones((1, 1)), scores.T, value, scale=scale)[0]
            for value in (np.eye(3), VECTORS)
        )
        np.testing.assert_allclose(shown["scores"], scores[0], atol=1e-6)
        np.testing.assert_allclose(shown["weights"], weights, atol=1e-6)
        np.testing.assert_allclose(shown["blend"], blend, atol=1e-6)
