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


def test_what_is_said() -> None:
    made = online_softmax_steps([0.0, -2.0, -1.0, 1.0, 2.0, 2.0], VALUES, list("abcdef"))
    wrong = {"forget": True, "step": 3}
    assert ask(made, {"step": 1}, wrong, wrong | {"order": 1}, want="said") == [
        "Block 2 of 3. μ rises from 0.0 to 1.0: the factor is 0.37. "
        "Z = 1.14 × 0.37 + 1.14 = 1.55, b = 0.86 × 0.37 − 0.14 = 0.18.",
        "Block by block the answer is 0.87, and all at once 1.19: wrong, because earlier bars were "
        "not rescaled.",
        "Block by block the answer is 1.19, and all at once 1.19: the same, because no later block "
        "had a larger score. The gold marks are the weights, all at once.",
    ]
    (drawn,) = ask(made, want="still")  # paper shows the block that shrinks the others most
    assert "Block 2 of 3" in drawn
