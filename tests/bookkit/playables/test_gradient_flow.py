"""A small attention in Node: its numbers are the package's, its gradients those of autograd."""

from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import gradient_flow
from companion import attend, dot_score, masked_softmax
from tests.bookkit.playables.node import ask

DICE = np.random.default_rng(11)


QUERY, MEMORY, WANTED = DICE.normal(size=3), DICE.normal(size=(3, 3)), DICE.normal(size=3)
MADE = gradient_flow(["the", "new", "house"], QUERY, MEMORY, WANTED)


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
    for state, shown in zip(states, ask(MADE, *states), strict=True):
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
    for (name, place), shown in zip(flat, ask(MADE, *states), strict=True):
        raised = given[name].copy()
        raised[place] += 0.1
        after = wanted_numbers(**given | {name: raised})["loss"]
        assert shown["change"] == pytest.approx(after - before, abs=1e-6)
        if name == "wanted":
            assert shown["slope"] is None
        else:
            grad = {"query": "atQuery", "memory": "atMemory", "nudges": "atScores"}[name]
            assert shown["slope"] == pytest.approx(wanted_numbers(**given)[grad][place], abs=1e-6)
