"""The study of the first gradients: its numbers against the definition, one query at a time."""

from __future__ import annotations

import pytest
import torch

from companion import attend, masked_softmax, scaled_dot_score
from experiments.first_gradients import study as first_gradients
from experiments.scores.study import Start

pytestmark = pytest.mark.slow


def by_hand(width: int, start: Start, seed: int, scale: float) -> list[float]:
    """Return the length of the gradient at each query, by autograd of the definitions."""
    generator = torch.Generator().manual_seed(seed)
    lengths: list[float] = []
    for _ in range(start.queries // start.at_once):
        query, key, value, above = (
            torch.randn(start.at_once, *shape, generator=generator)
            for shape in (
                (1, width),
                (start.keys, width),
                (start.keys, start.value_width),
                (1, start.value_width),
            )
        )
        above = above / above.norm(dim=-1, keepdim=True)
        for one in range(start.at_once):
            q = query[one].clone().requires_grad_()
            scores = scaled_dot_score(q, key[one], scale=scale)
            context = attend(masked_softmax(scores), value[one])
            (gradient,) = torch.autograd.grad((context * above[one]).sum(), q)
            lengths.append(float(gradient.norm()))
    return lengths


def test_measures_are_those_of_the_definition() -> None:
    start = Start(queries=15, keys=5, value_width=3, at_once=5)
    found = dict(first_gradients.measures(16, start, seed=4))
    lengths = {"none": by_hand(16, start, 4, 1.0), "root": by_hand(16, start, 4, 0.25)}
    for name, expected in lengths.items():
        column = torch.tensor(expected)
        assert found[f"{name}/median"] == pytest.approx(float(column.median()), rel=1e-4)
        assert found[f"{name}/mean"] == pytest.approx(float(column.mean()), rel=1e-4)
    bound = first_gradients.STARVED * sorted(lengths["root"])[7]
    share = sum(length < bound for length in lengths["none"]) / 15
    assert found["starved"] == pytest.approx(100 * share)
