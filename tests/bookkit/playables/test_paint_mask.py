"""Masks to paint in Node, against `masked_softmax`."""

from typing import Any

import numpy as np

from bookkit.figures import MaskPuzzle, paint_mask
from companion import causal_mask, masked_softmax, padding_mask
from tests.bookkit.playables.node import ask

SCORES = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
QUERIES, KEYS = ["I", "am"], ["je", "suis", "."]
ALL = np.ones((2, 3), bool)
MASKS = {"causal": causal_mask(2, 3), "padding": padding_mask(np.array(2), 3), "none": ~ALL}
PUZZLE = MaskPuzzle("all", "Everybody sees everybody.", "causal", ALL)
MADE = paint_mask(
    SCORES, QUERIES, KEYS, masks=MASKS, notes={"padding": "Two words, and filler."},
    answers=[1, None], puzzles=[PUZZLE],
)  # fmt: skip


def test_weights_are_those_of_the_package() -> None:
    masks = [*MASKS.values(), ALL, np.array([[True, False, True], [False, True, True]])]
    masks = [np.broadcast_to(mask, (2, 3)) for mask in masks]
    for mask, shown in zip(masks, ask(MADE, *({"mask": m.tolist()} for m in masks)), strict=True):
        weights = masked_softmax(SCORES, mask)
        np.testing.assert_allclose(shown["weights"], weights, atol=1e-6)
        np.testing.assert_allclose(shown["sums"], weights.sum(-1), atol=1e-6)
        assert shown["seen"] == ([0] if mask[0, 1] else [])


def test_what_is_said() -> None:
    causal, padding = (np.broadcast_to(MASKS[name], (2, 3)) for name in ("causal", "padding"))
    states: list[dict[str, Any]] = [
        {"mask": mask.tolist(), "puzzle": puzzle, "row": row}
        for mask, puzzle, row in (
            (padding, -1, None), (~causal, -1, None), (~ALL, -1, None), (padding, -1, 0),
            (ALL & [True, False, True], -1, 1), (causal, 0, None), (ALL, 0, 1),
        )
    ]  # fmt: skip
    assert ask(MADE, *states, want="said") == [
        "Mask: padding. Two words, and filler.",
        "Mask: causal, upside down.",
        "Mask: none. Nothing to look at for: I, am.",
        "Mask: padding. I may look at 2 of 3, most at je: 0.82.",
        "Mask: painted by hand. am may look at 2 of 3, most at je: 0.90.",
        "Paint the mask that the puzzle asks for.",
        "Solved. am may look at 3 of 3, most at je: 0.72.",
    ]
    shown = ask(MADE, states[5], states[6])
    assert [(one["changed"], one["solved"]) for one in shown] == [(0, False), (3, True)]
