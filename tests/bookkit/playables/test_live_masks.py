"""Masks to paint in Python: a table without a script, exact scores, clear refusals."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import MaskPuzzle, paint_mask
from companion import causal_mask, masked_softmax, padding_mask

SCORES = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
QUERIES, KEYS = ["I", "am"], ["je", "<suis>", "."]
MASKS = {"causal": causal_mask(2, 3), "padding": padding_mask(np.array(2), 3)}


def test_the_first_mask_is_a_table_without_a_script() -> None:
    shown = paint_mask(SCORES, QUERIES, KEYS, masks=MASKS)
    weights = masked_softmax(SCORES, MASKS["causal"])
    first, second = weights[1, :2]
    assert repr(shown) == (
        "A mask to paint. Mask: causal. I: je 1.00, <suis> blocked, . blocked; "
        f"am: je {first:.2f}, <suis> {second:.2f}, . blocked."
    )
    drawing = shown.drawing
    assert drawing.count('scope="col"') == 4
    assert drawing.count('scope="row"') == 2
    assert drawing.count("am-mask-blocked") == 3
    assert "&lt;suis&gt;" in drawing
    assert f">{first:.2f}<" in drawing
    assert "style=" not in drawing
    assert "<button" not in drawing


def test_a_query_without_a_key_gets_zeros() -> None:
    shown = paint_mask(SCORES, QUERIES, KEYS, masks={"nothing": np.zeros((2, 3), bool)})
    assert shown.drawing.count('<td class="am-mask-sum">0.00</td>') == 2


def test_scores_and_masks_are_stored_exactly() -> None:
    given = paint_mask(torch.tensor(SCORES), QUERIES, KEYS, masks=MASKS)
    again = paint_mask(SCORES, QUERIES, KEYS, masks=MASKS)
    data = given.data
    assert given._repr_html_() == again._repr_html_()
    stored = np.frombuffer(base64.b64decode(data["scores"]["base64"]), "<f8")
    np.testing.assert_array_equal(stored.reshape(2, 3), SCORES)
    assert data["masks"] == [
        {"name": "causal", "allowed": [1, 0, 0, 1, 1, 0]},
        {"name": "padding", "allowed": [1, 1, 0, 1, 1, 0]},
    ]
    assert len(given._repr_html_()) < 25_000


PUZZLE = MaskPuzzle("all", "Everybody sees everybody.", "causal", np.ones((2, 3), bool))


def test_what_is_to_be_predicted_is_ringed() -> None:
    masks = {"leak": causal_mask(2, 3, offset=1)}
    shown = paint_mask(SCORES, QUERIES, KEYS, masks=masks, answers=[1, None])
    assert repr(shown).endswith(" 1 of 1 rows see the word that comes next: I.")
    assert '<p class="am-mask-seen">1 of 1 rows see' in shown.drawing
    blind = paint_mask(SCORES, QUERIES, KEYS, masks=MASKS, answers=[1, 2])
    assert blind.drawing.count("am-mask-blocked am-mask-answer") == 2
    assert repr(blind).endswith(" No row sees the word that comes next.")
    assert "am-mask-seen" not in paint_mask(SCORES, QUERIES, KEYS, masks=MASKS).drawing


def test_notes_and_puzzles_are_stored() -> None:
    notes = {"padding": "Two words, and filler."}
    shown = paint_mask(SCORES, QUERIES, KEYS, masks=MASKS, notes=notes, puzzles=[PUZZLE], flip=True)
    assert shown.data["notes"] == ["", "Two words, and filler."]
    assert shown.data["puzzles"] == [
        {"name": "all", "question": PUZZLE.question, "begin": 0, "allowed": [1] * 6}
    ]
    assert shown.data["flip"] is True


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"notes": {"prefix": "?"}}, "notes: got one on 'prefix'"),
        ({"answers": [1]}, "answers: got 1, wanted 2, one for every query"),
        ({"answers": [None, 3]}, "answers: got 3, wanted a key from 0 to 2"),
        ({"puzzles": [MaskPuzzle("a", "?", "b", MASKS["causal"])]}, "begins with 'b', wanted one"),
        ({"puzzles": [MaskPuzzle("a", "?", "causal", np.ones((9, 9), bool))]}, "'a' has shape"),
    ],
)
def test_what_is_not_there_cannot_be_asked_for(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        paint_mask(SCORES, QUERIES, KEYS, masks=MASKS, **given)


@pytest.mark.parametrize(
    ("scores", "masks", "error", "message"),
    [
        (SCORES, {}, ValueError, "masks: got none"),
        (SCORES, {"a": np.ones((2, 3))}, TypeError, "masks: 'a' has dtype float64, wanted bool"),
        (
            SCORES,
            {"a": np.ones((3, 2), bool)},
            ValueError,
            r"masks: 'a' has shape \(3, 2\), wanted \(2, 3\)",
        ),
        (SCORES - np.inf, MASKS, ValueError, "scores: got numbers that are not finite"),
        (SCORES[None], MASKS, ValueError, r"scores: got shape \(1, 2, 3\), wanted \(q, k\)"),
        (SCORES[:1], MASKS, ValueError, "queries: got 2 labels, wanted 1"),
        ([["a"]], MASKS, TypeError, "scores: got list, wanted numbers"),
    ],
    ids=["none", "dtype", "shape", "infinite", "rank", "labels", "words"],
)
def test_wrong_calls(scores: Any, masks: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        paint_mask(scores, QUERIES, KEYS, masks=masks)
