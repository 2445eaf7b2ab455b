"""Query heads that share keys in another order, a bound in another place, another dtype."""

import math

import torch
from torch import Tensor

from bookkit.museum.exhibit import Exhibit, normal_numbers
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_dtype, check_grouped, check_softcap
from companion.masks import causal_mask


def heads_tiled(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Copy the key heads until there are as many as query heads: [g0, g1, g0, g1]."""
    times = query.shape[1] // key.shape[1]
    key, value = key.repeat(1, times, 1, 1), value.repeat(1, times, 1, 1)
    return scaled_dot_product_attention(query, key, value)


def heads_repeated(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Copy each key head for the query heads that share it: [g0, g0, g1, g1]."""
    times = query.shape[1] // key.shape[1]
    key, value = (
        key.repeat_interleave(times, 1),
        value.repeat_interleave(times, 1),
    )
    return scaled_dot_product_attention(query, key, value)


def bounded_late(
    query: Tensor, key: Tensor, value: Tensor, cap: float
) -> Tensor:
    """Mask the scores, then bound them."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    allowed = causal_mask(query.shape[-2], like=query)
    scores = scores.masked_fill(~allowed, -math.inf)
    scores = cap * torch.tanh(scores / cap)
    return torch.softmax(scores, -1) @ value


def bounded_early(
    query: Tensor, key: Tensor, value: Tensor, cap: float
) -> Tensor:
    """Bound the scores, then mask them."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    allowed = causal_mask(query.shape[-2], like=query)
    scores = cap * torch.tanh(scores / cap)
    scores = scores.masked_fill(~allowed, -math.inf)
    return torch.softmax(scores, -1) @ value


def stays_wide(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute in float32, and leave the result there."""
    query, key, value = query.float(), key.float(), value.float()
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return torch.softmax(scores, -1) @ value


def comes_back(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute in float32, and return the dtype that came."""
    return stays_wide(query, key, value).to(query.dtype)


GROUPS = (
    Exhibit(
        "tile or repeat", "Query heads that read the keys of another group", broken=heads_tiled,
        sound=heads_repeated, check=lambda attend: check_grouped(attend, like=normal_numbers(1)),
        hint="the key heads are tiled", threads=("onnx/onnx #7274",),
    ),
    Exhibit(
        "the late cap", "A bound on the scores that lets the future in", broken=bounded_late,
        sound=bounded_early, check=lambda attend: check_softcap(attend, like=normal_numbers(1)),
        hint="a forbidden key gets a weight", threads=("Dao-AILab/flash-attention #1025",),
    ),
    Exhibit(
        "another type", "Half precision goes in, and twice as many bytes come out",
        broken=stays_wide, sound=comes_back,
        check=lambda attend: check_dtype(attend, like=normal_numbers(1).to(torch.bfloat16)),
        hint="cast the result to the dtype that came",
        threads=("tinygrad/tinygrad #5100", "facebookresearch/xformers #772",
            "lucidrains/flash-attention-jax #13"),
    ),
)  # fmt: skip
