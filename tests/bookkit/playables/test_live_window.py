"""A window without a script: its weights are the layer's, and wrong calls are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, local_window
from companion.layers import Attended, LuongAttention

SOURCE = ["she", "works", "in", "the", "<new>", "house"]
TARGET = ["la", "casa", "nueva"]
SCORES = np.random.default_rng(3).normal(size=(3, 6)) * 2
LINKS = [3, 5, 4]


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "source": SOURCE, "target": TARGET, "scores": SCORES, "links": LINKS,
        "row": 2, "position": 3.7, "half_width": 2,
    }  # fmt: skip
    given |= changes
    words = [given.pop(name) for name in ("source", "target", "scores", "links")]
    return local_window(*words, **given)


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(figure: Tag, part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in figure.select(f".am-local-window-{part}")]


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
    attended: Attended = layer(query, layer.project(memory), memory, need_weights=True)
    return attended.weights[0, 0]


@pytest.mark.parametrize("position", [0.3, 2.9, 4.6])
@pytest.mark.parametrize("half_width", [1, 3])
def test_weights_and_slope_are_those_of_the_layer(position: float, half_width: int) -> None:
    at = torch.tensor(position, dtype=torch.float64, requires_grad=True)
    weights = by_the_layer(SCORES[2], at, half_width)
    figure = drawn(position=position, half_width=half_width)
    np.testing.assert_allclose(values(figure, "weight"), weights.detach(), atol=1e-8)
    (slope,) = torch.autograd.grad(weights[4], at)
    mine, _, total, along = values(figure, "reading")
    assert mine == pytest.approx(float(weights[4].detach()), abs=1e-8)
    assert total == pytest.approx(float(weights.detach().sum()), abs=1e-8)
    assert along == pytest.approx(float(slope), abs=1e-7)


def test_a_hard_edge_has_the_softmax_of_its_words_and_no_slope() -> None:
    figure = drawn(position=4.0, half_width=1, soft=False)
    powers = np.exp(SCORES[2, 3:])
    wanted = [0, 0, 0, *powers / powers.sum()]
    np.testing.assert_allclose(values(figure, "weight"), wanted, atol=1e-8)
    assert values(figure, "reading")[2:] == [1, 0]


def test_bars_are_as_high_as_their_numbers() -> None:
    figure = drawn()
    for part, numbers in (
        ("bar", values(figure, "weight")),
        ("whole", np.exp(SCORES[2]) / np.exp(SCORES[2]).sum()),
    ):
        heights = [float(str(bar["height"])) for bar in figure.select(f".am-local-window-{part}")]
        np.testing.assert_allclose(np.array(heights) / 170, numbers, atol=1e-4)


def test_what_it_says_in_words() -> None:
    output = made(caption="Slide.")
    assert "Writing nueva with p = 3.7 and D = 2, Gaussian: <new> has weight 0." in repr(output)
    assert output.state == "Writing nueva with p = 3.7 and D = 2, Gaussian."
    assert "<new>" not in output._repr_html_()
    assert output._repr_html_() == made(caption="Slide.")._repr_html_()
    wanted = drawn().select(".am-local-window-wanted")
    assert [word.text for word in wanted] == ["<new>"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": SCORES[0]}, r"scores: got shape \(6,\)"),
        ({"scores": np.full((3, 6), np.inf)}, "wanted finite numbers"),
        ({"source": SOURCE[:5]}, "source: got 5 labels"),
        ({"links": [1, 2]}, "wanted 3 places from 0 to 5"),
        ({"links": [1, 2, 6]}, "wanted 3 places from 0 to 5"),
        ({"row": 3}, "row: got 3"),
        ({"position": 5.1}, "position: got 5.1, wanted tenths from 0 to 5"),
        ({"position": 1.25}, "position: got 1.25, wanted tenths"),
        ({"half_width": 0}, "half_width: got 0"),
    ],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
