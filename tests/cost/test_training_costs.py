"""Passes of training against what they do, and what AdamW keeps against what is there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from companion.cost import (
    LiveBytes,
    count_flops,
    count_parameters,
    feed_forward_flops,
    measure_flops,
    training_bytes,
    training_flops,
)
from companion.layers import FeedForward
from companion.models.transformer import LanguageModel
from tests.transformers import config_of


@pytest.mark.parametrize("variant", ["gpt2", "llama"])
def test_a_step_of_a_language_model(variant: str) -> None:
    config, ids = config_of(variant), torch.ones(3, 8, dtype=torch.int64)
    model: Any = LanguageModel(config)
    optimizer = torch.optim.AdamW(model.parameters())
    forward = count_flops(config, "language_model", length=7, batch_size=3).total  # 7 of 8 read

    def step() -> None:
        model.loss(ids).backward()
        optimizer.step()

    assert measure_flops(lambda: model.loss(ids)) == forward
    assert measure_flops(step) == training_flops(forward)


def test_recomputing_costs_one_more_pass() -> None:
    layer: Any = FeedForward(5, 7)
    x = torch.ones(3, 5, requires_grad=True)
    forward = feed_forward_flops(5, 7, tokens=3)
    kept = measure_flops(lambda: layer(x).sum().backward())
    with set_checkpoint_early_stop(False):  # else the last product is left out
        again = measure_flops(lambda: checkpoint(layer, x, use_reentrant=False).sum().backward())
    assert kept == training_flops(forward)
    assert again == training_flops(forward, recomputed=True)


def test_what_adamw_keeps() -> None:
    for dtype in (torch.float32, torch.float64):
        config, ids = config_of("llama"), torch.ones(3, 8, dtype=torch.int64)
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with LiveBytes() as count:
                model: Any = LanguageModel(config)
            parameters = count_parameters(config, "language_model").total
            tensors = len(list(model.parameters()))
            result = training_bytes(parameters, tensors=tensors, dtype=dtype)
            assert count.live == result.weights
            with torch.no_grad():
                model.loss(ids)  # from now on the angles of rotary are there, for all models
            with LiveBytes() as count:
                model.loss(ids).backward()
            assert count.live == result.gradients
            optimizer = torch.optim.AdamW(model.parameters())
            with LiveBytes() as count:
                optimizer.step()
            assert count.live == result.moments
        finally:
            torch.set_default_dtype(before)
