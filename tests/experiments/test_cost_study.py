"""The study of costs: what it times is what it counts, and what it says is what it measured."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from companion.cost import Roofline, measure_flops, step_cost
from experiments.cost import study as cost

pytestmark = pytest.mark.slow

SMALL = cost.Growth(8, 2, 3, (16, 32, 64), 16, (64,))
TINY = cost.Writing(8, 2, 2, 11, (1, 2), ((4, 2),), 2, 3)


def test_the_exact_mixers_compute_the_same() -> None:
    calls: Any = cost.mixers(SMALL, 37, 5)
    generator = torch.Generator().manual_seed(5)
    query, key, value = torch.randn(3, 1, 2, 37, 4, generator=generator)
    wanted = F.scaled_dot_product_attention(query, key, value)
    for name in ("textbook", "fused", "tiled"):
        torch.testing.assert_close(calls[name](), wanted)
    near = (torch.arange(37)[:, None] - torch.arange(37)).abs() <= 3
    banded = F.scaled_dot_product_attention(query, key, value, near)
    torch.testing.assert_close(calls["window"](), banded)
    mapped_query, mapped_key = F.elu(query) + 1, F.elu(key) + 1
    scores = mapped_query @ mapped_key.mT
    torch.testing.assert_close(calls["linear"](), scores / scores.sum(-1, keepdim=True) @ value)
    assert calls["recurrent"]().shape == (1, 37, 8)


@pytest.mark.parametrize("n", [16, 100])
def test_what_is_timed_is_what_is_counted(n: int) -> None:
    counted = cost.flops_of(SMALL, n)
    calls = cost.mixers(SMALL, n, 5) | cost.parts(SMALL, n, 5)
    with torch.no_grad():
        found = {name: measure_flops(call) for name, call in calls.items()}
    assert found == counted


def test_times_cross_between_the_lengths_at_which_their_order_changes() -> None:
    other = {n: 100.0 * n for n in (10, 100, 1000, 10_000)}
    for exponent, scale, wanted in ((2.0, 1.0, 100.0), (2.0, 0.2, 500.0), (3.0, 1.0, 10.0)):
        rising = {n: scale * n**exponent for n in other}
        assert cost.crossed(list(other), rising, other) == pytest.approx(wanted)
    assert cost.crossed([10, 100], {10: 1.0, 100: 2.0}, other) == 100.0
    assert cost.crossed([10, 100], {10: 1e4, 100: 1e5}, other) == 10.0


def test_growth_is_made_of_its_times() -> None:
    found = cost.growth_of(SMALL, 3, rounds=1)
    for name in ("textbook", "block", "recurrent"):
        first, second, third = (found[f"time/{name}/{n}"] for n in SMALL.lengths)
        assert found[f"doubling/{name}/32"] == pytest.approx(third / second)
        assert found[f"exponent/{name}"] == pytest.approx(math.log(third / first) / math.log(4))
        counted = cost.flops_of(SMALL, 16)[name]
        assert found[f"rate/{name}/16"] == pytest.approx(counted / first / 1e6)
    # e (8) wide, hidden 4 e: 16 n e^2 operations beside 4 n^2 e, equal at n = 4 e.
    assert found["crossing/fused/relative"] == pytest.approx(found["crossing/fused"] / 32)


def test_a_step_writes_on_from_what_was_filled() -> None:
    model = cost.writer(TINY, 3)
    step = cost.Writer(model, cost.filled(model, 2, 4, 3))
    for _ in range(3):
        step()
    assert step.state.caches is not None
    assert [cache.length for cache in step.state.caches] == [7, 7]
    with pytest.raises(ValueError, match="max_len"):
        step()


def test_rates_are_shares_of_the_roof() -> None:
    roof = Roofline(flops=1e9, bandwidth=1e8)
    found = cost.writing_of(TINY, 3, roof, rounds=1, steps=3000)
    for b in (1, 2):
        name = f"decode/4/{b}"
        step = step_cost(TINY.config, cached=4, batch_size=b)
        seconds = found[f"{name}/time"] * b / 1e3
        assert found[f"{name}/of_peak"] == pytest.approx(100 * step.flops / seconds / 1e9)
        assert found[f"{name}/of_memory"] == pytest.approx(100 * step.moved / seconds / 1e8)
        assert found[f"{name}/of_roof"] == pytest.approx(
            max(found[f"{name}/of_peak"], found[f"{name}/of_memory"])
        )
    assert found["decode/4/1/share"] == 1.0
    assert measure_flops(cost.trainer(TINY, 3)) == cost.training_cost(TINY)
    share = found["train/time"] / found["decode/4/1/time"]
    assert found["train/to_decode"] == pytest.approx(share)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="Linux alone")
def test_memory_is_that_of_whole_matrices() -> None:
    growth = replace(SMALL, memory_lengths=(2100, 2900))
    found = cost.memory_of(growth, 3)
    assert 1.9 < found["peak/textbook/matrices"] < 3.3
    assert found["peak/tiled/matrices"] < 0.5
    assert found["peak/textbook/exponent"] == pytest.approx(2.0, abs=0.15)
