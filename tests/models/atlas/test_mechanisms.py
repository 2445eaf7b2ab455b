"""Mechanisms that no reference shows on short texts, and specifications: in JSON, and refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from bookkit.atlas.rows import load_atlas
from companion.layers.feed_forward import XIELU
from companion.models.atlas import (
    AttentionSpec,
    DifferentialSpec,
    LayerSpec,
    ModelSpec,
    RotarySpec,
    TokenInputSpec,
)
from companion.models.atlas.mixers.softmax import Attention
from companion.models.atlas.plain import from_fields, to_fields

PLAIN = AttentionSpec(num_heads=4, num_kv_heads=2, head_dim=8)
X = torch.randn(2, 12, 16, generator=torch.Generator().manual_seed(0))


def test_length_power_multiplies_queries() -> None:
    attention = Attention(16, replace(PLAIN, length_power=(2.0, 4)))
    torch.manual_seed(1)
    plain = Attention(16, PLAIN)
    attention.load_state_dict(plain.state_dict())
    with torch.no_grad():
        given = attention(X)[0][:, 3]
        plain.query_proj.weight *= (1 + 4 / 4) ** 2  # position 3 is the fourth
        torch.testing.assert_close(given, plain(X)[0][:, 3])


def test_keys_can_be_values() -> None:
    torch.manual_seed(1)
    attention = Attention(16, replace(PLAIN, key_is_value=True, rotary=RotarySpec(width=8)))
    _, memory = attention(X)
    torch.testing.assert_close(memory.key[..., 0, :], memory.value[..., 0, :])  # position 0
    assert not torch.allclose(memory.key[..., 1:, :], memory.value[..., 1:, :])


def test_xielu_goes_through_zero_with_its_slope() -> None:
    x = torch.tensor(0.0, requires_grad=True)
    y = XIELU()(x)
    (slope,) = torch.autograd.grad(y, x)
    assert y.item() == 0.0
    assert slope.item() == pytest.approx(0.5)


def test_what_nothing_computes_is_refused() -> None:
    own = LayerSpec(PLAIN, None, token_input=TokenInputSpec(dim=4))
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: ModelSpec(7, 16, (own, replace(own, shares=0), replace(own, shares=1))),
            "layer 2 has shares=1"),
        (lambda: ModelSpec(7, 16, (own, replace(own, token_input=None))), "token_input"),
        (lambda: LayerSpec(None, None, beside=PLAIN), "beside: got a second mixer"),
        (lambda: LayerSpec(PLAIN, None, residual_gate=1.0, carries_norm=True), "residual_gate"),
        (lambda: DifferentialSpec(4, 2, 8, sinks=True), "sinks"),
        (lambda: Attention(16, PLAIN, shares=True)(X), "memory: got None"),
    ]  # fmt: skip
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()


def test_a_specification_survives_json() -> None:
    for spec in (row.spec for row in load_atlas().rows):
        written = json.loads(json.dumps(to_fields(spec)))
        assert from_fields(written) == spec
    written["layers"][0]["mixer"]["kind"] = "Path"
    with pytest.raises(KeyError, match="Path"):
        from_fields(written)
