"""What a layer does with its parts: mixers side by side, and what passes a part by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from companion.models.atlas import AttentionSpec, FeedForwardSpec, LayerSpec
from companion.models.atlas.mixers.mamba2 import Mamba2Spec
from companion.models.atlas.model import Layer

WIDTH = 12
WINDOW = AttentionSpec(4, 2, 6, window=3)
MAMBA = Mamba2Spec(num_heads=2, head_dim=6, num_groups=1, state_dim=5)


def layer_of(spec: LayerSpec) -> Any:
    return Layer(WIDTH, spec)


def x(length: int = 9) -> torch.Tensor:
    return torch.randn(2, length, WIDTH, generator=torch.Generator().manual_seed(length))


def test_two_mixers_keep_what_each_needs() -> None:
    spec = LayerSpec(MAMBA, None, beside=WINDOW)
    layer = layer_of(spec)
    assert spec.keeps() == MAMBA.keeps() + WINDOW.keeps()
    whole, _ = layer(x())
    _, state = layer(x()[:, :6])
    kept = layer.trim(state)
    assert kept.second.key.shape[-2] == 2
    torch.testing.assert_close(layer(x()[:, 6:], kept)[0], whole[:, 6:])


def test_one_scale_is_for_both_parts() -> None:
    one = LayerSpec(WINDOW, FeedForwardSpec(hidden_dim=8), residual_scale=0.5)
    layer, other = layer_of(one), layer_of(replace(one, residual_scale=(0.5, 0.5)))
    other.load_state_dict(layer.state_dict())
    torch.testing.assert_close(layer(x())[0], other(x())[0])


def test_what_nothing_computes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^beside: got a second mixer"):
        LayerSpec(None, None, beside=WINDOW)
    with pytest.raises(ValueError, match=r"^residual_gate: got one"):
        LayerSpec(WINDOW, None, residual_gate=1.0, carries_norm=True)
