"""Whole sentences and single words in Node: the curve is the chance that all words are right."""

import numpy as np

from bookkit.figures import compounding
from bookkit.playables.compounding import CHANCES
from tests.bookkit.playables.node import ask

BINS = [(1, 5), (6, 10), (11, 15), (26, 30), (31, 35)]
EXACT = {"with": [100.0, 99.0, 98.0, 90.0, 82.5], "without": [99.7, 79.7, 20.3, 0.0, 0.0]}
MADE = compounding(BINS, EXACT, EXACT, longest=30)


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
