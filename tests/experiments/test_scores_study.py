"""The study of scores: what its arms are, what is tuned, and what it measures."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Generator

from experiments.scores import study as scores

pytestmark = pytest.mark.slow


def test_a_scale_is_a_start_and_a_rate() -> None:
    """Both made small without the scale: the losses are those with it."""
    rates: dict[scores.Optimizer, float] = {"adam": 0.01, "momentum": 0.1}
    for optimizer, rate in rates.items():
        plain = scores.Setting(optimizer, 48, "none", learning_rate=rate, steps=25)
        small = replace(plain, start="small", rate="small")
        with_scale, without = (
            scores.fit(setting, scores.TASK, seed=3)[1]
            for setting in (replace(plain, scale="root"), small)
        )
        assert without == pytest.approx(with_scale, abs=1e-3)
        assert scores.fit(plain, scores.TASK, seed=3)[1] != pytest.approx(with_scale, abs=0.02)


def test_a_batch_asks_for_keys_that_are_there() -> None:
    """Without noise a query is its key, all keys have one length, and the answer is its class."""
    task = scores.Task(noise=0.0)
    queries, keys, values, answers = task.batch(Generator().manual_seed(5))
    found = (queries @ keys.mT).argmax(-1)
    assert keys.square().sum(-1) == pytest.approx(torch.full((32, 16), 16.0), rel=1e-5)
    assert torch.equal(values.argmax(-1).take_along_dim(found, 1), answers)
    assert torch.equal(queries, keys.take_along_dim(found[..., None], 1))


def test_before_training_is_what_plain_formulas_give() -> None:
    """One query, its gradient from the Jacobian written out."""
    start = scores.Start(queries=1, keys=5, value_width=3, at_once=1)
    found = scores.before_training(4, start, seed=2)
    generator = Generator().manual_seed(2)
    query, key, value, above = (
        torch.randn(shape, generator=generator).double() for shape in ((1, 4), (5, 4), (5, 3), (3,))
    )
    above = above / above.norm()
    for name, scale in (("none", 1.0), ("root", 0.5), ("width", 0.25)):
        weights = torch.softmax(scale * (key @ query[0]), 0)
        jacobian = torch.diag(weights) - torch.outer(weights, weights)
        at_query = scale * key.T @ jacobian @ value @ above
        assert found[f"{name}/trace/mean"] == pytest.approx(float(jacobian.trace()), rel=1e-5)
        assert found[f"{name}/largest/mean"] == pytest.approx(float(weights.max()), rel=1e-5)
        entropy = -sum(float(a) * math.log(float(a)) for a in weights)
        assert found[f"{name}/entropy/mean"] == pytest.approx(entropy, rel=1e-5)
        assert found[f"{name}/query_gradient/mean"] == pytest.approx(
            float(at_query.norm()), rel=1e-5
        )
        assert found[f"{name}/value_gradient/mean"] == pytest.approx(
            float(weights.norm()), rel=1e-5
        )
