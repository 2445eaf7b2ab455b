"""Additive and Luong attention against loops over the formulas of their papers."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from companion.layers import AdditiveAttention, LuongAttention

B, Q, K, D, V, HIDDEN = 2, 3, 5, 7, 11, 13


def inputs(query_dim: int = D, key_dim: int = V) -> tuple[Tensor, Tensor, Tensor]:
    torch.manual_seed(1)
    lengths = torch.tensor([K, 2])
    mask = (torch.arange(K) < lengths[:, None])[:, None]
    return (
        torch.randn(B, Q, query_dim, dtype=torch.float64),
        torch.randn(B, K, key_dim, dtype=torch.float64),
        mask,
    )


def loop(score, query: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[no-untyped-def]
    """One sentence, one query and one key at a time."""
    context = torch.zeros(B, Q, memory.shape[-1], dtype=torch.float64)
    weights = torch.zeros(B, Q, K, dtype=torch.float64)
    for b in range(B):
        for q in range(Q):
            allowed = [k for k in range(K) if bool(mask[b, 0, k])]
            powers = [math.exp(score(query[b, q], memory[b, k])) for k in allowed]
            for k, power in zip(allowed, powers, strict=True):
                weights[b, q, k] = power / sum(powers)
                context[b, q] += weights[b, q, k] * memory[b, k]
    return context, weights


def test_additive_attention_is_bahdanaus_formula() -> None:
    query, memory, mask = inputs()
    attention = AdditiveAttention(D, V, HIDDEN).double()
    w, u, v = (p.detach() for p in (attention.query_weight, attention.key_weight, attention.vector))

    def score(s: Tensor, h: Tensor) -> float:
        return sum(
            float(v[i]) * math.tanh(float(s @ w[:, i]) + float(h @ u[:, i])) for i in range(HIDDEN)
        )

    context, weights = attention(
        query, attention.project(memory), memory, mask=mask, need_weights=True
    )
    expected = loop(score, query, memory, mask)
    torch.testing.assert_close(context, expected[0])
    torch.testing.assert_close(weights, expected[1])


def test_general_attention_is_luongs_formula() -> None:
    query, memory, mask = inputs()
    attention = LuongAttention(D, V, score="general").double()
    assert attention.weight is not None

    def score(s: Tensor, h: Tensor) -> float:
        assert attention.weight is not None
        return float(s @ attention.weight @ h)

    context, weights = attention(
        query, attention.project(memory), memory, mask=mask, need_weights=True
    )
    expected = loop(score, query, memory, mask)
    torch.testing.assert_close(context, expected[0])
    torch.testing.assert_close(weights, expected[1])


def test_dot_attention_has_no_weights_to_learn() -> None:
    query, memory, mask = inputs(key_dim=D)
    attention = LuongAttention(D, D, score="dot")
    assert list(attention.parameters()) == []
    context = attention(query, attention.project(memory), memory, mask=mask)
    expected, _ = loop(lambda s, h: float(s @ h), query, memory, mask)
    torch.testing.assert_close(context, expected)


def make(kind: str) -> AdditiveAttention | LuongAttention:
    torch.manual_seed(2)
    if kind == "additive":
        return AdditiveAttention(D, D, HIDDEN).double()
    return LuongAttention(D, D, score="dot" if kind == "dot" else "general").double()


@pytest.mark.parametrize("kind", ["additive", "dot", "general"])
def test_masked_places_change_nothing_and_get_no_gradient(kind: str) -> None:
    query, memory, mask = inputs(key_dim=D)
    attention = make(kind)
    before = attention(query, attention.project(memory), memory, mask=mask)
    changed = torch.where(mask.mT, memory, 1e3).requires_grad_()
    after = attention(query, attention.project(changed), changed, mask=mask)
    torch.testing.assert_close(before, after)
    after.square().sum().backward()
    assert changed.grad is not None
    assert changed.grad[1, 2:].abs().sum() == 0
    assert changed.grad[1, :2].abs().sum() > 0


@pytest.mark.parametrize("kind", ["additive", "general"])
def test_gradients_reach_every_weight(kind: str) -> None:
    query, memory, mask = inputs(key_dim=D)
    attention = make(kind)

    loss = attention(query, attention.project(memory), memory, mask=mask).square().sum()
    loss.backward()
    for name, parameter in attention.named_parameters():
        assert parameter.grad is not None, name
        index = tuple(0 for _ in parameter.shape)
        step = 1e-6
        with torch.no_grad():
            parameter[index] += step
            up = attention(query, attention.project(memory), memory, mask=mask).square().sum()
            parameter[index] -= 2 * step
            down = attention(query, attention.project(memory), memory, mask=mask).square().sum()
            parameter[index] += step
        torch.testing.assert_close(
            parameter.grad[index], (up - down) / (2 * step), rtol=1e-5, atol=1e-7
        )


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: AdditiveAttention(0, 3, 5), "query_dim: got 0"),
        (lambda: AdditiveAttention(3, 5, 0), "hidden_dim: got 0"),
        (lambda: LuongAttention(3, 5, score="dot"), "key_dim: got 5, wanted query_dim, 3"),
        (lambda: LuongAttention(3, 5, score="concat"), "score: got 'concat'"),  # type: ignore[arg-type]
    ],
)
def test_wrong_shapes_are_refused(build, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        build()
