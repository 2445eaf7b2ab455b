"""A small attention in Node: its numbers are the package's, its gradients those of autograd."""

from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import gradient_flow
from companion import attend, dot_score, masked_softmax
from tests.bookkit.playables.node import ask

DICE = np.random.default_rng(11)
WORDS = ["the", "new", "house"]
MADE = gradient_flow(WORDS, [2, 3], [[0, 1], [1, 1], [2, 0]], [1, 1])
QUERY, MEMORY, WANTED = DICE.normal(size=3), DICE.normal(size=(3, 3)), DICE.normal(size=3)
OTHER = gradient_flow(WORDS, QUERY, MEMORY, WANTED)


def wanted_numbers(query: Any, memory: Any, wanted: Any, nudges: Any) -> dict[str, Any]:
    q, m, t, n = (torch.tensor(x, dtype=torch.float64) for x in (query, memory, wanted, nudges))
    q.requires_grad_()
    m.requires_grad_()
    scores = dot_score(q[None], m) + n
    weights = masked_softmax(scores)
    context = attend(weights, m)
    loss = ((context - t) ** 2).sum() / 2
    at = torch.autograd.grad(loss, (q, m, scores, weights, context))
    found = {
        "scores": scores[0], "weights": weights[0], "context": context[0], "loss": loss,
        "atQuery": at[0], "atMemory": at[1], "atScores": at[2][0], "atWeights": at[3][0],
        "atContext": at[4][0],
    }  # fmt: skip
    return {name: one.detach().numpy() for name, one in found.items()}


def test_numbers_and_gradients_are_those_of_the_package_and_autograd() -> None:
    states: list[dict[str, Any]] = [
        {"query": QUERY.tolist(), "memory": MEMORY.tolist(), "wanted": WANTED.tolist(),
         "nudges": [0, 0, 0]},
        {"query": [9, -9, 0.5], "memory": DICE.normal(size=(3, 3)).tolist(), "wanted": [0, 1, -2],
         "nudges": [0.1, -30, 2]},
    ]  # fmt: skip
    for state, shown in zip(states, ask(OTHER, *states), strict=True):
        for name, wanted in wanted_numbers(**state).items():
            np.testing.assert_allclose(shown[name], wanted, atol=1e-6, err_msg=name)
        assert sum(shown["atScores"]) == pytest.approx(0, abs=1e-8)


def test_what_a_raised_number_does_to_the_loss() -> None:
    """The fields are numbered as the table has them: query, then rows with their score, wanted."""
    given: dict[str, Any] = {
        "query": QUERY, "memory": MEMORY, "wanted": WANTED, "nudges": np.zeros(3),
    }  # fmt: skip
    flat = [("query", (0,)), ("memory", (0, 2)), ("nudges", (0,)), ("memory", (2, 1)),
            ("nudges", (2,)), ("wanted", (1,))]  # fmt: skip
    before = wanted_numbers(**given)["loss"]
    states = [{"chosen": chosen} for chosen in (0, 5, 6, 12, 14, 16)]
    for (name, place), shown in zip(flat, ask(OTHER, *states), strict=True):
        raised = given[name].copy()
        raised[place] += 0.1
        after = wanted_numbers(**given | {name: raised})["loss"]
        assert shown["change"] == pytest.approx(after - before, abs=1e-6)
        if name == "wanted":
            assert shown["slope"] is None
        else:
            grad = {"query": "atQuery", "memory": "atMemory", "nudges": "atScores"}[name]
            assert shown["slope"] == pytest.approx(wanted_numbers(**given)[grad][place], abs=1e-6)


def test_what_is_said_and_drawn() -> None:
    assert ask(MADE, {}, {"chosen": 11}, want="said") == [
        "Loss 0.0419. Score of house: gradient +0.077. Raise this number by 0.1, and the loss "
        "should change by about +0.0077; it would change by +0.0083. The gradients at the scores "
        "sum to 0.000.",
        "Loss 0.0419. The blend should have been what is wanted; only the loss depends on it. The "
        "gradients at the scores sum to 0.000.",
    ]
    (drawn,) = ask(MADE, want="still")
    bars = [bar.partition(">")[0] for bar in drawn.split("<rect ")[1:]]
    slopes = wanted_numbers([2, 3], [[0, 1], [1, 1], [2, 0]], [1, 1], [0, 0, 0])["atScores"]
    for bar, slope in zip(bars, slopes, strict=True):
        assert f'width="{50 * abs(slope) / 0.15:.3f}"' in bar
        assert ('x="50"' in bar) == (slope > 0) == ("am-gradient-up" in bar)
