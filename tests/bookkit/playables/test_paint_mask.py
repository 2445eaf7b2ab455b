"""Masks to paint in Node, against `masked_softmax`."""

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


def test_a_puzzle_is_solved_by_its_mask() -> None:
    masks = np.broadcast_to(MASKS["causal"], (2, 3)), ALL
    states = [{"mask": mask.tolist(), "puzzle": 0} for mask in masks]
    shown = ask(MADE, *states)
    assert [(one["changed"], one["solved"]) for one in shown] == [(0, False), (3, True)]
