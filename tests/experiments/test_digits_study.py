"""The study of digits: which digits are asked about, and what is wiped out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from bookkit.data.digits import handwritten_digits
from bookkit.notebook import load_result
from companion.models.vision import to_patches
from experiments.digits import study as digits
from experiments.engine.trials import tuned_file


def test_tuning_never_sees_the_test_digits() -> None:
    learn, test = handwritten_digits()
    mine, asked = digits.digits(digits.TUNING_TASK)
    assert torch.equal(torch.cat((mine.images, asked.images)), learn.images)
    assert len(asked.labels) == 297
    assert torch.equal(digits.digits(digits.Task())[1].images, test.images)


def test_the_patches_of_the_highest_rank_become_the_mean() -> None:
    images, mean = torch.rand(5, 1, 8, 8), torch.full((1, 8, 8), 2.0)
    ranks = torch.rand(5, 16)
    found = to_patches(digits.wiped(images, mean, ranks), 2)
    for row in range(5):
        highest = set(ranks[row].argsort(descending=True)[: digits.WIPED].tolist())
        for patch in range(16):
            if patch in highest:
                assert (found[row, patch] == 2).all()
            else:
                assert torch.equal(found[row, patch], to_patches(images, 2)[row, patch])


def test_ink_is_how_far_a_patch_is_from_the_mean() -> None:
    images = torch.zeros(1, 1, 8, 8)
    images[0, 0, 2, 5] = 0.5  # the second row of patches, the third column
    images[0, 0, 7, 0] = 0.25
    found = digits.ink(images, torch.zeros(1, 8, 8))
    assert found[0].nonzero()[:, 0].tolist() == [6, 12]
    assert found[0, 6] == 0.25


class Labelled:
    """Says 3 of every picture."""

    def __call__(self, images: Tensor) -> Any:
        from companion.models.vision import Classified

        return Classified(torch.eye(10)[torch.full((len(images),), 3)], ())


def test_right_answers_are_counted_in_percent() -> None:
    model: Any = Labelled()
    assert digits.right(model, torch.zeros(4, 1, 8, 8), torch.tensor([3, 1, 3, 3])) == 75


def test_both_arms_were_tried_with_every_rate() -> None:
    trials = json.loads(tuned_file("digits").read_text(encoding="utf8"))["trials"]
    for name, setting in digits.arms().items():
        found = [t["setting"]["learning_rate"] for t in trials if t["name"] == name]
        assert tuple(found) == digits.LEARNING_RATES
        tuned = replace(digits.reported()[name], learning_rate=0.0, steps=setting.steps)
        assert setting == tuned


def test_the_recorded_digits_are_those_of_the_tuned_models() -> None:
    recorded = load_result("digits").config["arms"]
    for name, arm in digits.reported().items():
        assert digits.Setting(**recorded[name]) == arm
