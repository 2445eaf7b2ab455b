"""Bytes by formula: arrays, caches, and what a layer keeps for its backward pass."""

from __future__ import annotations

from math import prod
from typing import Literal, get_args

import torch

from companion.arrays import check_whole
from companion.layers.feed_forward import ACTIVATIONS, Activation

Method = Literal["fused", "tiled", "definition"]


def array_bytes(*shape: int, dtype: torch.dtype | None = None) -> int:
    """Return the bytes of an array: of weights, or of the (b, h, q, k) matrix of attention.

    Args:
        *shape: its sizes.
        dtype: of its numbers; None means torch's default.

    Raises:
        TypeError: a size that is not whole.
        ValueError: a size below 0.

    >>> array_bytes(2, 3, 1024, 1024, dtype=torch.float32) // 2**20
    24
    """
    for size in shape:
        check_whole(0, shape=size)
    return prod(shape) * (torch.get_default_dtype() if dtype is None else dtype).itemsize


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
        TypeError: a size that is not whole.
        ValueError: a size below 1, or neither max_len nor window.

    >>> [kv_cache_bytes(1, g, 4096, 64, dtype=torch.bfloat16) // 2**10 for g in (32, 8, 1)]
    [32768, 8192, 1024]
    """
    limits = [limit for limit in (max_len, window) if limit is not None]
    if not limits:
        raise ValueError("max_len: got None without a window, wanted a whole number")
    slots, widths = min(limits), head_dim + (head_dim if value_dim is None else value_dim)
    check_whole(1, batch_size=batch_size, num_kv_heads=num_kv_heads, max_len=slots)
    check_whole(1, head_dim=head_dim, value_dim=widths - head_dim, num_layers=num_layers)
    return num_layers * array_bytes(batch_size, num_kv_heads, slots, widths, dtype=dtype)


def feed_forward_saved_bytes(
    embed_dim: int,
    hidden_dim: int,
    *,
    tokens: int,
    activation: Activation = "gelu",
    gated: bool = False,
    dtype: torch.dtype | None = None,
) -> int:
    """Return what `FeedForward` keeps for its backward pass, its parameters and dropout aside.

    That is its input, what the last projection reads, and what else its activation and its gate
    want. The gradient of "relu" is known from its output, that of the others wants the input.

    From e tokens on, a gated layer projects with a copy of both matrices as one. It keeps the copy,
    and the whole of what it projects, for "relu" too.

    Args:
        embed_dim: width e.
        hidden_dim: width between the projections.
        tokens: places, those of all sequences together.
        activation: as in `FeedForward`.
        gated: with a second projection up.
        dtype: of the numbers; None means torch's default.

    Raises:
        TypeError: a number that is not whole.
        ValueError: a number below 1, or another activation.

    >>> feed_forward_saved_bytes(12, 48, tokens=5, activation="relu", dtype=torch.float32)
    1200
    """
    check_whole(1, embed_dim=embed_dim, hidden_dim=hidden_dim, tokens=tokens)
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation: got {activation!r}, wanted one of {tuple(ACTIVATIONS)}")
    joined = gated and tokens >= embed_dim
    hidden = (1 if activation == "relu" and not joined else 2) + (2 if gated else 0)
    copied = 2 * hidden_dim * embed_dim if joined else 0
    return array_bytes(tokens * (embed_dim + hidden * hidden_dim) + copied, dtype=dtype)


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

    Its parameters are left out. All methods keep the inputs, queries, keys, values and output, in
    float32 or float64:

    - "fused", torch's kernel, and "tiled", `tiled_attention`, add a number a row, its log-sum-exp
      (Dao, 2023). "tiled" has the output twice, in heads and joined; so has "fused" where
      grouped heads without a causal mask are stacked, to be read as one.
    - "definition", which `need_weights` takes, keeps two (b, h, q, k) matrices, the exponentials
      and the weights, and repeats grouped keys and values.

    An input of self-attention, or a memory, of e places or more, all sequences together, is
    projected at once, by a copy of the three or two matrices, and the copy is kept. In
    self-attention what is projected stays whole as long as its keys are in use, and queries that
    are stacked are there twice. So are those that "definition" scales, but for grouped heads and
    for several heads of several sequences, whose keys are copied.

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
        TypeError: a number that is not whole, or another dtype.
        ValueError: a number below 1, or another method.

    >>> sizes = {"q_len": 1024, "batch_size": 1, "dtype": torch.float32}
    >>> [multi_head_saved_bytes(64, 4, method=m, **sizes) // 2**10 for m in ("fused", "definition")]
    [1344, 34372]
    """
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if dtype not in (torch.float32, torch.float64):
        raise TypeError(f"dtype: got {dtype}, wanted float32 or float64")
    if method not in get_args(Method):
        raise ValueError(f"method: got {method!r}, wanted one of {get_args(Method)}")
    check_whole(1, embed_dim=embed_dim, num_heads=num_heads, q_len=q_len, batch_size=batch_size)
    keys = q_len if k_len is None else k_len
    own = num_heads if num_kv_heads is None else num_kv_heads
    d = embed_dim // num_heads if head_dim is None else head_dim
    check_whole(1, k_len=keys, num_kv_heads=own, head_dim=d)

    groups = num_heads if method == "definition" else own
    rows = num_heads * q_len
    numbers = embed_dim * (q_len + (0 if k_len is None else k_len))
    numbers += 2 * rows * d + 2 * groups * keys * d + rows
    joined = batch_size * keys >= embed_dim
    stacked = method == "fused" and own < num_heads and q_len > 1 and not is_causal
    scaled = method == "definition" and own == num_heads and 1 in (batch_size, num_heads)
    output_twice = stacked or (method == "tiled" and num_heads > 1 and q_len > 1)
    queries_twice = joined and k_len is None and (stacked or scaled)
    numbers += rows * d * (output_twice + queries_twice)
    projected = 2 * own + (num_heads if k_len is None else 0)
    copied = embed_dim * d * projected if joined else 0
    truths = 0
    if method == "definition":
        numbers += 2 * rows * keys
        truths = batch_size * rows + (q_len * keys if is_causal and keys > 1 else 0)
    return array_bytes(batch_size * numbers + copied, dtype=dtype) + truths
