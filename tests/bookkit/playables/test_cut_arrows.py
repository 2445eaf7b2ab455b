"""Arrows to cut, in Node: what is left of a prediction is what the package leaves of it."""

from typing import Any

import numpy as np

from bookkit.figures import copier_view, cut_arrows
from bookkit.playables.copying import LETTERS
from tests.bookkit.playables.node import ask

TEXTS = "kitchenkit", "kixchenkit"
MADE = cut_arrows(*TEXTS, "c")


def test_cut_arrows_and_exchanged_notes_do_what_they_do_in_the_package() -> None:
    states: list[dict[str, Any]] = [
        {"which": which, "cut": cut, "note": note}
        for which in (0, 1)
        for cut in ([], [[0, 3, 2]], [[0, 9, 8], [1, 9, 3]], [[0, 0, 0], [1, 4, 4]])
        for note in (0, 4, 10)
    ]
    other = [copier_view(text).notes for text in reversed(TEXTS)]
    for state, shown in zip(states, ask(MADE, *states), strict=True):
        which, place = state["which"], state["note"] - 1
        notes = {place: other[which][place]} if state["note"] else {}
        wanted = copier_view(TEXTS[which], cut=[*map(tuple, state["cut"])], notes=notes)
        np.testing.assert_allclose(shown["seen"], wanted.weights, atol=1e-6)
        np.testing.assert_allclose(shown["chances"], wanted.probabilities[-1], atol=1e-6)


def test_one_arrow_of_the_first_layer_carries_the_answer_and_its_double_does_not() -> None:
    right = LETTERS.index("c")
    whole, without, idle = (
        copier_view(TEXTS[0], cut=cut).probabilities[-1, right]
        for cut in ([], [(0, 3, 2)], [(0, 9, 8)])
    )
    assert whole > 0.95
    assert without < 0.1
    assert idle > 0.7
