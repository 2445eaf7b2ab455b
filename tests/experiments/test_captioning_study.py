"""The study of captions: what its arms share, and what is counted."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from bookkit.data.captions import collate_scenes
from bookkit.data.scenes import scenes
from companion.models.vision import CaptionOutput
from experiments.captioning import study as captioning

pytestmark = pytest.mark.slow

SCENES = scenes(12, seed=9, combinations="held_out")
BATCH = collate_scenes(SCENES, captioning.VOCAB)


def looking(words: Tensor, down: float, across: float) -> CaptionOutput:
    """Return what a model gives that says words and points at one cell, in shares of the map."""
    b, q = words.shape
    logits = torch.nn.functional.one_hot(words, len(captioning.VOCAB)).float()
    maps = torch.zeros(b, q, 8, 8)
    maps[:, :, int(8 * down), int(8 * across)] = 1
    return CaptionOutput(logits, maps.flatten(2), torch.full((b, q), -1))


def test_words_are_counted_by_class() -> None:
    right = captioning.words_right(looking(BATCH.target_out, 0, 0), BATCH, SCENES)
    assert set(right.values()) == {100.0}
    wrong = BATCH.target_out.clone()
    for row, scene in enumerate(SCENES[:3]):
        wrong[row, scene.classes.index("shape")] = captioning.VOCAB.eos_id
    found = captioning.words_right(looking(wrong, 0, 0), BATCH, SCENES)
    assert found.pop("shape") == pytest.approx(100 * 21 / 24)
    assert set(found.values()) == {100.0}
    scenes = captioning.shapes_right(looking(wrong, 0, 0), BATCH, SCENES)
    assert scenes == [(1.0, 2.0)] * 3 + [(2.0, 2.0)] * 9


def test_wrong_words_are_told_by_where_attention_points() -> None:
    asked = [captioning.held_out_only(scene) for scene in SCENES]
    words = torch.full_like(BATCH.target_out, captioning.VOCAB.eos_id)
    for i, j in ((2, 3), (5, 5)):
        inside = 0
        for scene in asked:
            box = next(
                b[0] for b, c in zip(scene.boxes, scene.classes, strict=True) if c == "shape"
            )
            inside += (4 * i + 2.0, 4 * j + 2.0) in box
        found = captioning.wrong_words(looking(words, i / 8, j / 8), BATCH, asked, 8, 0)
        assert found["wrong_word/right_place"] == pytest.approx(100 * inside / 12)
        assert sum(found.values()) == pytest.approx(100)
    none = captioning.wrong_words(looking(BATCH.target_out, 0.5, 0.5), BATCH, asked, 8, 0)
    assert set(none.values()) == {0.0}
