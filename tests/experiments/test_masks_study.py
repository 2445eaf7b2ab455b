"""The study of masks and padding: what its arms are and what it measures."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Generator, Tensor

from experiments.masks import study as masks

pytestmark = pytest.mark.slow


def test_the_second_half_follows_from_the_first() -> None:
    for rule, successor in (("same", 0), ("next", 1)):
        task = masks.Copying(rule, letters=5, half=7)  # type: ignore[arg-type]
        text = task.draw(50, Generator().manual_seed(3))
        assert text.shape == (50, 14)
        assert torch.equal(text[:, 7:], (text[:, :7] + successor) % 5)
        assert set(text.flatten().tolist()) == set(range(5))


def test_the_masks_by_loops() -> None:
    for kind in masks.MASKS:
        mask = masks.mask_of(kind, 5)
        for i, j in product(range(5), range(5)):
            allowed = {"causal": j <= i, "leak": j <= i + 1, "inverted": j > i}[kind]
            assert bool(mask[i, j]) is allowed


def test_only_the_causal_model_is_blind_to_the_future() -> None:
    for kind in masks.MASKS:
        torch.manual_seed(0)
        task = masks.Copying(letters=5, half=3)
        setting = masks.Setting("next", kind, embed_dim=12)
        model = masks.LanguageModel(setting, task).eval()
        text = task.draw(4, Generator().manual_seed(1))
        other = text.clone()
        other[:, 3:] = (other[:, 3:] + 2) % 5
        unmoved = torch.allclose(model(text)[:, :3], model(other)[:, :3], atol=1e-6)
        assert unmoved is (kind == "causal")


class Successor(torch.nn.Module):
    """Says the successor of the letter three places before the next one."""

    def forward(self, letters: Tensor) -> Tensor:
        known = (letters.roll(2, dims=1) + 1) % 5
        return torch.nn.functional.one_hot(known, 5).float()


def test_generation_goes_on_from_what_was_said() -> None:
    text = masks.Copying("next", letters=5, half=3).draw(9, Generator().manual_seed(2))
    assert torch.equal(masks.generate(Successor(), text[:, :3], 3), text)
    longer = masks.generate(Successor(), text, 3)
    assert torch.equal(longer[:, 6:], (text[:, 3:] + 1) % 5)


def test_padding_moves_the_output_as_the_formula_says() -> None:
    """Zeros have score 0 and value 0: what is left is the share of the words."""
    padding = masks.Padding(sentences=3, words=4, embed_dim=6, pads=(5,))
    found = masks.padding_moves(padding, seed=9)
    generator = Generator().manual_seed(9)
    words = torch.randn(3, 4, 6, generator=generator).double()
    query, key, value = words @ (torch.randn(3, 1, 6, 6, generator=generator) / 6**0.5).double()
    powers = (query @ key.mT / 6**0.5).exp()
    total = powers.sum(-1, keepdim=True)
    alone = powers @ value / total
    moved = powers @ value / (total + 5)
    wanted = 100 * float((moved - alone).norm() / alone.norm())
    assert found["zeros/5"] == pytest.approx(wanted, rel=1e-5)
    assert found["masked"] < 1e-3
