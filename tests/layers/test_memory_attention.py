"""Additive, Luong's and local attention against loops over the formulas of their papers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from companion.layers import AdditiveAttention, LuongAttention, MemoryAttention
from tests import oracle
from tests.layers.test_multi_head import draw
from tests.oracle import as_numpy, assert_matches

B, Q, K, D, E, HIDDEN = 2, 3, 11, 5, 7, 13
LENGTHS = [K, 6]


def inputs(query_dim: int = D, q: int = Q) -> tuple[Tensor, Tensor, Tensor]:
    mask = torch.arange(K) < torch.tensor(LENGTHS)[:, None]
    return draw(B, q, query_dim), draw(B, K, E, seed=1), mask[:, None]


def logits(attention: Any, query: Tensor, memory: Tensor) -> Any:
    """The scores of Bahdanau's appendix or Luong's section 3.1, one query and entry at a time."""
    arrays = {name: as_numpy(weight) for name, weight in attention.named_parameters()}

    def score(s: Any, h: Any) -> float:
        if "query_weight" in arrays:
            joined = np.concatenate([s, h])
            weight = np.concatenate([arrays["query_weight"], arrays["key_weight"]])
        elif "vector" in arrays:
            joined, weight = np.concatenate([s, h]), arrays["weight"]
        elif "weight" in arrays:
            weight = arrays["weight"]
            return math.fsum(math.fsum(s * weight[:, c]) * h[c] for c in range(len(h)))
        else:
            return math.fsum(s * h)
        v = arrays["vector"]
        return math.fsum(v[i] * math.tanh(math.fsum(joined * weight[:, i])) for i in range(len(v)))

    return oracle.scores(score, as_numpy(query), as_numpy(memory))


def check(
    attention: MemoryAttention,
    allowed: Callable[[int, int, int], bool],
    factor: Callable[[int, int, int], float] | None = None,
    *,
    q: int = Q,
    masked: bool = True,
    **options: Any,
) -> None:
    """Hold a layer against loops that ask for every b, i, j whether it counts, and how much."""
    query, memory, mask = inputs(attention.query_dim, q)
    shape = B, q, K
    near = np.array([allowed(*position) for position in np.ndindex(*shape)]).reshape(shape)
    shares = None
    if factor is not None:
        shares = np.array([factor(*position) for position in np.ndindex(*shape)]).reshape(shape)
    expected = oracle.blend(
        logits(attention, query, memory), as_numpy(memory),
        near & as_numpy(mask) if masked else near, shares,
    )  # fmt: skip
    keys = attention.project(memory)
    options |= {"mask": mask} if masked else {}
    context, weights = attention(query, keys, memory, need_weights=True, **options)
    assert_matches(weights, expected[1])
    assert_matches(context, expected[0])
    assert_matches(attention(query, keys, memory, **options), expected[0])


def make(score: Any, **options: Any) -> LuongAttention:
    torch.manual_seed(2)
    return LuongAttention(E if score == "dot" else D, E, score=score, **options).double()


def test_global_attention_is_the_formula_of_its_paper() -> None:
    check(AdditiveAttention(D, E, HIDDEN).double(), lambda b, i, j: True)
    for score, hidden_dim in (("dot", None), ("general", None), ("concat", None), ("concat", 13)):
        check(make(score, hidden_dim=hidden_dim), lambda b, i, j: True)


@pytest.mark.parametrize(
    ("score", "window", "offset"),
    [("dot", 0, 3), ("general", 1, [8, 1]), ("concat", 4, -2), ("general", 2, K + 2)],
)
def test_local_m_looks_around_the_querys_own_place(
    score: str, window: int, offset: int | list[int]
) -> None:
    starts = offset if isinstance(offset, list) else [offset] * B
    given = torch.tensor(offset) if isinstance(offset, list) else offset
    attention = make(score, window=window)
    check(attention, lambda b, i, j: abs(j - (i + starts[b])) <= window, offset=given)


def predicted(attention: LuongAttention, lengths: list[int], q: int = Q) -> Any:
    """Position = S sigmoid(v . tanh(W s)), one query at a time."""
    assert attention.place_weight is not None
    assert attention.place_vector is not None
    query, _, _ = inputs(attention.query_dim, q)
    s, w, v = map(as_numpy, (query, attention.place_weight, attention.place_vector))
    positions = np.zeros((B, q))
    for b, i in np.ndindex(B, q):
        hidden = [math.tanh(math.fsum(s[b, i] * w[:, c])) for c in range(len(v))]
        positions[b, i] = lengths[b] / (1 + math.exp(-math.fsum(hidden * v)))
    return positions


@pytest.mark.parametrize(
    ("score", "window", "masked"),
    [("dot", 1, True), ("general", 3, False), ("general", 3, True), ("concat", 99, True)],
)
def test_local_p_predicts_a_position_and_favours_what_is_near(
    score: str, window: int, masked: bool
) -> None:
    attention = make(score, window=window, predictive=True)
    assert attention.place_vector is not None
    with torch.no_grad():
        attention.place_vector.mul_(4)  # so that the positions are spread
    position = predicted(attention, LENGTHS if masked else [K, K], q=19)
    assert position[0].max() - position[0].min() > 2
    sigma = window / 2
    check(
        attention,
        lambda b, i, j: abs(j - position[b, i]) <= window,
        lambda b, i, j: math.exp(-((j - position[b, i]) ** 2) / (2 * sigma**2)),
        q=19,
        masked=masked,
    )


def test_the_predicted_position_can_be_asked_for() -> None:
    attention = make("general", window=2, predictive=True)
    query, _, _ = inputs()
    position = attention.aligned_position(query, torch.tensor(LENGTHS)[:, None])
    assert_matches(position, predicted(attention, LENGTHS))
    half = attention.bfloat16().aligned_position(query.bfloat16(), 1000)
    assert half.dtype == torch.float32


def test_a_float_mask_counts_what_it_does_not_forbid() -> None:
    attention = make("general", window=2, predictive=True)
    query, memory, mask = inputs()
    keys = attention.project(memory)
    added = torch.where(mask, 0.0, -math.inf)
    for layer in (attention, make("general", window=1)):
        torch.testing.assert_close(
            layer(query, keys, memory, mask=added), layer(query, keys, memory, mask=mask)
        )


# What all of them share

MAKERS: dict[str, Callable[[], MemoryAttention]] = {
    "additive": lambda: AdditiveAttention(D, E, HIDDEN),
    "dot": lambda: LuongAttention(E, E, score="dot"),
    "general": lambda: LuongAttention(D, E),
    "concat": lambda: LuongAttention(D, E, score="concat", hidden_dim=HIDDEN),
    "local-m": lambda: LuongAttention(D, E, window=1),
    "local-p": lambda: LuongAttention(D, E, score="concat", window=2, predictive=True),
}


def of_kind(kind: str) -> tuple[MemoryAttention, Tensor, Tensor, Tensor]:
    torch.manual_seed(2)
    attention = MAKERS[kind]().double()
    return attention, *inputs(attention.query_dim)


def test_masked_entries_change_nothing_and_get_no_gradient() -> None:
    for kind in MAKERS:
        attention, query, memory, mask = of_kind(kind)
        before = attention(query, attention.project(memory), memory, mask=mask)
        changed = torch.where(mask.mT, memory, 1e3).requires_grad_()
        after = attention(query, attention.project(changed), changed, mask=mask)
        torch.testing.assert_close(before, after)
        (gradient,) = torch.autograd.grad(after.square().sum(), changed)
        assert gradient[1, LENGTHS[1] :].abs().sum() == 0
        assert gradient[1, : LENGTHS[1]].abs().sum() > 0


def test_nothing_to_look_at_gives_zeros_and_finite_gradients() -> None:
    for kind in MAKERS:
        attention, query, memory, _ = of_kind(kind)
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
    attention, query, memory, mask = of_kind(kind)

    def call(*_: Tensor) -> Any:  # weights are changed in their places
        return attention(query, attention.project(memory), memory, mask=mask)

    leaves = [query.requires_grad_(), memory.requires_grad_(), *attention.parameters()]
    assert torch.autograd.gradcheck(call, leaves, fast_mode=True)


def test_lengths() -> None:
    for kind in MAKERS:
        attention, *_ = of_kind(kind)
        for q, k in ((0, 3), (3, 0), (1, 1), (7, 5)):
            query, memory = draw(B, q, attention.query_dim), draw(B, k, E)
            attended = attention(query, attention.project(memory), memory, need_weights=True)
            assert attended.output.shape == (B, q, E)
            assert attended.weights.shape == (B, q, k)
            assert attended.output.isfinite().all()


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(ValueError, match="hidden_dim: got 7, wanted None for the general score"):
        LuongAttention(3, 5, hidden_dim=7)
    with pytest.raises(ValueError, match="window: got None, wanted at least 1 for a predicted"):
        LuongAttention(3, 5, predictive=True)
    with pytest.raises(TypeError, match="predictive: got False, wanted a layer that was made with"):
        make("general", window=2).aligned_position(inputs()[0], 5)
