"""The online softmax in Node: its numbers are those of the package, whatever the reader chooses."""

import math
from itertools import product

import numpy as np
import pytest

from bookkit.figures import online_softmax_steps
from companion import online_softmax, scaled_dot_product_attention
from tests.bookkit.playables.node import ask

SCORES = [0.0, -2.0, -1.0, 1.0, 2.0, -899.0]
VALUES = [1.0, -1.0, -1.0, 0.0, 1.0, 2.0]
MADE = online_softmax_steps(SCORES, VALUES, ["she", "works", "in", "the", "new", "house"])


def test_the_states_are_those_of_the_package() -> None:
    chosen = [{"size": size, "order": order} for size, order in product(range(6), range(3))]
    for state, shown in zip(chosen, ask(MADE, *chosen), strict=True):
        assert sorted(shown["read"]) == list(range(6))
        row, values = np.array(SCORES)[shown["read"]], np.array(VALUES)[shown["read"]]
        blocks = np.split(row, range(state["size"] + 1, 6, state["size"] + 1))
        before = -math.inf
        for count, step in enumerate(shown["steps"], 1):
            highest, total = (
                float(one[0]) for one in online_softmax([b[None] for b in blocks[:count]])
            )
            found = [step[name] for name in ("highest", "total", "factor")]
            np.testing.assert_allclose(
                found, [highest, total, math.exp(before - highest)], atol=1e-6
            )
            seen = row[: step["last"], None]
            answer = scaled_dot_product_attention(
                np.ones((1, 1)), seen, values[: step["last"], None], scale=1.0
            )
            assert step["answer"] == pytest.approx(float(answer[0, 0]), abs=1e-6)
            before = highest
        assert shown["whole"]["answer"] == pytest.approx(shown["steps"][-1]["answer"], abs=1e-6)
        weights = np.exp(row - row.max()) / np.exp(row - row.max()).sum()
        np.testing.assert_allclose(shown["weights"], weights, atol=1e-6)
