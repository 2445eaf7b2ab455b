"""The online softmax, drawn without a script: its numbers, its words, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import online_softmax_steps
from companion import online_softmax

SCORES = [0.4, 1.0, -0.5, 0.8, 2.0, 1.2, 3.2, 0.3, 1.9, 2.4, 0.9, 1.5]
VALUES = [2.0, -1.0, 0.5, 1.0, 0.0, 3.0, -2.0, 1.0, 1.5, 0.0, -1.0, 4.0]
WORDS = list("abcdefghijkl")


def drawn(block: int = 3) -> Tag:
    made = online_softmax_steps(SCORES, VALUES, WORDS, block=block)
    figure = BeautifulSoup(made._repr_html_(), "html.parser").figure
    assert figure is not None
    return figure


def exact(parts: Any) -> list[float]:
    return [float(str(part["data-am-value"])) for part in parts if part.has_attr("data-am-value")]


@pytest.mark.parametrize("block", [1, 2, 3, 5, 12])
def test_the_table_has_the_numbers_of_the_package(block: int) -> None:
    figure, row = drawn(block), torch.tensor(SCORES, dtype=torch.float64)
    values = torch.tensor(VALUES, dtype=torch.float64)
    blocks = torch.split(row, block)
    found = [exact(line.select("td")) for line in figure.select("tbody tr")]
    assert len(found) == len(blocks)
    before = -math.inf
    for count, (highest, factor, total, blend, answer) in enumerate(found, 1):
        wanted, wanted_total = online_softmax([part[None] for part in blocks[:count]])
        seen = row[: count * block]
        assert highest == wanted.item()
        assert total == pytest.approx(wanted_total.item(), abs=1e-8)
        assert factor == pytest.approx(math.exp(before - highest), abs=1e-8)
        right = (torch.softmax(seen, 0) @ values[: len(seen)]).item()
        assert answer == pytest.approx(right, abs=1e-8)
        assert blend == pytest.approx(right * wanted_total.item(), abs=1e-8)
        before = highest
    last = exact(figure.select("tfoot td"))
    assert last == pytest.approx([found[-1][0], *found[-1][2:]])
    assert last[0] + math.log(last[1]) == pytest.approx(torch.logsumexp(row, 0).item())


def test_the_drawing_shows_the_block_that_shrinks_most() -> None:
    figure = drawn()
    bars = exact(figure.select(".am-tiles-bar"))
    outlines = exact(figure.select(".am-tiles-before"))
    row = np.array(SCORES)
    np.testing.assert_allclose(bars, [*np.exp(row[:9] - 3.2), 0, 0, 0])
    np.testing.assert_allclose(outlines, [*np.exp(row[:6] - 2.0), *[0] * 6])
    new = [place for place, bar in enumerate(figure.select(".am-tiles-bar"))
           if "am-tiles-new" in bar["class"]]  # fmt: skip
    assert new == [6, 7, 8]
    high = [float(str(bar["height"])) for bar in figure.select(".am-tiles-bar")]
    np.testing.assert_allclose(high, 134 * np.array(bars), atol=0.006)
    assert figure.svg is not None
    assert str(figure.svg["aria-label"]) == (
        "At block 3 the maximum μ rises from 2.0 to 3.2, and the bars before it shrink to 0.30 of "
        "their height."
    )


def test_nothing_shrinks_where_the_first_block_has_the_maximum() -> None:
    made = online_softmax_steps([3.0, 1.0, 2.0, -1.0], [1, 2, 3, 4], list("abcd"))
    figure = BeautifulSoup(made._repr_html_(), "html.parser")
    assert set(exact(figure.select(".am-tiles-before"))) == {0.0}
    assert "no bar shrinks" in repr(made)


def test_the_same_call_gives_the_same_bytes() -> None:
    made = online_softmax_steps(np.array(SCORES), np.array(VALUES), WORDS, block=3)
    again = online_softmax_steps(SCORES, VALUES, WORDS, block=3)
    assert made._repr_html_() == again._repr_html_()


@pytest.mark.parametrize(
    ("scores", "values", "words", "block", "message"),
    [
        ([1.0], [1.0], "a", 1, r"scores: got \[1.0\], wanted 2 to 12 finite numbers"),
        ([0.0] * 13, [0.0] * 13, "a" * 13, 1, "scores: .*wanted 2 to 12 finite numbers"),
        ([1.0, -math.inf], [1, 2], "ab", 1, "scores: .*wanted 2 to 12 finite numbers"),
        ([1.0, 2.0], [1, math.nan], "ab", 1, r"values: got \[1.0, nan\], wanted finite"),
        ([1.0, 2.0], [1, 2, 3], "ab", 1, r"values: got shape \(3,\)"),
        ([1.0, 2.0], [1, 2], "abc", 1, "words: got 3 labels, wanted 2"),
        ([1.0, 2.0], [1, 2], "ab", 0, "block: got 0, wanted"),
        ([1.0, 2.0], [1, 2], "ab", 3, "block: got 3, wanted at most the 2 scores"),
    ],
    ids=["one", "many", "infinite", "nan", "values", "words", "none", "wide"],
)
def test_wrong_calls(scores: Any, values: Any, words: str, block: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        online_softmax_steps(scores, values, list(words), block=block)


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match="scores: got list, wanted numbers"):
        online_softmax_steps(["x", "y"], [1, 2], ["a", "b"])
    with pytest.raises(TypeError, match="block: "):
        online_softmax_steps(SCORES, VALUES, WORDS, block=1.5)  # type: ignore[arg-type]
