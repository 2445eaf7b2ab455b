"""The study of explanation: what its numbers count, and what its arms share."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from companion.data.pairs import Pair
from experiments.explanation import study as explanation

pytestmark = pytest.mark.slow

MASK = torch.arange(5) < torch.tensor([5, 3, 4])[:, None]
OWN = torch.tensor(
    [[0.6, 0.1, 0.1, 0.1, 0.1], [0.2, 0.7, 0.1, 0.0, 0.0], [0.1, 0.1, 0.2, 0.6, 0.0]],
    dtype=torch.float64,
)


def places(weights: Tensor) -> Tensor:
    """Say where the weights are: erasing the largest one flips, whatever it was."""
    return weights


def nothing(weights: Tensor) -> Tensor:
    """Say the same, whatever the weights are."""
    return torch.tensor([0.9, 0.1], dtype=torch.float64).expand(len(weights), 2)


def test_replaced_counts_flips() -> None:
    found = explanation.replaced(places, OWN, MASK, 3, explanation.TESTS)
    assert (found["flips/top"], found["flips/other"]) == (100, 0)
    assert found["distance/permuted"] > 0.2
    still = explanation.replaced(nothing, OWN, MASK, 3, explanation.TESTS)
    assert set(still.values()) == {0.0}
    rows = torch.tensor([False, True, False])
    one = explanation.replaced(places, OWN, MASK, 3, explanation.TESTS, rows)
    assert one["flips/uniform"] == 100
    assert found["flips/uniform"] == pytest.approx(200 / 3)


def test_agreement_averages_over_rows_that_count() -> None:
    effects = OWN.clone()
    effects[2] = OWN[2].flip(0)
    found = explanation.agreement(OWN, effects, MASK)
    assert found["top_agreement"] == pytest.approx(200 / 3)
    rows = torch.tensor([True, True, False])
    assert explanation.agreement(OWN, effects, MASK, rows) == {"tau": 1.0, "top_agreement": 100.0}


def test_an_adversary_is_scored_by_its_divergence() -> None:
    tests = replace(explanation.TESTS, steps=30)
    free = explanation.searched(nothing, OWN, MASK, 3, tests)
    bound = explanation.searched(places, OWN, MASK, 3, tests)
    assert free["adversary/divergence"] > 0.3
    assert bound["adversary/divergence"] < 0.01
    assert bound["adversary/other_top"] == 0


def test_flips_are_sorted_by_the_gold_links() -> None:
    pair = Pair(
        ("the", "red", "house"),
        ("la", "casa", "roja"),
        frozenset({(0, 0), (1, 2), (2, 1)}),
        classes=("determiner", "noun", "adjective"),
    )
    own = torch.tensor([[[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.8, 0.1], [1.0, 0.0, 0.0]]])
    found = explanation.by_place(torch.tensor([[True, False, True, True]]), own, [pair])
    assert found == {
        "flips/top/class/adjective": 100.0, "flips/top/class/determiner": 100.0,
        "flips/top/class/noun": 0.0, "flips/top/hit": 100.0, "flips/top/miss": 0.0,
    }  # fmt: skip
    assert explanation.error_rate(own, [pair]) == pytest.approx(100 / 3)
