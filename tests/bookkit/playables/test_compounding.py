"""Whole sentences and single words in Node: the curve is the chance that all words are right."""

import numpy as np

from bookkit.figures import compounding
from bookkit.playables.compounding import CHANCES
from tests.bookkit.playables.node import ask

BINS = [(1, 5), (6, 10), (11, 15), (26, 30), (31, 35)]
EXACT = {"with": [100.0, 99.0, 98.0, 90.0, 82.5], "without": [99.7, 79.7, 20.3, 0.0, 0.0]}
BLEU = {"with": [100.0, 99.6, 99.5, 97.1, 93.9], "without": [99.6, 89.0, 58.0, 19.4, 16.5]}
MADE = compounding(BINS, EXACT, BLEU, longest=30)


def test_the_curve_is_the_chance_that_all_words_are_right() -> None:
    states = [{"chance": place} for place in range(len(CHANCES))]
    misses: dict[str, list[float]] = {name: [] for name in EXACT}
    for chance, shown in zip(CHANCES, ask(MADE, *states), strict=True):
        wanted = [100 * np.prod(np.full(words, chance / 100)) for words in (3, 8, 13, 28, 33)]
        np.testing.assert_allclose(shown["whole"], wanted, atol=1e-6)
        np.testing.assert_allclose(shown["curve"][::2], 100 * (chance / 100) ** np.arange(41))
        for name, values in EXACT.items():
            misses[name].append(float(np.abs(np.array(values) - wanted).max()))
    # What the lesson asks a reader to find out: one chance fits the discs, and none the crosses.
    assert min(misses["with"]) < 5
    assert min(misses["without"]) > 15


def test_what_is_drawn_and_said() -> None:
    assert [shown["values"] for shown in ask(MADE, {}, {"measure": 1})] == [
        list(EXACT.values()), list(BLEU.values()),
    ]  # fmt: skip
    assert ask(MADE, {}, {"measure": 1}, want="said") == [
        "If each word is right in 95 of 100 cases, whatever the others are, 86 of 100 sentences of "
        "3 words are right, and 18 of 100 sentences of 33 words.",
        "BLEU gives credit for every right stretch of up to four words.",
    ]
    (drawn,) = ask(MADE, want="still")
    assert "11–15</th><td" in drawn
    assert "<td>98</td><td>20</td><td>100</td><td>58</td>" in drawn
    assert "unseen lengths" in drawn
    (drawn,) = ask(compounding(BINS, EXACT, BLEU, longest=40), want="still")
    assert "unseen lengths" not in drawn
