"""The study of narrow numbers: what it measures."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Generator, Tensor

from experiments.numerics import study as numerics

pytestmark = pytest.mark.slow


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
