"""The study of masks, padding and precision: what its arms are and what it measures."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
from torch import Generator, Tensor

from companion.pages.notebook import load_result
from experiments import numerics


def test_the_learning_rates_were_chosen_inside_their_grid() -> None:
    """A best rate at an end of the grid would leave the comparison open."""
    grid = numerics.LEARNING_RATES
    for setting in numerics.reported().values():
        assert grid[0] < setting.learning_rate < grid[-1]


def test_the_recorded_settings_are_the_tuned_ones() -> None:
    recorded = load_result("numerics").config["arms"]
    for name, arm in numerics.reported().items():
        assert numerics.Setting(**recorded[name]) == arm


def test_arms_differ_by_rule_and_mask_alone() -> None:
    arms = numerics.arms()
    assert set(arms) == {f"{r}/{m}" for r, m in product(("same", "next"), numerics.MASKS)}
    for name, arm in arms.items():
        assert f"{arm.rule}/{arm.mask}" == name
        assert (arm.steps, arm.embed_dim, arm.num_heads) == (400, 64, 4)


def test_the_second_half_follows_from_the_first() -> None:
    for rule, successor in (("same", 0), ("next", 1)):
        task = numerics.Copying(rule, letters=5, half=7)  # type: ignore[arg-type]
        text = task.draw(50, Generator().manual_seed(3))
        assert text.shape == (50, 14)
        assert torch.equal(text[:, 7:], (text[:, :7] + successor) % 5)
        assert set(text.flatten().tolist()) == set(range(5))


def test_the_masks_by_loops() -> None:
    for kind in numerics.MASKS:
        mask = numerics.mask_of(kind, 5)
        for i, j in product(range(5), range(5)):
            allowed = {"causal": j <= i, "leak": j <= i + 1, "inverted": j > i}[kind]
            assert bool(mask[i, j]) is allowed


@pytest.mark.parametrize("kind", numerics.MASKS)
def test_only_the_causal_model_is_blind_to_the_future(kind: numerics.Mask) -> None:
    torch.manual_seed(0)
    task = numerics.Copying(letters=5, half=3)
    setting = numerics.Setting("next", kind, embed_dim=12)
    model = numerics.LanguageModel(setting, task).eval()
    text = task.draw(4, Generator().manual_seed(1))
    other = text.clone()
    other[:, 3:] = (other[:, 3:] + 2) % 5
    unmoved = torch.allclose(model(text)[:, :3], model(other)[:, :3], atol=1e-6)
    assert unmoved is (kind == "causal")


def test_arms_of_a_seed_start_from_the_same_weights() -> None:
    task = numerics.Copying(letters=5, half=3, batch_size=4)
    weights = []
    for kind in numerics.MASKS:
        setting = numerics.Setting("next", kind, steps=0, embed_dim=12)
        model, losses = numerics.fit(setting, task, seed=4)
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
    text = numerics.Copying("next", letters=5, half=3).draw(9, Generator().manual_seed(2))
    assert torch.equal(numerics.generate(Successor(), text[:, :3], 3), text)
    longer = numerics.generate(Successor(), text, 3)
    assert torch.equal(longer[:, 6:], (text[:, 3:] + 1) % 5)


def test_padding_moves_the_output_as_the_formula_says() -> None:
    """Zeros have score 0 and value 0: what is left is the share of the words."""
    padding = numerics.Padding(sentences=3, words=4, embed_dim=6, pads=(5,))
    found = numerics.padding_moves(padding, seed=9)
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


def test_distance_is_relative() -> None:
    wanted = torch.tensor([3.0, 4.0])
    assert numerics.distance(wanted, wanted) == 0
    assert numerics.distance(wanted + torch.tensor([0.0, 1.0]), wanted) == pytest.approx(0.2)


def one_row(*scores: float, dtype: torch.dtype = torch.float16) -> tuple[Tensor, Tensor, Tensor]:
    """Return query, keys and values of one query with those scores; values are the identity."""
    query = torch.ones(1, 1, dtype=dtype)
    key = torch.tensor(scores, dtype=dtype)[:, None]
    return query, key, torch.eye(len(scores), dtype=dtype)


def test_every_step_is_rounded() -> None:
    """By hand: exp(-1) is 0.36788, in bfloat16 0.3671875; the sum 1.3671875 becomes 1.3671875."""
    found = numerics.stepwise(*one_row(1.0, 0.0, dtype=torch.bfloat16))
    first, second = (
        float(torch.tensor(x).bfloat16()) for x in (1 / 1.3671875, 0.3671875 / 1.3671875)
    )
    assert found.tolist() == [[first, second]]


def test_the_textbook_overflows_in_two_ways() -> None:
    assert numerics.stepwise(*one_row(12.0, 0.0), safe=False).isnan().any()
    many = numerics.stepwise(*one_row(*[10.5] * 3), safe=False)  # each fits, the sum does not
    assert many.tolist() == [[0.0, 0.0, 0.0]]
    assert numerics.stepwise(*one_row(12.0, 0.0)).isfinite().all()


def test_a_running_sum_stops_growing() -> None:
    """In bfloat16, 256 + 1 is 256: of 1024 equal keys each gets a weight four times too large."""
    query, key, _ = one_row(*[0.0] * 1024, dtype=torch.bfloat16)
    value = torch.ones(1024, 1, dtype=torch.bfloat16)
    assert numerics.stepwise(query, key, value).item() == 1
    assert numerics.stepwise(query, key, value, running=True).item() == 4


def test_errors_compare_all_ways_with_float64() -> None:
    draws = numerics.Draws(queries=30, width=16)
    found = numerics.errors(draws, "bfloat16", 200, 2.0, seed=3)
    assert found["definition/ratio"] == pytest.approx(1, abs=0.01)
    assert 1 <= found["companion/ratio"] < 1.6
    assert found["companion/ratio"] < found["stepwise/ratio"] <= found["running/ratio"]
    assert found["stepwise/ratio"] == found["stepwise/error"] / found["rounding/error"]
    assert 0.1 < found["rounding/error"] < 0.25
    assert found["lost"] == 0
    assert numerics.errors(draws, "float16", 200, 8.0, seed=3)["lost"] > 90


def test_the_leak_of_a_late_softcap() -> None:
    """Forbidden keys have the score -c; the allowed ones are squashed."""
    found = numerics.leaked(3.0, 5, seed=2, queries=7, keys=4)
    generator = Generator().manual_seed(2)
    query = torch.randn(7, 64, generator=generator).double()
    key = torch.randn(9, 64, generator=generator).double()
    scores = 3 * torch.tanh(query @ key[:4].T / 8 / 3)
    bad = 5 * math.exp(-3)
    wanted = 100 * float((bad / (bad + scores.exp().sum(-1))).mean())
    assert found == pytest.approx(wanted, rel=1e-5)
    assert numerics.leaked(50.0, 5, seed=2, queries=7, keys=4) < 1e-15
