"""The divided head in Python: what it draws and says without a script, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, divided_head
from bookkit.playables.divided import verdict

WORDS = ["she", "works", "in", "the", "new", "<house>"]


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "words": WORDS, "others": {0: "they", 5: "houses"}, "query": 2, "questions": ["Who?", "?"],
    } | changes  # fmt: skip
    return divided_head(**given)


def drawn(**changes: Any) -> Tag:
    return BeautifulSoup(made(**changes)._repr_html_(), "html.parser")


def numbers(page: Tag, kind: str, name: str = "data-am-value") -> list[float]:
    return [float(str(part[name])) for part in page.select(f".am-divided-{kind}")]


def test_one_head_hands_over_a_number_by_sentence() -> None:
    page = drawn(shares=(40, 0))
    assert numbers(page, "weight") == pytest.approx([2 / 3, 1 / 3, 0, 1])
    assert numbers(page, "point") == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert numbers(page, "point", "data-am-second") == [0, 0, 0, 0]
    assert numbers(page, "gap") == pytest.approx([1 / 3, 1 / 3])
    names = [text.get_text() for text in page.select(".am-divided-point text")]
    assert names == ["she … <house>0.00", "she … houses0.33", "they … <house>0.67",
                     "they … houses1.00"]  # fmt: skip


def test_two_heads_hand_over_two() -> None:
    page = drawn(heads=2, shares=(60, 0))
    points = np.stack([numbers(page, "point"), numbers(page, "point", "data-am-second")], 1)
    assert points.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert numbers(page, "gap") == [1, 1]


@pytest.mark.parametrize(
    ("share", "gaps", "clashes"),
    [(30, (0, 0), 2), (60, (1, 0), 4), (0, (0, 1), 4), (45, (0.5, 0.25), 0), (15, (0.25, 0.5), 0)],
)
def test_what_can_be_read_depends_on_the_division(
    share: int, gaps: tuple[float, float], clashes: int
) -> None:
    page = drawn(shares=(share, 0))
    assert numbers(page, "gap") == pytest.approx(gaps)
    said = [cell.get_text() for cell in page.select(".am-divided-verdict")]
    assert said == [verdict(gap) for gap in gaps]
    assert len(page.select(".am-divided-clash")) == clashes


def test_no_division_keeps_both_further_apart_than_two_thirds() -> None:
    gaps = {share: min(numbers(drawn(shares=(share, 0)), "gap")) for share in range(61)}
    assert max(gaps.values()) == pytest.approx(1 / 3)
    assert [share for share, gap in gaps.items() if gap > 1 / 3 - 1e-6] == [20, 40]


def test_words_say_what_is_drawn() -> None:
    shown = made(heads=2, shares=(45, 0))
    assert shown.state == (
        "Two heads: in the first, she has 0.75 of its weight and <house> 0.25; in the second, she"
        " has 0.00 of its weight and <house> 1.00."
    )
    assert shown.alt.startswith(shown.state)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"others": {0: "they"}}, r"others: got positions \[0\], wanted two from 0 to 5"),
        ({"others": {0: "they", 6: "s"}}, r"others: got positions \[0, 6\]"),
        ({"query": 5}, "query: got 5, wanted another from 0 to 5"),
        ({"query": 6}, "query: got 6"),
        ({"questions": ["Who?"]}, "questions: got 1 labels, wanted 2"),
        ({"heads": 3}, "heads: got 3, wanted 1 or 2"),
        ({"shares": (61, 0)}, r"shares: got \(61, 0\)"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
