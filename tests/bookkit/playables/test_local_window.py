"""A window in Node: weights are those of the layer, and their slope is what torch derives."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import local_window
from companion.layers import LuongAttention
from tests.bookkit.playables.node import ask

SOURCE = ["she", "works", "in", "the", "<new>", "house"]
TARGET = ["la", "casa", "nueva"]
SCORES = np.random.default_rng(3).normal(size=(3, 6)) * 2
LINKS = [3, 5, 4]
MADE = local_window(SOURCE, TARGET, SCORES, LINKS, row=2, position=3.7, half_width=2)


def by_the_layer(scores: Any, position: torch.Tensor, half_width: int) -> torch.Tensor:
    """Return the weights of a layer that predicts the position.

    The query's first entry is 1 and meets zeros in the memory, so that it only sets the position;
    its second entry is 1 and meets the scores.
    """
    k = len(scores)
    layer = LuongAttention(2, 2, score="dot", window=half_width, predictive=True).double()
    assert layer.place_weight is not None
    assert layer.place_vector is not None
    logit = torch.log(position / (k - position))
    del layer.place_weight, layer.place_vector
    layer.place_weight = torch.tensor([[1.0, 0.0], [0.0, 0.0]], dtype=torch.float64)  # type: ignore[assignment]
    layer.place_vector = torch.stack((logit / math.tanh(1), torch.zeros_like(logit)))  # type: ignore[assignment]
    memory = torch.stack((torch.zeros(k), torch.tensor(scores)), -1).double()[None]
    query = torch.ones(1, 1, 2, dtype=torch.float64)
    weights: torch.Tensor = layer(query, layer.project(memory), memory, need_weights=True).weights
    return weights[0, 0]


def test_weights_and_slope_are_those_of_the_layer() -> None:
    chosen: list[dict[str, Any]] = [
        {"row": row, "tenths": tenths, "half": half}
        for row, tenths, half in product((0, 2), (3, 29, 46), (0, 2, 4))
    ]
    for state, shown in zip(chosen, ask(MADE, *chosen), strict=True):
        at = torch.tensor(state["tenths"] / 10, dtype=torch.float64, requires_grad=True)
        weights = by_the_layer(SCORES[state["row"]], at, state["half"] + 1)
        (slope,) = torch.autograd.grad(weights[LINKS[state["row"]]], at)
        seen = weights.detach().numpy()
        np.testing.assert_allclose(shown["weights"], seen, atol=1e-6)
        assert shown["total"] == pytest.approx(seen.sum(), abs=1e-6)
        assert shown["slope"] == pytest.approx(float(slope), abs=1e-6)


def test_a_hard_edge_has_the_softmax_of_its_words_and_no_slope() -> None:
    (shown,) = ask(MADE, {"tenths": 40, "half": 0, "soft": 0})
    powers = np.exp(SCORES[2])
    np.testing.assert_allclose(shown["weights"], [0, 0, 0, *powers[3:] / powers[3:].sum()])
    np.testing.assert_allclose(shown["whole"], powers / powers.sum(), atol=1e-6)
    assert [shown["total"], shown["slope"]] == pytest.approx([1, 0])
