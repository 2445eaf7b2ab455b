"""What a layer computes, by formula: floating-point operations of its matrix products.

A product of (m, k) and (k, n) counts 2 m k n, a multiplication and an addition each. All pairs of a
query and a key count, as a kernel that masks computes them. Biases, norms, rotations, softmax and
activations are left out, as `torch.utils.flop_counter` leaves them out: they grow with the width,
products with its square. That is not to say that they take no time.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from companion.contracts import contract
from companion.layers.luong import Score

Cell = Literal["gru", "lstm"]

_GATES = {"gru": 3, "lstm": 4}
LENGTHS: dict[str, Any] = dict.fromkeys(
    ("q_len", "k_len", "batch_size"), ">= 1"
)
HEADS: dict[str, Any] = dict.fromkeys(
    ("embed_dim", "num_heads", "num_kv_heads", "head_dim"), ">= 1"
)


class AttentionFlops(NamedTuple):
    """Operations of a layer of attention.

    Attributes:
        projections: products with weights; they grow with the length.
        scores: every query against every key; they grow with the product of both lengths.
        blend: sums of values, which grow as the scores do.
    """

    projections: int
    scores: int
    blend: int

    @property
    def total(self) -> int:
        """Sum of all parts."""
        return sum(self)


def matmul_flops(rows: int, inner: int, columns: int) -> int:
    """Return the operations of a product of (rows, inner) and (inner, columns).

    A linear layer is one, with a row a token; so is the scoring of words at the end of a model.
    Embedding is none: it looks up.

    >>> matmul_flops(3, 5, 7)
    210
    """
    return 2 * rows * inner * columns


@contract(
    key_dim=">= 1",
    value_dim=">= 1",
    cached=">= 0",
    pairs=">= 0",
    **HEADS,
    **LENGTHS,
)
def multi_head_flops(
    embed_dim: int,
    num_heads: int,
    *,
    q_len: int,
    k_len: int | None = None,
    cached: int = 0,
    projected: bool = False,
    num_kv_heads: int | None = None,
    head_dim: int | None = None,
    key_dim: int | None = None,
    value_dim: int | None = None,
    pairs: int | None = None,
    batch_size: int = 1,
) -> AttentionFlops:
    """Count a call of `MultiHeadAttention` (Vaswani et al., 2017).

    A cache (Shazeer, 2019) saves the projections of the tokens in it, and no pair of the new
    tokens: a step of decoding has q_len=1.

    Args:
        embed_dim: width e.
        num_heads: query heads h.
        q_len: queries that are computed.
        k_len: entries of a memory, for cross-attention; None means self-attention.
        cached: tokens before them in a cache, in self-attention.
        projected: the memory was projected before.
        num_kv_heads: key and value heads g; None means h.
        head_dim: width d of a head; None means e / h.
        key_dim: width of a key before its projection; None means e.
        value_dim: width of a value before its projection; None means e.
        pairs: pairs of a query and a key that a head computes; None means all. For windows
            `companion.cost.tiled_pairs` knows them.
        batch_size: sequences.

    Raises:
        ValueError: also for a cache beside a memory, and for a projected memory that is not there.

    >>> multi_head_flops(12, 3, q_len=5)
    AttentionFlops(projections=5760, scores=600, blend=600)
    >>> multi_head_flops(12, 3, q_len=1, cached=4)  # the last of these five, with a cache
    AttentionFlops(projections=1152, scores=120, blend=120)
    """
    if head_dim is None and embed_dim % num_heads:
        raise ValueError(
            f"num_heads: got {num_heads}, wanted a divisor of embed_dim, {embed_dim}"
        )
    if cached and k_len is not None:
        raise ValueError(
            f"cached: got {cached} beside k_len, wanted 0: self-attention alone has a cache"
        )
    if projected and k_len is None:
        raise ValueError(
            "projected: got True without k_len, wanted False: there is no memory"
        )
    memory = q_len if k_len is None else k_len
    width = head_dim or embed_dim // num_heads
    projections = 2 * matmul_flops(q_len, embed_dim, num_heads * width)
    if not projected:
        entry = (key_dim or embed_dim) + (value_dim or embed_dim)
        columns = (num_kv_heads or num_heads) * width
        projections += matmul_flops(memory, entry, columns)
    pairs = q_len * (cached + memory) if pairs is None else pairs
    products = batch_size * num_heads * matmul_flops(pairs, width, 1)
    return AttentionFlops(batch_size * projections, products, products)


@contract(query_dim=">= 1", key_dim=">= 1", hidden_dim=">= 1", **LENGTHS)
def additive_flops(
    query_dim: int,
    key_dim: int,
    hidden_dim: int,
    *,
    q_len: int,
    k_len: int,
    projected: bool = False,
    batch_size: int = 1,
) -> AttentionFlops:
    """Count a call of `AdditiveAttention` (Bahdanau et al., 2015).

    The q k hidden_dim sums and hyperbolic tangents in front of the scores are no products and are
    left out; they take most of its time.

    Args:
        query_dim: width of a query.
        key_dim: width of a memory entry.
        hidden_dim: width of the hidden layer.
        q_len: queries.
        k_len: entries of the memory.
        projected: the memory was projected before.
        batch_size: sequences.

    >>> additive_flops(3, 5, 7, q_len=2, k_len=4)
    AttentionFlops(projections=364, scores=112, blend=80)
    """
    projections = matmul_flops(q_len, query_dim, hidden_dim)
    if not projected:
        projections += matmul_flops(k_len, key_dim, hidden_dim)
    pairs = q_len * k_len
    return _of_memory(projections, hidden_dim, key_dim, pairs, batch_size)


@contract(query_dim=">= 1", key_dim=">= 1", hidden_dim=">= 1", **LENGTHS)
def luong_flops(
    query_dim: int,
    key_dim: int,
    *,
    q_len: int,
    k_len: int,
    score: Score = "general",
    hidden_dim: int | None = None,
    predictive: bool = False,
    projected: bool = False,
    batch_size: int = 1,
) -> AttentionFlops:
    """Count a call of `LuongAttention` (Luong et al., 2015).

    Local attention scores the whole memory and masks it: a window changes nothing here.

    Args:
        query_dim: width of a query.
        key_dim: width of a memory entry.
        q_len: queries.
        k_len: entries of the memory.
        score: "dot", "general" or "concat".
        hidden_dim: width of the hidden layer of "concat"; None means query_dim.
        predictive: predict the centre of the window (local-p); it counts as a projection.
        projected: the memory was projected before.
        batch_size: sequences.

    >>> luong_flops(3, 5, q_len=2, k_len=4)
    AttentionFlops(projections=120, scores=48, blend=80)
    """
    hidden = query_dim
    if score == "concat" and hidden_dim is not None:
        hidden = hidden_dim
    projections = 0
    if not projected and score != "dot":
        projections += matmul_flops(k_len, key_dim, hidden)
    if score == "concat":
        projections += matmul_flops(q_len, query_dim, hidden)
    if predictive:
        projections += matmul_flops(q_len, query_dim, query_dim + 1)
    return _of_memory(projections, hidden, key_dim, q_len * k_len, batch_size)


@contract(embed_dim=">= 1", hidden_dim=">= 1", tokens=">= 1")
def feed_forward_flops(
    embed_dim: int, hidden_dim: int, *, tokens: int, gated: bool = False
) -> int:
    """Count a call of `FeedForward` (Vaswani et al., 2017; gated, Shazeer, 2020).

    Args:
        embed_dim: width e.
        hidden_dim: width between the projections.
        tokens: positions, those of all sequences together.
        gated: with a second projection up.

    >>> feed_forward_flops(12, 48, tokens=5), feed_forward_flops(12, 32, tokens=5, gated=True)
    (11520, 11520)
    """
    return matmul_flops(tokens, embed_dim, (3 if gated else 2) * hidden_dim)


@contract(key_dim=">= 1", value_dim=">= 1", length=">= 1", num_heads=">= 1")
def linear_attention_flops(
    key_dim: int, value_dim: int, *, length: int, num_heads: int = 1, is_causal: bool = True,
    normalised: bool = False,
) -> int:  # fmt: skip
    """Count `linear_attention` without decay, all pairs together (Katharopoulos et al., 2020).

    Args:
        key_dim: width d of queries and keys after they are mapped.
        value_dim: width v of values.
        length: steps n.
        num_heads: heads, those of all sequences together.
        is_causal: weigh all pairs; else keys meet values first, and nothing is quadratic.
        normalised: with a feature map, and so with a column of ones beside the values.

    >>> linear_attention_flops(4, 5, length=7), linear_attention_flops(
    ...     4, 5, length=7, is_causal=False)
    (882, 560)
    """
    width = value_dim + normalised
    if not is_causal:
        return 2 * num_heads * matmul_flops(key_dim, length, width)
    return num_heads * matmul_flops(length, length, key_dim + width)


@contract(input_dim=">= 1", hidden_dim=">= 1", tokens=">= 1")
def recurrent_flops(
    cell: Cell, input_dim: int, hidden_dim: int, *, tokens: int
) -> int:
    """Count a recurrent layer, one direction of it: two products a gate and token.

    The GRU (Cho et al., 2014) has three gates, its candidate counted as one, and the LSTM
    (Hochreiter & Schmidhuber, 1997) four.

    Args:
        cell: "gru" or "lstm".
        input_dim: width of an input.
        hidden_dim: width of a state.
        tokens: steps, those of all sequences together; padding that is read counts, padding that
            is packed away does not.

    >>> recurrent_flops("gru", 5, 7, tokens=3), recurrent_flops("lstm", 5, 7, tokens=3)
    (1512, 2016)
    """
    columns = _GATES[cell] * hidden_dim
    return matmul_flops(tokens, input_dim + hidden_dim, columns)


def _of_memory(
    projections: int, hidden: int, key_dim: int, pairs: int, batch_size: int
) -> AttentionFlops:
    """Count attention without heads: a score has `hidden` products, and a value is an entry."""
    scores, blend = (matmul_flops(pairs, w, 1) for w in (hidden, key_dim))
    parts = projections, scores, blend
    return AttentionFlops(*(batch_size * part for part in parts))
