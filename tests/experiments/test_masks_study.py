"""The study of masks and padding: what its arms are and what it measures."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Generator, Tensor

from bookkit.notebook import load_result
from experiments.masks import study as masks


def test_the_learning_rates_were_chosen_inside_their_grid() -> None:
    """A best rate at an end of the grid would leave the comparison open."""
    grid = masks.LEARNING_RATES
    for setting in masks.reported().values():
        assert grid[0] < setting.learning_rate < grid[-1]


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    recorded = load_result("masks").config["arms"]
    for name, arm in masks.reported().items():
        assert masks.Setting(**recorded[name]) == arm


def test_arms_differ_by_rule_and_mask_alone() -> None:
    arms = masks.arms()
    assert set(arms) == {f"{r}/{m}" for r, m in product(("same", "next"), masks.MASKS)}
    for name, arm in arms.items():
        assert f"{arm.rule}/{arm.mask}" == name
        assert (arm.steps, arm.embed_dim, arm.num_heads) == (400, 64, 4)


def test_the_longer_arms_differ_by_their_length_alone() -> None:
    reported = masks.reported()
    assert set(reported) - set(masks.arms()) == {"same/leak/longer", "next/leak/longer"}
    for rule in ("same", "next"):
        short, longer = reported[f"{rule}/leak"], reported[f"{rule}/leak/longer"]
        assert replace(short, steps=masks.LONGER * short.steps) == longer


class Knowing(torch.nn.Module):
    """Says right what follows by the rule "next" at one position, and letter 0 at the others."""

    def __init__(self, position: int) -> None:
        super().__init__()
        self.position = position

    def forward(self, letters: Tensor) -> Tensor:
        known = torch.zeros_like(letters)
        if letters.shape[1] > self.position:
            known[:, self.position] = (letters[:, self.position - 7] + 1) % 16
        return torch.nn.functional.one_hot(known, 16).float()


@pytest.mark.parametrize(("position", "last"), [(14, True), (9, False)])
def test_the_last_letter_is_counted_apart(
    position: int, last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(masks, "fit", lambda *_: (Knowing(position), [0.0]))
    found = masks.outcome(masks.Setting("next", "leak"), masks.TASKS, seed=5)
    assert (found["generated_last"] == 100) is last
    assert (found["generated_before"] > 15) is not last
    both = (7 * found["generated_before"] + found["generated_last"]) / 8
    assert found["generated"] == pytest.approx(both)


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


@pytest.mark.parametrize("kind", masks.MASKS)
def test_only_the_causal_model_is_blind_to_the_future(kind: masks.Mask) -> None:
    torch.manual_seed(0)
    task = masks.Copying(letters=5, half=3)
    setting = masks.Setting("next", kind, embed_dim=12)
    model = masks.LanguageModel(setting, task).eval()
    text = task.draw(4, Generator().manual_seed(1))
    other = text.clone()
    other[:, 3:] = (other[:, 3:] + 2) % 5
    unmoved = torch.allclose(model(text)[:, :3], model(other)[:, :3], atol=1e-6)
    assert unmoved is (kind == "causal")


def test_arms_of_a_seed_start_from_the_same_weights() -> None:
    task = masks.Copying(letters=5, half=3, batch_size=4)
    weights = []
    for kind in masks.MASKS:
        setting = masks.Setting("next", kind, steps=0, embed_dim=12)
        model, losses = masks.fit(setting, task, seed=4)
        assert losses == []
        weights.append(torch.cat([p.flatten() for p in model.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert torch.equal(weights[0], weights[2])


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
