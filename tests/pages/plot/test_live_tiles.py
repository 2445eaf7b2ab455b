"""The online softmax, drawn without a script: its numbers, its words, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from companion import online_softmax
from companion.pages.plot import online_softmax_steps

SCORES = [0.4, 1.0, -0.5, 0.8, 2.0, 1.2, 3.2, 0.3, 1.9, 2.4, 0.9, 1.5]


def drawn(scores: Any = SCORES, tile: int = 3) -> Tag:
    made = online_softmax_steps(scores, tile=tile)
    figure = BeautifulSoup(made._repr_html_(), "html.parser").figure
    assert figure is not None
    return figure


def exact(parts: Any) -> list[float]:
    return [float(str(part["data-am-value"])) for part in parts if part.has_attr("data-am-value")]


@pytest.mark.parametrize("tile", [1, 2, 3, 5, 12])
def test_the_table_has_the_numbers_of_the_package(tile: int) -> None:
    figure, row = drawn(tile=tile), torch.tensor(SCORES, dtype=torch.float64)
    tiles = torch.split(row, tile)
    found = [exact(line.select("td")) for line in figure.select("tbody tr")]
    assert len(found) == len(tiles)
    before, old = -math.inf, 0.0
    for count, (highest, factor, kept, added, total) in enumerate(found, 1):
        wanted, wanted_total = online_softmax([part[None] for part in tiles[:count]])
        assert highest == wanted.item()
        assert total == pytest.approx(wanted_total.item(), abs=1e-8)
        assert factor == pytest.approx(math.exp(before - highest), abs=1e-8)
        assert kept == pytest.approx(factor * old, abs=1e-8)
        assert kept + added == pytest.approx(total, abs=1e-8)
        before, old = highest, total
    last = exact(figure.select("tfoot td"))
    assert last == pytest.approx(found[-1][::4])
    assert last[0] + math.log(last[1]) == pytest.approx(torch.logsumexp(row, 0).item())


def test_the_drawing_shows_the_tile_that_shrinks_most() -> None:
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
        "At tile 3 the maximum m rises from 2.0 to 3.2 and the bars before it shrink to 0.30 of "
        "their height."
    )


def test_nothing_shrinks_where_the_first_tile_has_the_maximum() -> None:
    figure = drawn([3.0, 1.0, 2.0, -1.0], tile=2)
    assert set(exact(figure.select(".am-tiles-before"))) == {0.0}
    assert "no bar shrinks" in repr(online_softmax_steps([3.0, 1.0, 2.0], tile=1))


def test_the_same_call_gives_the_same_bytes() -> None:
    made = online_softmax_steps(np.array(SCORES), tile=3)
    assert made._repr_html_() == online_softmax_steps(SCORES)._repr_html_()


@pytest.mark.parametrize(
    ("scores", "tile", "message"),
    [
        ([1.0], 1, r"scores: got \[1.0\], wanted 2 to 16 finite numbers"),
        (list(range(17)), 1, "scores: .*wanted 2 to 16 finite numbers"),
        ([1.0, -math.inf], 1, "scores: .*wanted 2 to 16 finite numbers"),
        ([1.0, 2.0], 0, "tile: got 0, wanted"),
        ([1.0, 2.0], 3, "tile: got 3, wanted at most the 2 scores"),
    ],
    ids=["one", "many", "infinite", "none", "wide"],
)
def test_wrong_calls(scores: Any, tile: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        online_softmax_steps(scores, tile=tile)


def test_wrong_types() -> None:
    with pytest.raises(TypeError, match="scores: got list, wanted numbers"):
        online_softmax_steps(["x", "y"])
    with pytest.raises(TypeError, match="tile: "):
        online_softmax_steps(SCORES, tile=1.5)  # type: ignore[arg-type]
