"""What the studies of images count, and which images they are asked about."""

import pytest
import torch
from torch import Tensor

from bookkit.data.captions import collate_scenes
from bookkit.data.digits import handwritten_digits
from bookkit.data.scenes import HELD_OUT, scenes
from companion.models.vision import (
    CaptionOutput,
    VisionConfig,
    VisionTransformer,
    to_patches,
)
from experiments.captioning import study as captioning
from experiments.digits import study as digits
from experiments.looking import study as small

pytestmark = pytest.mark.slow

# The study of captions: what its arms share, and what is counted.

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


def test_in_its_mouth_are_put_the_colours_that_training_has_shown_with_the_shape() -> None:
    heard: list[Tensor] = []

    def model(images: Tensor, tokens: Tensor) -> CaptionOutput:
        heard.append(tokens)
        return looking(BATCH.target_out, 0, 0)

    hits = small.after_other_colours(model, SCENES, BATCH)  # type: ignore[arg-type]
    phrases = small.new_phrases(SCENES)
    for scene, (row, column), asked in zip(SCENES, phrases, hits, strict=True):
        shape = scene.words[column]
        assert (scene.words[column - 1], shape) in HELD_OUT
        assert asked == [True] * (6 - sum(one[1] == shape for one in HELD_OUT))
        changed = torch.stack(heard)[:, row] != BATCH.target_in[row]
        assert changed.any(0).nonzero().flatten().tolist() == [column]


# The study of digits: which digits are asked about, and what is wiped out.


def test_tuning_never_sees_the_test_digits() -> None:
    learn, test = handwritten_digits()
    mine, asked = digits.digits(digits.TUNING_TASK)
    assert torch.equal(torch.cat((mine.images, asked.images)), learn.images)
    assert len(asked.labels) == 297
    assert torch.equal(digits.digits(digits.Task())[1].images, test.images)


def test_the_patches_of_the_highest_rank_are_covered() -> None:
    images, under = torch.rand(5, 1, 8, 8), torch.full((1, 8, 8), 2.0)
    ranks = torch.rand(5, 16)
    found = to_patches(digits.covered(images, under, digits.highest(ranks)), 2)
    for row in range(5):
        highest = set(ranks[row].argsort(descending=True)[: digits.WIPED].tolist())
        for patch in range(16):
            if patch in highest:
                assert (found[row, patch] == 2).all()
            else:
                assert torch.equal(found[row, patch], to_patches(images, 2)[row, patch])


def test_patches_are_shuffled_as_they_are() -> None:
    images, order = torch.rand(5, 1, 8, 8), torch.rand(5, 16).argsort(-1)
    found = to_patches(digits.shuffled(images, order), 2)
    for row in range(5):
        assert torch.equal(found[row], to_patches(images, 2)[row, order[row]])


def test_what_is_missed_most_is_what_the_answer_needs() -> None:
    model = VisionTransformer(VisionConfig(embed_dim=8)).eval()
    reading = digits.Reading(torch.rand(3, 1, 8, 8), torch.zeros(1, 8, 8), cover="out")
    with torch.no_grad():
        logits = model(reading.images).logits
        found = digits.missed(model, reading, logits)
        kept = torch.ones(1, 16, dtype=torch.bool)
        kept[0, 5] = False
        left = model(reading.images[1:2], kept=kept).logits.log_softmax(-1)
    own = logits[1].argmax()
    assert found[1, 5] == pytest.approx(float(logits[1].log_softmax(-1)[own] - left[0, own]))


def test_ink_is_how_far_a_patch_is_from_the_mean() -> None:
    images = torch.zeros(1, 1, 8, 8)
    images[0, 0, 2, 5] = 0.5  # the second row of patches, the third column
    images[0, 0, 7, 0] = 0.25
    found = digits.ink(images, torch.zeros(1, 8, 8))
    assert found[0].nonzero()[:, 0].tolist() == [6, 12]
    assert found[0, 6] == 0.25
