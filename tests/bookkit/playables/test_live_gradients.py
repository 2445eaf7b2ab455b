"""A small attention without a script: its gradients are autograd's, and wrong calls are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, gradient_flow
from companion import attend, dot_score, masked_softmax

WORDS = ["the", "<new>", "house", "in"]
DICE = np.random.default_rng(11)
QUERY, MEMORY, WANTED = DICE.normal(size=3), DICE.normal(size=(4, 3)), DICE.normal(size=3)


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {"query": QUERY, "memory": MEMORY, "wanted": WANTED} | changes
    return gradient_flow(given.pop("words", WORDS), **given)


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(figure: Tag, part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in figure.select(f".am-gradient-flow-{part}")]


def test_numbers_and_gradients_are_those_of_the_package_and_autograd() -> None:
    query, memory, wanted = (torch.tensor(x, requires_grad=True) for x in (QUERY, MEMORY, WANTED))
    scores = dot_score(query[None], memory)
    weights = masked_softmax(scores)
    context = attend(weights, memory)
    loss = ((context - wanted) ** 2).sum() / 2
    at = torch.autograd.grad(loss, (query, memory, scores, weights, context))
    rows = torch.cat([memory, scores.T, weights.T], 1).flatten()
    numbers = torch.cat([query, rows, context[0], loss[None], wanted])
    slopes = torch.cat([torch.cat([at[1], at[2].T, at[3].T], 1).flatten(), at[4][0]])
    figure = drawn()
    np.testing.assert_allclose(values(figure, "number"), numbers.detach(), atol=1e-7)
    np.testing.assert_allclose(values(figure, "slope"), torch.cat([at[0], slopes]), atol=1e-7)
    assert sum(values(figure, "slope")[3 + 3 :: 5][:4]) == pytest.approx(0, abs=1e-8)


def test_bars_lie_on_the_side_of_the_sign() -> None:
    figure = drawn(
        words=["the", "new", "house"],
        query=[2, 3],
        memory=[[0, 1], [1, 1], [2, 0]],
        wanted=[1, 1],
    )
    bars = figure.select(".am-gradient-flow-bar")
    left = [float(str(bar["x"])) for bar in bars]
    wide = [float(str(bar["width"])) for bar in bars]
    slopes = np.array(values(figure, "slope"))[[4, 8, 12]]
    np.testing.assert_allclose(wide, 50 * abs(slopes) / 0.15, atol=0.01)
    assert [edge < 50 for edge in left] == [True, True, False] == [slope < 0 for slope in slopes]


def test_what_it_says_in_words() -> None:
    output = made(caption="Change a number.")
    assert "Gradients at the scores: the " in repr(output)
    assert output.state == output.alt
    assert "<new>" not in output._repr_html_()
    assert output._repr_html_() == made(caption="Change a number.")._repr_html_()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": QUERY[:2]}, r"query: got shape \(2,\), wanted \(3,\)"),
        ({"wanted": MEMORY}, r"wanted: got shape \(4, 3\)"),
        ({"memory": QUERY}, r"memory: got shape \(3,\)"),
        ({"words": WORDS[:3]}, "words: got 3 labels"),
        ({"query": [0, 0, 9.5]}, "query: got .* wanted numbers up to 9"),
        ({"wanted": [0, 0, np.nan]}, "wanted: got .* wanted numbers up to 9"),
        (
            {"query": np.ones(5), "memory": np.ones((4, 5)), "wanted": np.ones(5)},
            "memory: got width 5, wanted at most 4",
        ),
    ],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
