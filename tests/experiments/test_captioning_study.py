"""The study of captions: what its arms share, and what is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

from bookkit.data.captions import collate_scenes
from bookkit.data.scenes import HELD_OUT, Scene, scenes
from bookkit.notebook import load_result
from companion.models.vision import CaptionOutput
from experiments.captioning import study as captioning
from experiments.engine.experiment import Answers, by_item, numbers
from experiments.engine.trials import tuned_file

SCENES = scenes(12, seed=9, combinations="held_out")
BATCH = collate_scenes(SCENES, captioning.VOCAB)


def looking(words: Tensor, down: float, across: float) -> CaptionOutput:
    """Return what a model gives that says words and points at one cell, in shares of the map."""
    b, q = words.shape
    logits = torch.nn.functional.one_hot(words, len(captioning.VOCAB)).float()
    maps = torch.zeros(b, q, 8, 8)
    maps[:, :, int(8 * down), int(8 * across)] = 1
    return CaptionOutput(logits, maps.flatten(2), torch.full((b, q), -1))


def test_only_words_of_the_held_out_combination_keep_their_class() -> None:
    for scene in SCENES:
        found = captioning.held_out_only(scene)
        kept = [i for i, kind in enumerate(found.classes) if kind != "seen"]
        assert len(kept) == 3
        assert found.classes[kept[0]] == "determiner"
        assert tuple(scene.words[i] for i in kept[1:]) in HELD_OUT


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


class Hearing:
    """Says the right shape if, and only if, it hears a colour that training saw with it."""

    def __call__(self, images: Tensor, tokens: Tensor) -> CaptionOutput:
        vocab, said = captioning.VOCAB, BATCH.target_out.clone()
        for row, scene in enumerate(SCENES):
            for place, kind in enumerate(scene.classes):
                heard = vocab.tokens[int(tokens[row, place])]
                if kind == "shape" and (heard, scene.words[place]) in HELD_OUT:
                    said[row, place] = vocab.eos_id
        return looking(said, 0, 0)


def test_another_colour_is_one_that_training_saw_with_the_shape() -> None:
    model: Any = Hearing()
    asked = [captioning.held_out_only(scene) for scene in SCENES]
    found = captioning.words_right(model(BATCH.images, BATCH.target_in), BATCH, asked)
    assert found["shape"] == 0
    changed = captioning.with_other_colours(model, BATCH, asked)
    assert changed == {
        "other_colour/shape": 100.0,
        by_item("other_colour/shape"): [(1.0, 1.0)] * 12,
    }


def test_arms_see_the_same_and_differ_in_their_attention_alone() -> None:
    task = captioning.Task(learn=20, test=4)
    before = torch.get_rng_state()
    drawn = {
        name: captioning.fit(replace(arm, steps=1, learning_rate=1e-9), task, seed=3)[0]
        for name, arm in captioning.arms().items()
    }
    assert torch.equal(torch.get_rng_state(), before)
    configs = {replace(m.config, attention="soft") for m in drawn.values()}
    assert len(configs) == 1
    weights = [drawn[name].state_dict() for name in ("soft", "hard", "uniform")]
    for name in weights[0]:
        torch.testing.assert_close(weights[0][name], weights[1][name], atol=1e-6, rtol=0)
        torch.testing.assert_close(weights[0][name], weights[2][name], atol=1e-6, rtol=0)


def test_captions_are_read_off_a_model() -> None:
    task = captioning.Task(learn=20, test=4)
    model, _ = captioning.fit(
        captioning.Setting("soft", learning_rate=0.01, steps=2, channels=8), task, seed=3
    )
    said = captioning.captions(model, BATCH.images, captioning.VOCAB)
    assert len(said) == 12
    told = captioning.evaluate(model, task)
    found = numbers(told)
    assert {"exact/seen", "exact/held_out", "pointing/held_out/shape", "loss"} <= set(found)
    assert all(0 <= value <= 100 for value in found.values())
    for name in ("words/held_out/shape", "other_colour/shape"):
        points = cast("Answers", told[by_item(name)])
        assert found[name] == pytest.approx(100 * sum(right for right, _ in points) / task.test)


def test_tests_of_tuning_are_no_tests_of_the_report() -> None:
    mine, theirs = (task.test_seed for task in (captioning.TASK, captioning.TUNING_TASK))
    seeds = [{test, test + 1} for test in (mine, theirs)]
    assert not seeds[0] & seeds[1]
    assert not (seeds[0] | seeds[1]) & {*captioning.SEEDS, 101, 102}


def test_every_arm_was_tried_with_every_rate() -> None:
    trials = json.loads(tuned_file("captioning").read_text(encoding="utf8"))["trials"]
    for name, setting in captioning.arms().items():
        found = [t["setting"]["learning_rate"] for t in trials if t["name"] == name]
        assert tuple(found) == captioning.LEARNING_RATES
        tuned = replace(captioning.reported()[name], learning_rate=0.0, steps=setting.steps)
        assert setting == tuned


def test_the_recorded_captioners_are_the_tuned_ones() -> None:
    recorded = load_result("captioning").config["arms"]
    for name, arm in captioning.reported().items():
        assert captioning.Setting(**recorded[name]) == arm


def test_scenes_of_a_test_are_drawn_once() -> None:
    first: list[Scene] = captioning.drawn(3, 5)[0]
    assert captioning.drawn(3, 5)[0] is first
