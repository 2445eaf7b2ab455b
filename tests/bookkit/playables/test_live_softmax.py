"""The softmax explorer without a script: its numbers, its words, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import softmax_explorer
from bookkit.playables.softmax import TEMPERATURES, WIDTHS
from companion import masked_softmax

NAMES = ["The", "cat", "sat", "on", "a", "mat"]
SCORES = [-0.2, 1.4, 0.2, -1.0, -1.4, 1.0]


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(softmax_explorer(NAMES, SCORES, **changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def exact(figure: Tag, part: str) -> list[float]:
    return [float(str(e["data-am-value"])) for e in figure.select(f".am-softmax-{part}")]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("temperature", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("divided", [False, True])
def test_numbers_are_those_of_the_package(width: int, temperature: float, divided: bool) -> None:
    figure = drawn(width=width, temperature=temperature, divided=divided)
    scale = (1 if divided else math.sqrt(width)) / temperature
    scores = torch.tensor(SCORES, dtype=torch.float64) * scale
    jacobian: Any = torch.func.jacrev(lambda given: masked_softmax(given[None])[0])(scores)
    weights = masked_softmax(scores[None])[0]
    entropy = torch.special.entr(weights).sum()
    np.testing.assert_allclose(exact(figure, "score"), scores, rtol=1e-8)
    np.testing.assert_allclose(exact(figure, "weight"), weights, atol=1e-8)
    np.testing.assert_allclose(exact(figure, "derivative"), jacobian.diagonal(), atol=1e-8)
    found = exact(figure, "reading")
    wanted = [scores.var(correction=0), entropy, jacobian.abs().max(), jacobian.trace()]
    np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-8)


def test_bars_are_as_long_as_their_numbers() -> None:
    figure = drawn()
    for kind, full in (("weight", 1.0), ("derivative", 0.25)):
        bars = [float(str(bar["width"])) for bar in figure.select(f".am-softmax-{kind}-bar")]
        unit = bars[1] / exact(figure, kind)[1]
        np.testing.assert_allclose(bars, unit * np.array(exact(figure, kind)), atol=0.006)
        column = 120 if kind == "weight" else 90
        assert unit * full == pytest.approx(column, rel=1e-2)


def test_without_a_script_the_drawing_says_what_dividing_does() -> None:
    figure = drawn()
    outlines = [float(str(e["width"])) for e in figure.select(".am-softmax-outline")]
    divided = drawn(divided=True)
    filled = [
        float(str(e["width"]))
        for pair in zip(
            divided.select(".am-softmax-weight-bar"),
            divided.select(".am-softmax-derivative-bar"),
            strict=True,
        )
        for e in pair
    ]
    assert outlines == filled
    cells = [[cell.text for cell in row.select("td")] for row in figure.select("tbody tr")]
    assert cells == [["64", "1.00"], ["0.166", "1.42"], ["0.038", "0.245"], ["0.075", "0.705"]]
    assert figure["aria-label"] == "Softmax, width and temperature"
    label = str(figure.svg["aria-label"]) if figure.svg else ""
    assert label.startswith("Weights: The 0.000, cat 0.961, sat 0.000,")


def test_dividing_takes_the_width_away_and_so_does_a_temperature() -> None:
    tame = exact(drawn(width=1), "weight")
    for width in WIDTHS:
        assert exact(drawn(width=width, divided=True), "weight") == tame
    for width, root in ((4, 2.0), (16, 4.0), (64, 8.0)):
        assert root in TEMPERATURES
        np.testing.assert_allclose(exact(drawn(width=width, temperature=root), "weight"), tame)


def test_temperatures_are_nearly_even_steps_of_a_logarithm() -> None:
    steps = np.diff(np.log10(TEMPERATURES))
    assert (len(TEMPERATURES), TEMPERATURES[0], TEMPERATURES[-1]) == (41, 0.1, 10.0)
    np.testing.assert_allclose(steps, 0.05, atol=0.01)


def test_very_small_numbers_are_not_shown_as_zero() -> None:
    rows = drawn(width=512).select("tbody tr")
    assert [row.select("td")[0].text for row in rows] == ["512", "0.0012", "0.00012", "0.00023"]
    rows = drawn(width=512, temperature=0.1).select("tbody tr")
    assert rows[2].select("td")[0].text == "< 0.000001"


def test_the_same_call_gives_the_same_bytes_and_words_are_escaped() -> None:
    again = softmax_explorer(tuple(NAMES), torch.tensor(SCORES, dtype=torch.float64))
    assert again._repr_html_() == softmax_explorer(NAMES, SCORES)._repr_html_()
    nasty = softmax_explorer(["<b>&", " "], [1.0, 0.0])._repr_html_()
    assert "<b>" not in nasty
    assert "&lt;b&gt;&amp;" in nasty
    assert "␣" in nasty


@pytest.mark.parametrize(
    ("names", "scores", "options", "message"),
    [
        (["a"], [1.0], {}, r"scores: got \[1.0\], wanted two or more finite numbers"),
        (["a", "b"], [1.0, math.inf], {}, r"scores: got \[1.0, inf\], wanted two or more finite"),
        (["a"], [1.0, 2.0], {}, "names: got 1 labels, wanted 2, one a score"),
        (["a", "b"], [[1.0, 2.0]], {}, r"scores: got shape \(1, 2\), wanted \(n,\)"),
        (["a", "b"], [1.0, 2.0], {"width": 3}, "width: got 3, wanted one of 1, 2, 4"),
        (["a", "b"], [1.0, 2.0], {"temperature": 0}, "temperature: got 0, wanted one of 0.1, "),
    ],
    ids=["one", "infinite", "names", "shape", "width", "temperature"],
)
def test_wrong_calls(names: list[str], scores: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        softmax_explorer(names, scores, **options)


def test_words_are_no_scores() -> None:
    with pytest.raises(TypeError, match="scores: got list, wanted numbers"):
        softmax_explorer(["a", "b"], ["x", "y"])
