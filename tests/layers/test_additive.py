"""Additive attention against loops over the formula of its paper, and what all memories share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from torch import Tensor

from companion.layers import AdditiveAttention, LuongAttention, MemoryAttention
from tests import oracle
from tests.oracle import as_numpy, assert_matches

if TYPE_CHECKING:
    from typing import assert_type

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


@pytest.mark.parametrize("kind", MAKERS)
def test_masked_entries_change_nothing_and_get_no_gradient(kind: str) -> None:
    attention, query, memory, mask = make(kind)
    before = attention(query, attention.project(memory), memory, mask=mask)
    changed = torch.where(mask.mT, memory, 1e3).requires_grad_()
    after = attention(query, attention.project(changed), changed, mask=mask)
    torch.testing.assert_close(before, after)
    (gradient,) = torch.autograd.grad(after.square().sum(), changed)
    assert gradient[1, 2:].abs().sum() == 0
    assert gradient[1, :2].abs().sum() > 0


@pytest.mark.parametrize("kind", MAKERS)
def test_nothing_to_look_at_gives_zeros_and_finite_gradients(kind: str) -> None:
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
        return self.attention(query, self.attention.project(memory), memory, mask=mask)


@pytest.mark.parametrize("kind", ["additive", "dot", "general", "concat"])
def test_moving_the_memory_moves_the_weights(kind: str) -> None:
    attention, query, memory, mask = make(kind)
    order = torch.tensor([3, 0, 4, 1, 2])
    both = [
        attention(query, attention.project(x), x, mask=m, need_weights=True)
        for x, m in ((memory, mask), (memory[:, order], mask[..., order]))
    ]
    torch.testing.assert_close(both[1][0], both[0][0])
    torch.testing.assert_close(both[1][1], both[0][1][..., order])


@pytest.mark.parametrize("kind", MAKERS)
def test_weights_are_kept_in_a_state_dict(kind: str) -> None:
    attention, query, memory, mask = make(kind)
    torch.manual_seed(3)
    other = MAKERS[kind]().double()
    other.load_state_dict(attention.state_dict())
    one, two = (x(query, x.project(memory), memory, mask=mask) for x in (attention, other))
    assert torch.equal(one, two)


@pytest.mark.parametrize("kind", MAKERS)
def test_on_meta_tensors_and_under_autocast(kind: str) -> None:
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


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(("q", "k"), [(0, 3), (3, 0), (1, 1), (7, 5)])
def test_lengths(kind: str, q: int, k: int) -> None:
    attention, *_ = make(kind)
    query, memory = draw(B, q, attention.query_dim), draw(B, k, E)
    context, weights = attention(query, attention.project(memory), memory, need_weights=True)
    assert (context.shape, weights.shape) == ((B, q, E), (B, q, k))
    assert context.isfinite().all()


additive = AdditiveAttention(D, E, HIDDEN).double()
query, memory, mask = inputs()
keys = additive.project(memory)
WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "query_dim": (lambda: AdditiveAttention(0, 3, 5), ValueError, "query_dim: got 0, wanted at le"),
    "key_dim": (
        lambda: AdditiveAttention(3, -1, 5),
        ValueError,
        "key_dim: got -1, wanted at least",
    ),
    "hidden_dim": (lambda: AdditiveAttention(3, 5, 0), ValueError, "hidden_dim: got 0, wanted at"),
    "float": (
        lambda: AdditiveAttention(3.0, 5, 7),  # type: ignore[arg-type]
        TypeError,
        "query_dim: got float, wanted a whole number",
    ),
    "memory width": (
        lambda: additive.project(memory[..., :3]),
        ValueError,
        "memory: got key_dim = 3 in shape (2, 5, 3), wanted 11 as in the AdditiveAttention",
    ),
    "a query a sentence": (
        lambda: additive(query[:, 0], keys, memory),
        ValueError,
        "query: got shape (2, 7), wanted (b, q, query_dim)",
    ),
    "query width": (
        lambda: additive(query[..., :3], keys, memory),
        ValueError,
        "query: got query_dim = 3 in shape (2, 3, 3), wanted 7 as in the AdditiveAttention",
    ),
    "not projected": (
        lambda: additive(query, memory, memory),
        ValueError,
        "keys: got projected_dim = 11 in shape (2, 5, 11), wanted 13 as in the AdditiveAttention",
    ),
    "rank": (
        lambda: additive(query[0, 0], keys, memory),
        ValueError,
        "query: got shape (7,), wanted (b, q, query_dim)",
    ),
    "keys": (
        lambda: additive(query, keys, memory[:, :3]),
        ValueError,
        "memory: got k = 3 in shape (2, 3, 11), wanted 5 as in keys",
    ),
    "batch": (
        lambda: additive(query, draw(3, K, HIDDEN), draw(3, K, E)),
        ValueError,
        "keys: got b = 3 in shape (3, 5, 13), wanted 2 as in query",
    ),
    "mask": (
        lambda: additive(query, keys, memory, mask=mask[..., :3]),
        ValueError,
        "mask: got k = 3 in shape (2, 1, 3), wanted 5 as in keys: a mask covers every key",
    ),
    "mask dtype": (
        lambda: additive(query, keys, memory, mask=mask.int()),
        TypeError,
        "mask: got dtype torch.int32, wanted bool (True = may attend)",
    ),
    "dtype": (
        lambda: additive(query.float(), keys, memory),
        TypeError,
        "query: got dtype torch.float32, wanted torch.float64, the layer's",
    ),
    "integers": (
        lambda: additive(query, keys, memory.long()),
        TypeError,
        "memory: got dtype torch.int64, wanted a real floating dtype",
    ),
    "device": (
        lambda: additive(query, keys.to("meta"), memory),
        ValueError,
        "keys: got device meta, wanted cpu, where the layer is",
    ),
    "library": (
        lambda: additive(query.numpy(), keys, memory),  # type: ignore[call-overload]
        TypeError,
        "query: got an array of numpy, wanted a tensor",
    ),
    "list": (
        lambda: additive(query, keys, [1.0]),  # type: ignore[call-overload]
        TypeError,
        "memory: got list, wanted a tensor",
    ),
    "no query": (
        lambda: additive(None, keys, memory),  # type: ignore[call-overload]
        TypeError,
        "query: got NoneType, wanted a tensor",
    ),
    "no memory": (
        lambda: additive.project(None),  # type: ignore[arg-type]
        TypeError,
        "memory: got NoneType, wanted a tensor",
    ),
    "need_weights": (
        lambda: additive(query, keys, memory, need_weights="no"),  # type: ignore[call-overload]
        TypeError,
        "need_weights: got 'no', wanted True or False",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls_say_what_is_wrong(case: str) -> None:
    call, error, message = WRONG[case]
    with pytest.raises(error, match="^" + re.escape(message)):
        call()


if TYPE_CHECKING:

    def overloads_tell_type_checkers_what_comes_back(x: Tensor, layer: AdditiveAttention) -> None:
        assert_type(layer(x, x, x), Tensor)
        assert_type(layer(x, x, x, mask=x, need_weights=True), tuple[Tensor, Tensor])
