"""The network in Node against the package's, and the finger against NLTK's distance."""

from typing import Any

import pytest
from nltk.metrics.distance import edit_distance

from bookkit.figures import phrase_finger
from bookkit.playables.finger import EXAMPLES, FILES, FOLDER, LONGEST
from bookkit.playables.weights import load_translator, read_about
from companion.data.pairs import characters
from tests.bookkit.playables.node import ask
from tests.bookkit.playables.test_translator import farthest, in_node, same

MADE = phrase_finger()
PHRASES = [*EXAMPLES, *MADE.data["hidden"], "i am a doctor", "zzz", "how are yuo", "hel lo", "x"]


@pytest.mark.parametrize("name", FILES)
def test_python_and_the_module_write_the_same_letters(name: str) -> None:
    path = FOLDER / FILES[name]
    learned = [characters(english) for english, _ in read_about(path)["learned"]]
    english = [*learned, *map(characters, PHRASES)]
    found = in_node(path, [list(one) for one in english], longest=LONGEST)
    wanted = load_translator(path).translate(english, max_len=LONGEST)
    assert same(found, wanted) == 1
    assert farthest(found, wanted) <= 1e-5
    right = [spanish for _, spanish in read_about(path)["learned"]]
    assert ["".join(one["written"]) for one in found[: len(right)]] == right


def test_the_finger_takes_the_first_of_the_nearest_phrases() -> None:
    states: list[dict[str, Any]] = [
        {"text": text, "book": book} for text in PHRASES for book in (0, 1)
    ]
    for state, shown in zip(states, ask(MADE, *states), strict=True):
        text, book = state["text"], MADE.data["spanish"][state["book"]]
        apart = [edit_distance(text, other) for other in MADE.data["english"]]
        assert (shown["nearest"], shown["apart"]) == (apart.index(min(apart)), min(apart))
        assert shown["finger"] == book[shown["nearest"]]
        if shown["wrong"]:
            for said, wrong in zip((shown["writes"], shown["finger"]), shown["wrong"], strict=True):
                most = max(len(said), len(shown["right"]))
                assert wrong == pytest.approx(edit_distance(said, shown["right"]) / most, abs=1e-6)


def test_it_says_whether_a_phrase_is_in_the_book() -> None:
    texts: list[tuple[str, int]] = [("Hello ", 0), ("close the window", 1), ("zoo", 0), (" ", 0)]
    states = [{"text": text, "book": book} for text, book in texts]
    known, hidden, strange, empty = ask(MADE, *states, want="said")
    assert "in the book" in known
    assert "the network has 0 wrong and the finger 0" in known
    assert "not in the book" in hidden
    assert "wrong translations" in hidden
    assert "the letter z" in strange
    assert empty == "Type an English phrase."
