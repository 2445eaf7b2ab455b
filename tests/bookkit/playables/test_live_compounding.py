"""Whole sentences and single words without a script: the curve, the points, and wrong calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, compounding
from bookkit.playables.compounding import CHANCES

BINS = [(1, 5), (6, 10), (11, 15), (26, 30), (31, 35)]
EXACT = {"with <attention>": [100.0, 99.0, 98.0, 90.0, 82.5], "without": [99.7, 79.7, 20.3, 0, 0]}
BLEU = {"with <attention>": [100.0, 99.6, 99.5, 97.1, 93.9], "without": [99.6, 89, 58, 19.4, 16.5]}
MIDDLES = np.array([3, 8, 13, 28, 33])


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {"bins": BINS, "exact": EXACT, "bleu": BLEU, "longest": 30} | changes
    return compounding(given.pop("bins"), given.pop("exact"), given.pop("bleu"), **given)


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def points(path: str) -> np.ndarray[Any, Any]:
    return np.array([[float(part) for part in pair.split()] for pair in path[1:].split("L")])


def percent(y: Any) -> Any:
    """Read a height of the drawing off its own axis."""
    levels = {tag.text: float(str(tag["y"])) - 5 for tag in drawn().select(".am-compounding-y")}
    return 100 * (levels["0"] - np.asarray(y)) / (levels["0"] - levels["100"])


@pytest.mark.parametrize("chance", [50.0, 79.0, 95.0, 99.6, 100.0])
def test_the_curve_is_the_chance_that_all_words_are_right(chance: float) -> None:
    figure = drawn(chance=chance)
    whole = [float(str(cell["data-am-value"])) for cell in figure.select(".am-compounding-whole")]
    product = [100 * np.prod(np.full(words, chance / 100)) for words in MIDDLES]
    np.testing.assert_allclose(whole, product, rtol=1e-6)
    curve = figure.select(".am-compounding-curve")[0]
    heights = percent(points(str(curve["d"]))[:, 1])
    wanted = 100 * (chance / 100) ** (np.arange(81) / 2)
    np.testing.assert_allclose(heights, wanted, atol=0.04)


def test_the_points_stand_where_the_numbers_say() -> None:
    figure = drawn()
    for group, values in zip(figure.select(".am-compounding-series"), EXACT.values(), strict=True):
        (line,) = group.select(".am-compounding-line")
        found = points(str(line["d"]))
        np.testing.assert_allclose(percent(found[:, 1]), values, atol=0.04)
        np.testing.assert_allclose(np.diff(found[:, 0]) / np.diff(MIDDLES), 11.65, atol=0.05)
        marks = [str(mark["transform"]) for mark in group.select(".am-compounding-mark")]
        assert marks == [f"translate({x:.1f} {y:.1f})" for x, y in found]


def test_the_table_has_both_measures_without_a_script() -> None:
    rows = [[cell.text for cell in row.select("th, td")] for row in drawn().select("tbody tr")]
    assert rows[2] == ["11–15", "51", "98", "20", "100", "58"]
    assert len(rows) == len(BINS)
    heads = [head.text for head in drawn().select("thead tr:last-child th")]
    assert heads == ["at 95 % a word", *EXACT, *BLEU]


def test_what_it_says_in_words() -> None:
    output = made(caption="Slide.")
    assert "11 to 15: with <attention> 98, without 20;" in repr(output)
    assert output.state.startswith("If each word is right in 95 of 100 cases, whatever")
    assert "with <attention>" not in output._repr_html_().replace('"with \\u003cattention>"', "")
    assert output._repr_html_() == made(caption="Slide.")._repr_html_()


def test_lengths_that_were_not_trained_are_shaded() -> None:
    assert len(drawn().select(".am-compounding-beyond")) == 1
    assert drawn(longest=40).select(".am-compounding-beyond") == []


def test_chances_grow_and_get_finer() -> None:
    steps = np.diff(CHANCES)
    assert (CHANCES[0], CHANCES[-1]) == (50.0, 100.0)
    assert steps.min() > 0.09
    assert (np.diff(steps) < 1e-9).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"exact": {"a": [1]}}, "wanted the same two translators"),
        ({"bleu": {"a": [1], "b": [2]}}, "wanted the same two translators"),
        ({"bins": []}, "wanted groups from short to long"),
        ({"bins": [(6, 10), (1, 5), (11, 15), (26, 30), (31, 35)]}, "from short to long"),
        ({"bins": BINS[:4]}, r"exact: got shape \(5,\), wanted \(4,\)"),
        ({"exact": {name: [101, 1, 1, 1, 1] for name in EXACT}}, "wanted numbers from 0 to 100"),
        ({"chance": 95.2}, "chance: got 95.2, wanted one of 50, 51"),
        ({"longest": 0}, "longest: got 0"),
    ],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
