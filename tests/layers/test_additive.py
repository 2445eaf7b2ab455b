"""Additive attention against loops over the formula of its paper, and what all memories share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from companion.layers import AdditiveAttention, LuongAttention, MemoryAttention
from tests import oracle
from tests.oracle import as_numpy, assert_matches

B, Q, K, D, E, HIDDEN = 2, 3, 5, 7, 11, 13


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.asarray(np.random.default_rng([seed, *shape]).normal(size=shape))


def inputs(query_dim: int = D, key_dim: int = E) -> tuple[Tensor, Tensor, Tensor]:
    mask = torch.arange(K) < torch.tensor([K, 2])[:, None]
    return draw(B, Q, query_dim), draw(B, K, key_dim, seed=1), mask[:, None]


def test_additive_attention_is_bahdanaus_formula() -> None:
    query, memory, mask = inputs()
    attention = AdditiveAttention(D, E, HIDDEN).double()
    w, u, v = map(as_numpy, (attention.query_weight, attention.key_weight, attention.vector))

    def score(s: Any, h: Any) -> float:
        return math.fsum(
            v[i]
            * math.tanh(
                math.fsum(s[c] * w[c, i] for c in range(D))
                + math.fsum(h[c] * u[c, i] for c in range(E))
            )
            for i in range(HIDDEN)
        )

    logits = oracle.scores(score, as_numpy(query), as_numpy(memory))
    expected = oracle.blend(logits, as_numpy(memory), as_numpy(mask.expand(B, Q, K)))
    keys = attention.project(memory)
    context, weights = attention(query, keys, memory, mask=mask, need_weights=True)
    assert_matches(context, expected[0])
    assert_matches(weights, expected[1])
    assert_matches(attention(query, keys, memory, mask=mask), expected[0])


MAKERS: dict[str, Callable[[], MemoryAttention]] = {
    "additive": lambda: AdditiveAttention(D, E, HIDDEN),
    "dot": lambda: LuongAttention(E, E, score="dot"),
    "general": lambda: LuongAttention(D, E),
    "concat": lambda: LuongAttention(D, E, score="concat", hidden_dim=HIDDEN),
    "local-m": lambda: LuongAttention(D, E, window=1),
    "local-p": lambda: LuongAttention(D, E, score="concat", window=2, predictive=True),
}


def make(kind: str) -> tuple[MemoryAttention, Tensor, Tensor, Tensor]:
    torch.manual_seed(2)
    attention = MAKERS[kind]().double()
    return attention, *inputs(attention.query_dim)


def test_masked_entries_change_nothing_and_get_no_gradient() -> None:
    for kind in MAKERS:
        attention, query, memory, mask = make(kind)
        before = attention(query, attention.project(memory), memory, mask=mask)
        changed = torch.where(mask.mT, memory, 1e3).requires_grad_()
        after = attention(query, attention.project(changed), changed, mask=mask)
        torch.testing.assert_close(before, after)
        (gradient,) = torch.autograd.grad(after.square().sum(), changed)
        assert gradient[1, 2:].abs().sum() == 0
        assert gradient[1, :2].abs().sum() > 0


def test_nothing_to_look_at_gives_zeros_and_finite_gradients() -> None:
    for kind in MAKERS:
        attention, query, memory, _ = make(kind)
        memory.requires_grad_()
        mask = torch.tensor([True, False])[:, None, None].expand(B, 1, K)
        context = attention(query, attention.project(memory), memory, mask=mask)
        assert (context[1] == 0).all()
        assert (context[0] != 0).any()
        leaves = [memory, *attention.parameters()]
        for gradient in torch.autograd.grad(context.square().sum(), leaves):
            assert gradient.isfinite().all()


@pytest.mark.parametrize("kind", MAKERS)
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    attention, query, memory, mask = make(kind)
    names, weights = zip(*attention.named_parameters(), strict=True) if kind != "dot" else ((), ())
    leaves = [query, memory, *(weight.detach() for weight in weights)]

    def call(query: Tensor, memory: Tensor, *weights: Tensor) -> Tensor:
        context: Tensor = torch.func.functional_call(
            Whole(attention),
            {f"attention.{name}": weight for name, weight in zip(names, weights, strict=True)},
            (query, memory, mask),
        )
        return context

    leaves = [leaf.clone().requires_grad_() for leaf in leaves]
    assert torch.autograd.gradcheck(call, leaves, fast_mode=True)


class Whole(torch.nn.Module):
    """Projection and attention in one call."""

    def __init__(self, attention: MemoryAttention) -> None:
        super().__init__()
        self.attention = attention

    def forward(self, query: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        context: Tensor = self.attention(query, self.attention.project(memory), memory, mask=mask)
        return context


def test_on_meta_tensors_and_under_autocast() -> None:
    for kind in MAKERS:
        attention, query, memory, mask = make(kind)
        expected = attention(query, attention.project(memory), memory, mask=mask)
        attention, query, memory = attention.float(), query.float(), memory.float()
        with torch.autocast("cpu", torch.bfloat16):
            actual = attention(query, attention.project(memory), memory, mask=mask)
        torch.testing.assert_close(actual.double(), expected, rtol=0.05, atol=0.05)

        attention = attention.to("meta")
        query, memory, mask = (x.to("meta") for x in (query, memory, mask))
        context = attention(query, attention.project(memory), memory, mask=mask)
        assert context.shape == (B, Q, E)


def test_lengths() -> None:
    for kind in MAKERS:
        attention, *_ = make(kind)
        for q, k in ((0, 3), (3, 0), (1, 1), (7, 5)):
            query, memory = draw(B, q, attention.query_dim), draw(B, k, E)
            attended = attention(query, attention.project(memory), memory, need_weights=True)
            assert attended.output.shape == (B, q, E)
            assert attended.weights.shape == (B, q, k)
            assert attended.output.isfinite().all()
