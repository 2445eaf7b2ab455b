"""The next word without a script: its numbers are a softmax's, and wrong calls are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag
from scipy.special import softmax
from scipy.stats import entropy

from bookkit.figures import LiveOutput, next_word

WORDS = ["<new>", *(f"w{n}" for n in range(19))]
LOGITS = np.random.default_rng(4).normal(size=(2, 20)) * 2
POSSIBLE = np.random.default_rng(5).random((2, 20)) > 0.5
BEGINNINGS = ["she works", "in the"]


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "words": WORDS, "beginnings": BEGINNINGS, "logits": LOGITS, "possible": POSSIBLE,
    }  # fmt: skip
    return next_word(**given | changes)


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(figure: Tag, part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in figure.select(f".am-next-word-{part}")]


def test_the_bars_are_the_most_probable_words_and_all_others() -> None:
    chances = softmax(LOGITS[0])
    order = np.argsort(-chances)
    figure = drawn()
    wanted = [*chances[order[:12]], chances[order[12:]].sum()]
    np.testing.assert_allclose(values(figure, "chance"), wanted, atol=1e-8)
    widths = [float(str(bar["width"])) for bar in figure.select(".am-next-word-bar")]
    np.testing.assert_allclose(np.array(widths) / 250, wanted, atol=1e-4)
    names = [text.text.removesuffix(" ✗") for text in figure.select(".am-next-word-word")]
    assert names == [*(WORDS[place] for place in order[:12]), "8 others"]


def test_the_readings_and_the_crosses() -> None:
    figure = drawn()
    chances = softmax(LOGITS[0])
    wanted = [20, 100 * chances[~POSSIBLE[0]].sum(), np.exp(entropy(chances))]
    np.testing.assert_allclose(values(figure, "reading"), wanted, rtol=1e-7)
    order = np.argsort(-chances)[:12]
    crossed = [row.text.count("✗") for row in figure.select(".am-next-word-row")[:12]]
    assert crossed == [int(not POSSIBLE[0, place]) for place in order]


def test_the_bar_of_all_others_says_neither_right_nor_wrong() -> None:
    kinds = [set(row["class"]) - {"am-next-word-row"} for row in drawn().select("g")]
    assert kinds.pop() == {"am-next-word-others"}
    assert all(kind <= {"am-next-word-wrong"} for kind in kinds)


def test_what_it_says_in_words() -> None:
    output = made(caption="Slide.")
    assert repr(output).startswith(
        "What the next word is drawn from. After she works, temperature 1"
    )
    assert "<new>" not in output._repr_html_()
    assert output._repr_html_() == made(caption="Slide.")._repr_html_()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"logits": LOGITS[0]}, r"logits: got shape \(20,\)"),
        ({"logits": np.full((2, 20), -np.inf)}, "wanted finite numbers"),
        ({"words": WORDS[:5]}, "words: got 5 labels"),
        ({"beginnings": ["she"]}, "beginnings: got 1 label"),
        ({"possible": POSSIBLE[:1]}, r"possible: got shape \(1, 20\), wanted \(2, 20\)"),
        (
            {"words": WORDS[:9], "logits": LOGITS[:, :9], "possible": POSSIBLE[:, :9]},
            "words: got 9, wanted more than 12",
        ),
    ],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
