"""Texts to match in Node: the first pick counts, and the same text is as right."""

from typing import Any

from bookkit.figures import match_texts
from bookkit.playables.matching import Round
from tests.bookkit.playables.node import ask

TEXTS = {"no mask": "The sea.", "no scale": "___", "one word too many": "The sea."}
NAMES = sorted(TEXTS)
MADE = match_texts(
    [Round("1", "Where?", TEXTS, NAMES), Round("2", "Who?", TEXTS, NAMES)],
    dict.fromkeys(TEXTS, "So it is."),
)


def test_a_round_is_scored() -> None:
    states: list[dict[str, Any]] = [
        {"picked": {"0 0": 0, "0 1": 1, "0 2": 1}},  # right, right, wrong
        {"picked": {"0 0": 2}},  # another mistake that wrote the same
        {"round": 1, "picked": {"0 0": 0}},
    ]
    shown = ask(MADE, *states)
    assert [(one["score"], one["done"]) for one in shown] == [(2, 3), (1, 1), (0, 0)]
    assert [line["right"] for line in shown[0]["lines"]] == [True, True, False]
    assert [line["by"] for line in shown[0]["lines"]] == [NAMES.index(name) for name in TEXTS]
    told = ask(MADE, *states, want="said")
    assert told[1].startswith("Right.")
    assert "Which mistake" in told[2]
