"""Bytes by formula: arrays, caches, and what a layer keeps for its backward pass."""

from __future__ import annotations

from math import prod
from typing import Any, Literal

import torch

from companion.contracts import contract
from companion.cost.layers import HEADS, LENGTHS

Method = Literal["fused", "definition"]

_CACHE: dict[str, Any] = dict.fromkeys((
    "batch_size", "num_kv_heads", "max_len", "head_dim", "window", "value_dim", "num_layers",
), ">= 1")  # fmt: skip


def array_bytes(*shape: int, dtype: torch.dtype | None = None) -> int:
    """Return the bytes of an array: of weights, or of the (b, h, q, k) matrix of attention.

    Args:
        *shape: its sizes.
        dtype: of its numbers; None means torch's default.

    >>> array_bytes(2, 3, 1024, 1024, dtype=torch.float32) // 2**20
    24
    """
    numbers = prod(_checked(shape=size) for size in shape)
    return numbers * (dtype or torch.get_default_dtype()).itemsize


@contract(shape=">= 0")
def _checked(shape: int) -> int:
    return shape


@contract(**_CACHE)
def kv_cache_bytes(
    batch_size: int,
    num_kv_heads: int,
    max_len: int | None,
    head_dim: int,
    *,
    window: int | None = None,
    value_dim: int | None = None,
    num_layers: int = 1,
    dtype: torch.dtype | None = None,
) -> int:
    """Return the bytes of the `KVCache` of every layer, by the sizes that it is made with.

    Multi-head attention keeps keys and values of all h heads, grouped-query attention (Ainslie et
    al., 2023) those of g, multi-query attention (Shazeer, 2019) those of one.

    Args:
        batch_size: sequences.
        num_kv_heads: key and value heads.
        max_len: tokens a sequence; None means any number, and wants a window.
        head_dim: width d of a key.
        window: tokens that are kept.
        value_dim: width v of a value; None means d.
        num_layers: layers that have a cache.
        dtype: what it holds; None means torch's default.

    Raises:
        ValueError: also for neither max_len nor window.

    >>> [kv_cache_bytes(1, g, 4096, 64, dtype=torch.bfloat16) // 2**10 for g in (32, 8, 1)]
    [32768, 8192, 1024]
    """
    limits = [limit for limit in (max_len, window) if limit is not None]
    if not limits:
        raise ValueError(
            "max_len: got None without a window, wanted a whole number"
        )
    entry = head_dim + (value_dim or head_dim)
    shape = batch_size, num_kv_heads, min(limits), entry
    return num_layers * array_bytes(*shape, dtype=dtype)


@contract(embed_dim=">= 1", hidden_dim=">= 1", tokens=">= 1")
def feed_forward_saved_bytes(
    embed_dim: int,
    hidden_dim: int,
    *,
    tokens: int,
    activation: Literal["relu", "gelu", "gelu_tanh", "silu"] = "gelu",
    gated: bool = False,
    dtype: torch.dtype | None = None,
) -> int:
    """Return what `FeedForward` keeps for its backward pass, its parameters and dropout aside.

    That is its input, what the last projection reads, and what else its activation and its gate
    want. The gradient of "relu" is known from its output, that of the others wants the input.

    Args:
        embed_dim: width e.
        hidden_dim: width between the projections.
        tokens: positions, those of all sequences together.
        activation: as in `FeedForward`.
        gated: with a second projection up.
        dtype: of the numbers; None means torch's default.

    >>> feed_forward_saved_bytes(12, 48, tokens=5, activation="relu", dtype=torch.float32)
    1200
    """
    hidden = (1 if activation == "relu" else 2) + (2 if gated else 0)
    return array_bytes(tokens * (embed_dim + hidden * hidden_dim), dtype=dtype)


@contract(**HEADS, **LENGTHS)
def multi_head_saved_bytes(
    embed_dim: int,
    num_heads: int,
    *,
    q_len: int,
    k_len: int | None = None,
    num_kv_heads: int | None = None,
    head_dim: int | None = None,
    batch_size: int = 1,
    method: Method = "fused",
    is_causal: bool = False,
    dtype: torch.dtype | None = None,
) -> int:
    """Return what `MultiHeadAttention` keeps for its backward pass on the CPU.

    Its parameters are left out. Both methods keep the inputs, queries, keys, values and output, in
    float32 or float64:

    - "fused", torch's kernel, adds a number a row, its log-sum-exp (Dao, 2023), and has the output
      twice where grouped heads without a causal mask are stacked, to be read as one.
    - "definition", which `need_weights` takes, keeps two (b, h, q, k) matrices, the exponentials
      and the weights, and repeats grouped keys and values.

    Rotation, norms of heads, softcap, sinks, masks other than the causal, dropout, and kernels that
    round float32 are left out.

    Args:
        embed_dim: width e, of the memory too.
        num_heads: query heads h.
        q_len: queries.
        k_len: entries of a memory, for cross-attention; None means self-attention.
        num_kv_heads: key and value heads g; None means h.
        head_dim: width d of a head; None means e / h.
        batch_size: sequences.
        method: what computes attention.
        is_causal: with a causal mask, which "definition" keeps.
        dtype: float32 or float64; None means torch's default.

    Raises:
        TypeError: also for another dtype.

    >>> sizes = {"q_len": 1024, "batch_size": 1, "dtype": torch.float32}
    >>> [multi_head_saved_bytes(64, 4, method=m, **sizes) // 2**10 for m in ("fused", "definition")]
    [1296, 34068]
    """
    dtype = dtype or torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        raise TypeError(f"dtype: got {dtype}, wanted float32 or float64")
    keys, own = k_len or q_len, num_kv_heads or num_heads
    d = head_dim or embed_dim // num_heads
    groups = num_heads if method == "definition" else own
    rows = num_heads * q_len
    numbers = embed_dim * (q_len + (0 if k_len is None else k_len))
    numbers += 2 * rows * d + 2 * groups * keys * d + rows
    # Stacked.
    if method == "fused" and own < num_heads and q_len > 1 and not is_causal:
        numbers += rows * d  # the output a second time
    truths = 0
    if method == "definition":
        numbers += 2 * rows * keys
        mask = q_len * keys if is_causal and keys > 1 else 0
        truths = batch_size * rows + mask
    return array_bytes(batch_size * numbers, dtype=dtype) + truths
