"""The board of mistakes without a script: the right layer is drawn, and wrong calls are refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.exercises import silent
from bookkit.figures import LiveOutput, switchboard
from bookkit.playables.switchboard import CHECKS, SWITCHES

WORDS = ["the", "<new>", "house", "in", "it"]
DICE = np.random.default_rng(13)
X, OTHER = DICE.normal(size=(5, 3)), DICE.normal(size=3)
W = {name: DICE.normal(size=(3, 4)) for name in ("query", "key", "value")}
W["output"] = DICE.normal(size=(4, 3))
OUTPUT, WEIGHTS = silent.layer_with("", X, W, 2)


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {"x": X, "weights": W, "heads": 2, "other": OTHER, "wanted": OUTPUT}
    given |= changes
    return switchboard(given.pop("words", WORDS), given.pop("x"), given.pop("weights"), **given)


def drawn() -> Tag:
    page = BeautifulSoup(made()._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in drawn().select(f".am-switchboard-{part}")]


def test_the_right_layer_is_drawn() -> None:
    np.testing.assert_allclose(values("weight"), WEIGHTS.ravel(), atol=1e-8)
    np.testing.assert_allclose(values("sum-of"), np.ones(10), atol=1e-8)
    np.testing.assert_allclose(values("output-of"), OUTPUT.ravel(), atol=1e-8)
    assert values("off-of") == [0.0] * 5
    assert values("difference-of") == [0.0] * len(CHECKS)


def test_words_are_text() -> None:
    assert [one.text for one in drawn().select(".am-switchboard-map tbody th")] == 2 * WORDS
    assert drawn().find("new") is None


def test_the_board_has_the_mistakes_and_the_checks_that_are_taught() -> None:
    assert tuple(SWITCHES) == silent.MISTAKES
    assert [check for check in silent.CHECKS if check != "gradient"] == list(CHECKS)
    script = drawn().find("script", type="application/json")
    assert isinstance(script, Tag)
    assert json.loads(script.text)["switches"] == [list(pair) for pair in SWITCHES.items()]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"words": ["the"]}, "words: got 1"),
        ({"weights": {"query": W["query"]}}, "wanted query, key, value, output"),
        ({"weights": W | {"key": np.ones((3, 2))}}, "weights: got shapes"),
        ({"heads": 3}, "for 3 heads"),
        ({"wanted": OUTPUT + 1e-6}, "wanted: got another output"),
        ({"other": [1.0]}, "other"),
    ],
)
def test_a_wrong_call_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        made(**changes)
