"""The map to move in Python: what it draws and says without a script, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, shifted_map

WEIGHTS = np.array([[0.9, 0.06, 0.04], [0.1, 0.2, 0.7], [0.05, 0.65, 0.3], [0.2, 0.2, 0.6]])
SPANISH, ENGLISH = ["la", "casa", "<nueva>"], ["the", "new", "house"]
GLOSSES = ["the", "house", "n"]
LINKS = [(2, 1), (0, 0), (1, 2)]


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "weights": WEIGHTS, "queries": SPANISH, "keys": ENGLISH, "links": LINKS,
        "wrong": (4.6, 97.7), "sentences": 150, "glosses": GLOSSES,
    } | changes  # fmt: skip
    return shifted_map(**given)


def table(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.table is not None
    return page.table


def test_the_map_is_drawn_as_it_is() -> None:
    lines = table().select("tbody tr")
    assert [line.th.get_text() for line in lines if line.th] == [
        "la the", "casa house", "<nueva> n",
    ]  # fmt: skip
    assert [[cell.text for cell in line.select("td")] for line in lines] == [
        ["0.90", "0.06", "0.04"], ["0.10", "0.20", "0.70"], ["0.05", "0.65", "0.30"],
    ]  # fmt: skip
    inks = [str(ink["class"]) for ink in lines[1].select(".am-shifted-ink")]
    assert [ink.rpartition("-")[2] for ink in inks] == ["1']", "2']", "7']"]


def test_the_right_words_are_those_of_the_links() -> None:
    marked = [
        (row, column)
        for row, line in enumerate(table().select("tbody tr"))
        for column, cell in enumerate(line.select("td"))
        if "am-shifted-right" in cell.get_attribute_list("class")
    ]
    assert marked == sorted(LINKS)


@pytest.mark.parametrize(("links", "hits"), [(LINKS, 3), ([(0, 0), (1, 1), (2, 2)], 1), ([], 0)])
def test_words_say_how_many_rows_are_right(links: list[tuple[int, int]], hits: int) -> None:
    shown = made(links=links)
    said = f"As it is: the largest weight is right in {hits} of 3 rows."
    assert shown.alt == shown.state == f"{said} Over 150 sentences, 5 of 100 links are wrong."


def test_the_script_gets_the_last_row_too() -> None:
    data = made(weights=torch.tensor(WEIGHTS, requires_grad=True)).data
    assert data["weights"] == WEIGHTS.tolist()
    assert data["wrong"] == (4.6, 97.7)


def test_words_without_glosses_have_none() -> None:
    assert table(glosses=()).select("small") == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": WEIGHTS[0]}, r"weights: got shape \(3,\)"),
        ({"weights": WEIGHTS[:3]}, "queries: got 3 labels, wanted 2"),
        ({"keys": ["the"]}, "keys: got 1 labels, wanted 3"),
        ({"glosses": ["the"]}, "glosses: got 1 labels, wanted 3"),
        ({"links": [(3, 0)]}, r"links: got \(3, 0\), wanted \(query, key\) inside \(3, 3\)"),
        ({"wrong": (4.6, 101.0)}, r"wrong: got \(4.6, 101.0\)"),
        ({"sentences": 0}, "sentences"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
