"""The study of digits: which digits are asked about, and what is wiped out."""

from __future__ import annotations

import pytest
import torch

from bookkit.data.digits import handwritten_digits
from companion.models.vision import to_patches
from experiments.digits import study as digits

pytestmark = pytest.mark.slow


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
