"""Operations of linear attention in its three forms: the same numbers at different costs."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from companion.contracts import contract
from companion.cost.layers import matmul_flops

Decay = Literal["step", "channel"]

_SIZES: dict[str, Any] = dict.fromkeys(("key_dim", "value_dim", "length", "num_heads"), ">= 1")


class LinearFlops(NamedTuple):
    """Operations of linear attention; d is the width of a key and v that of a value.

    Attributes:
        pairs: scores of queries and keys, and the blends of values that they weigh.
        reading: queries times states.
        writing: keys times values, added to states.
        comparing: what the delta rule does beside: looking up what a state holds, and in chunks
            solving for what their steps write.
    """

    pairs: int = 0
    reading: int = 0
    writing: int = 0
    comparing: int = 0

    @property
    def total(self) -> int:
        """Sum of all parts."""
        return sum(self)


@contract(**_SIZES)
def linear_attention_flops(
    key_dim: int,
    value_dim: int,
    *,
    length: int,
    num_heads: int = 1,
    is_causal: bool = True,
    normalised: bool = False,
    decay: Decay | None = None,
) -> LinearFlops:
    """Count `linear_attention`, all pairs together (Katharopoulos et al., 2020).

    Args:
        key_dim: width d of queries and keys after they are mapped.
        value_dim: width v of values.
        length: steps n.
        num_heads: heads, those of all sequences together.
        is_causal: weigh all pairs; else keys meet values first, and nothing is quadratic.
        normalised: with a feature map, and so with a column of ones beside the values.
        decay: factors a "step" or a "channel", of every head; None for none.

    >>> linear_attention_flops(4, 5, length=7).total, linear_attention_flops(
    ...     4, 5, length=7, is_causal=False).total
    (882, 560)
    """
    v = value_dim + normalised
    if not is_causal:
        if decay is not None:
            raise ValueError(f"decay: got {decay!r} without is_causal, wanted None")
        state = num_heads * matmul_flops(key_dim, length, v)
        return LinearFlops(reading=state, writing=state)
    pairs = matmul_flops(length, length, v)
    if decay is None:
        return LinearFlops(pairs=num_heads * (pairs + matmul_flops(length, key_dim, length)))
    weights = _decayed_weights(_power_of_two(length), 1, key_dim, num_heads, decay)
    return LinearFlops(pairs=num_heads * pairs + weights)


@contract(**_SIZES)
def recurrent_linear_attention_flops(
    key_dim: int, value_dim: int, *, length: int, num_heads: int = 1, delta: bool = False
) -> LinearFlops:
    """Count `recurrent_linear_attention`; a step of decoding is length=1.

    A step writes the product of a column and a row by elementwise arithmetic, which counters of
    matrix products do not see. Decay, a product an entry of the state, is left out.

    Args:
        key_dim: width d of queries and keys.
        value_dim: width v of values.
        length: steps n.
        num_heads: heads, those of all sequences together.
        delta: by the delta rule (Schlag et al., 2021).

    >>> recurrent_linear_attention_flops(4, 5, length=7)
    LinearFlops(pairs=0, reading=280, writing=280, comparing=0)
    """
    state = num_heads * length * matmul_flops(1, key_dim, value_dim)
    return LinearFlops(reading=state, writing=state, comparing=state if delta else 0)


@contract(chunk_size=">= 1", **_SIZES)
def chunked_linear_attention_flops(
    key_dim: int,
    value_dim: int,
    *,
    length: int,
    chunk_size: int = 64,
    num_heads: int = 1,
    decay: Decay | None = None,
    delta: bool = False,
) -> LinearFlops:
    """Count `chunked_linear_attention` (Yang et al., 2024a; the delta rule, Yang et al., 2024b).

    With chunks of c steps a step costs c times the widths for pairs and the product of the widths
    for the state. The last chunk is filled up, and c rounded up to a power of two.

    Args:
        key_dim: width d of queries and keys.
        value_dim: width v of values.
        length: steps n.
        chunk_size: steps a chunk.
        num_heads: heads, those of all sequences together.
        decay: factors a "step" or a "channel", of every head; None for none.
        delta: by the delta rule.

    >>> chunked_linear_attention_flops(4, 5, length=8, chunk_size=4)
    LinearFlops(pairs=616, reading=320, writing=320, comparing=0)
    """
    size = min(chunk_size, length)
    chunks, c = -(-length // size), _power_of_two(size)
    heads = num_heads * chunks
    weights = _decayed_weights(c, chunks, key_dim, num_heads, decay)
    state = heads * matmul_flops(c, key_dim, value_dim)
    comparing = 0
    if delta:
        inverse = 2 * (c**3 - c) // 3  # halves again and again: c^3 / 2 for the first
        solving = inverse + matmul_flops(c, c, value_dim) + matmul_flops(c, c, key_dim)
        comparing = weights + heads * solving + state
    pairs = weights + heads * matmul_flops(c, c, value_dim)
    return LinearFlops(pairs, state, state, comparing)


def _decayed_weights(
    size: int, chunks: int, key_dim: int, num_heads: int, decay: Decay | None
) -> int:
    """Count how weights within chunks are made.

    Where all channels decay alike, products of queries and keys serve them all. The decays from
    one position to another are made like products of width 1: c (c + 1) of them, by blocks that
    double.
    """
    heads = num_heads * chunks
    if decay == "channel" or key_dim == 1:
        return heads * key_dim * size * (size + 1)
    between = size * (size + 1) * (chunks if decay is None else heads)
    return between + heads * matmul_flops(size, key_dim, size)


def _power_of_two(size: int) -> int:
    return 1 << (size - 1).bit_length()
