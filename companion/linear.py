"""Attention without a softmax: the past is a state of fixed size, which maps keys to values.

Every step forgets, writes, and then reads. With the state S (d, v), rows for vectors,

    D_t = diag(decay_t) S_(t-1)
    S_t = D_t + key_t^T value_t,    or by the delta rule
    S_t = D_t + (beta_t * key_t)^T (value_t - key_t D_t),
    output_t = query_t S_t.

Three forms compute the same numbers: all pairs at once, step by step, chunk by chunk. None of them
scales anything: where 1 / sqrt(d) is wanted, pass queries that are scaled.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    Shape,
    broadcast_shape,
    cast,
    device_of,
    library_of,
    namespace,
    result_dtype,
    widen,
)
from companion.contracts import contract


@contract(x="...")
def elu_feature_map(x: ArrayT) -> ArrayT:
    """Return elu(x) + 1, which is above zero everywhere (Katharopoulos et al., 2020).

    Returns:
        x + 1 where x is above 0, and exp(x) elsewhere.

    >>> import numpy as np
    >>> elu_feature_map(np.array([-np.inf, 0.0, 2.0]))
    array([0., 1., 3.])
    """
    xp = namespace(x)
    below = xp.less_equal(x, xp.zeros_like(x))
    return xp.where(below, xp.exp(xp.where(below, x, 0.0)), x + 1)


def _check_causality(
    query: Any, key: Any, decay: Any, feature_map: object, is_causal: bool
) -> None:
    """Refuse causal attention between two lengths, and decay of what is not causal."""
    if not is_causal:
        if decay is not None:
            raise ValueError(
                "decay: got an array, wanted None without is_causal"
            )
    elif query.shape[-2] != key.shape[-2]:
        shape = tuple(query.shape)
        raise ValueError(
            f"query: got n = {shape[-2]} in shape {shape}, wanted {key.shape[-2]} as in key"
        )
    if decay is not None and feature_map is None:
        _check_channels(decay, "key", key)


def _check_channels(decay: Array, name: str, key: Array) -> None:
    shape, channels = tuple(decay.shape), key.shape[-1]
    if len(shape) == key.ndim and shape[-1] != channels:
        raise ValueError(
            f"decay: got c = {shape[-1]} in shape {shape}, wanted {channels} as in {name}"
        )


@contract(key="... n d", query="... q d", value="... n v", decay="... n [c]")
def linear_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    *,
    feature_map: Callable[[Any], Any] | None = None,
    is_causal: bool = True,
    decay: Array | None = None,
) -> ArrayT:
    """Attend without a softmax, all pairs at once (Katharopoulos et al., 2020).

    The weight of key j for query i is their dot product, decayed by steps j + 1 to i (Sun et al.,
    2023). Without a feature map this weighted sum is the output, as in the recurrent and chunked
    forms, to the rounding. With one, the dot product is that of the mapped vectors, and the sum is
    divided by the sum of its weights, as in the paper. The other two forms have no feature map. To
    use one, map queries and keys yourself, and append a column of ones to the values: in the
    output, this column is the sum by which the others are divided.

    Half precision accumulates in float32. Causal attention makes (..., n, n) weights, with decay
    for n at the next power of two.

    Args:
        query: as many as keys, if the attention is causal.
        feature_map: function of queries and of keys, (..., n, d) -> (..., n, any width), which
            gets them in at least float32; the paper's is `elu_feature_map`. Its values must not
            be negative: sums of weights divide. Where the sum is 0, the output is 0.
        is_causal: weigh key j for query i only if j <= i.
        decay: as in `recurrent_linear_attention`, for causal attention only; channels are those
            of the mapped key.

    Returns:
        (..., q, v); leading axes broadcast.

    Raises:
        ValueError: decay without is_causal, or a feature map that gives other rows.

    >>> import numpy as np
    >>> one = np.ones((3, 1))
    >>> linear_attention(one, one, one, decay=np.array([0.5, 0.5, 0.5]))[:, 0]
    array([1.  , 1.5 , 1.75])
    """
    _check_causality(query, key, decay, feature_map, is_causal)
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value, decay = _widen(xp, query, key, value, decay)
    if feature_map is not None:
        query, key = _apply_feature_map(xp, feature_map, query, key, decay)
        value = xp.concat([value, xp.ones_like(value[..., :1])], axis=-1)

    if is_causal:
        output = _causal_weights(xp, query, key, _factors(decay, key)) @ value
    else:
        output = query @ (key.mT @ value)

    if feature_map is not None:
        output, total = output[..., :-1], output[..., -1:]
        output = output / xp.where(total != 0, total, 1.0)
    return cast(output, dtype)


@contract(
    key="... n d", query="... n d", value="... n v",
    decay="... n [d]", beta="... n [d]", state="... d v",
)  # fmt: skip
def recurrent_linear_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    *,
    decay: Array | None = None,
    beta: Array | None = None,
    state: ArrayT | None = None,
) -> tuple[ArrayT, ArrayT]:
    """Attend without a softmax, one step after the other: what the other forms must equal.

    With `decay` the state forgets (Sun et al., 2023), with `beta` it learns by the delta rule
    (Schlag et al., 2021): what it holds under the key moves to the new value, by the share beta if
    the key has length 1. Both together are the gated delta rule (Yang et al., 2025).

    Half precision accumulates in float32.

    Args:
        key: the delta rule diverges if beta times its squared length exceeds 2.
        decay: what is left of the state at a step, before it writes: factors from 0 to 1, not
            their logarithms. With one axis fewer than key it has a factor for each step; with as
            many, a factor for each step and key channel (Yang et al., 2024a).
        beta: factor on the key that a step writes, but not on the one that it compares, in the
            same two shapes; papers have the first one. None writes without comparing.
        state: what earlier steps left; None means zeros.

    Returns:
        The output (..., n, v), and the state after the last step (..., d, v), in at least
        float32. Leading axes broadcast; the state has those of all arrays but query.

    >>> import numpy as np
    >>> key, value = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[3.0], [5.0]])
    >>> recurrent_linear_attention(key, key, value)[0][:, 0]  # adds
    array([3., 8.])
    >>> recurrent_linear_attention(key, key, value, beta=np.ones(2))[0][:, 0]  # replaces
    array([3., 5.])
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value, decay, beta, state = _prepare(
        xp, query, key, value, decay, beta, state
    )
    length, write = key.shape[-2], key if beta is None else beta * key
    # An empty sequence has an empty output.
    outputs = [query[..., :0, :] @ state]
    query, key, value, write, decay = (
        _rows(xp, x) for x in (query, key, value, write, decay)
    )
    for t in range(length):
        if decay is not None:
            state = decay[t].mT * state
        new = value[t]
        if beta is not None:
            new = new - key[t] @ state
        state = state + write[t].mT * new
        outputs.append(query[t] @ state)
    return cast(xp.concat(outputs, axis=-2), dtype), state


@contract(
    key="... n d", query="... n d", value="... n v",
    decay="... n [d]", beta="... n [d]", state="... d v", chunk_size=">= 1",
)  # fmt: skip
def chunked_linear_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    *,
    decay: Array | None = None,
    beta: Array | None = None,
    state: ArrayT | None = None,
    chunk_size: int = 64,
) -> tuple[ArrayT, ArrayT]:
    """Attend without a softmax, all pairs within a chunk, a state from chunk to chunk.

    The numbers are those of the recurrent form, from few and large matrix products (Yang et al.,
    2024a; for the delta rule Yang et al., 2024b). Decay is only multiplied, without ratios and
    without logarithms: factors near 0, and 0 itself, give right values and gradients.

    Half precision accumulates in float32.

    Args:
        decay: as in `recurrent_linear_attention`.
        beta: as there.
        state: what earlier steps left; None means zeros.
        chunk_size: steps a chunk; the length need not divide by it.

    Returns:
        The output (..., n, v), and the state after the last step (..., d, v), in at least
        float32. Leading axes broadcast; the state has those of all arrays but query.

    >>> import numpy as np
    >>> one = np.ones((3, 1))
    >>> output, state = chunked_linear_attention(one, one, one, chunk_size=2)
    >>> output[:, 0], state
    (array([1., 2., 3.]), array([[3.]]))
    """
    xp, dtype = namespace(query), result_dtype(query, key, value)
    query, key, value, decay, beta, state = _prepare(
        xp, query, key, value, decay, beta, state
    )
    length, write = key.shape[-2], key if beta is None else beta * key
    size = max(1, min(int(chunk_size), length))
    query, key, value, write = (
        _split_chunks(xp, x, size) for x in (query, key, value, write)
    )
    decay = _full(xp, 1.0, (length, 1), key) if decay is None else decay
    decay = _split_chunks(xp, decay, size, fill=1.0)

    weights, query, writing, kept = _decayed_weights(xp, query, write, decay)
    if beta is not None:
        # A step writes its value less what its key reads: from the state
        # before the chunk, and from what earlier steps of the chunk wrote.
        # The inverse, the WY form, solves for all.
        overlaps, comparing, _, _ = _decayed_weights(xp, key, write, decay)
        inverse = _unit_lower_inverse(xp, overlaps)
        value, comparing = (
            inverse @ value,
            xp.unstack(inverse @ comparing, axis=-3),
        )
    values, writing, kept = (
        xp.unstack(x, axis=-3) for x in (value, writing.mT, kept.mT)
    )

    states, written = [], []
    for chunk, new in enumerate(values):
        if beta is not None:
            new = new - comparing[chunk] @ state
        states.append(state)
        written.append(new)
        state = kept[chunk] * state + writing[chunk] @ new
    output = query @ xp.stack(states, axis=-3) + weights @ xp.stack(
        written, axis=-3
    )
    return cast(_join_chunks(xp, output, size)[..., :length, :], dtype), state


def _rows(xp: Any, x: Any | None) -> Any:
    """Take (..., n, w) apart into n arrays (..., 1, w); None stays None."""
    return None if x is None else xp.unstack(x[..., None, :], axis=-3)


def _causal_weights(xp: Any, query: Any, key: Any, decay: Any | None) -> Any:
    """Return the decayed products of the queries with the keys before and at them, (..., n, n)."""
    if decay is None:
        return xp.tril(query @ key.mT)
    length = key.shape[-2]
    query, key = (
        _split_chunks(xp, query, length),
        _split_chunks(xp, key, length),
    )
    weights, *_ = _decayed_weights(
        xp, query, key, _split_chunks(xp, decay, length, fill=1.0)
    )
    return weights[..., 0, :length, :length]


def _decayed_weights(
    xp: Any, query: Any, key: Any, decay: Any
) -> tuple[Any, Any, Any, Any]:
    """Weigh key j for query i by their product, decayed by steps j + 1 to i, within chunks.

    Blocks of 1 step are joined in pairs to blocks of 2, 4, 8... until one block is the chunk. From
    a step in the first half of a block to one in the second, the decay is that to the end of the
    first half times that from there: products of factors, never a ratio.

    Args:
        query: (..., c, d), c being a power of two.
        key: (..., c, d).
        decay: (..., c, d), or (..., c, 1) for all channels.

    Returns:
        The weights (..., c, c), 0 above the diagonal; the queries decayed since the chunk began
        and the keys decayed until it ends, (..., c, d); what the chunk keeps, (..., 1, d).
    """
    # One factor a step: decay is the same in all channels.
    if decay.shape[-1] != query.shape[-1]:
        one = xp.ones_like(decay)
        between, since, until, kept = _decayed_weights(xp, one, one, decay)
        return between * (query @ key.mT), since * query, until * key, kept

    key, decay = xp.broadcast_arrays(key, decay)
    query, key, kept = (x[..., None, :] for x in (query, key, decay))
    weights = query @ key.mT
    query = query * kept
    while kept.shape[-3] > 1:
        (query, late_query), (key, late_key) = _pairs(query), _pairs(key)
        (kept, late_kept), (weights, late_weights) = (
            _pairs(kept),
            _pairs(weights),
        )
        weights = _lower_blocks(xp, weights, late_query @ key.mT, late_weights)
        query = xp.concat([query, late_query * kept], axis=-2)
        key = xp.concat([key * late_kept, late_key], axis=-2)
        kept = kept * late_kept
    return (
        weights[..., 0, :, :],
        query[..., 0, :, :],
        key[..., 0, :, :],
        kept[..., 0, :, :],
    )


def _unit_lower_inverse(xp: Any, lower: Any) -> Any:
    """Invert (..., c, c) as if it had ones on its diagonal and zeros above, c a power of two."""
    size = lower.shape[-1]
    if size == 1:
        return xp.ones_like(lower)
    first, second = slice(size // 2), slice(size // 2, size)
    halves = xp.stack(
        [lower[..., first, first], lower[..., second, second]], axis=-3
    )
    halves = _unit_lower_inverse(xp, halves)
    early, late = halves[..., 0, :, :], halves[..., 1, :, :]
    return _lower_blocks(
        xp, early, -(late @ (lower[..., second, first] @ early)), late
    )


def _pairs(blocks: Any) -> tuple[Any, Any]:
    """Split blocks (..., 2 m, s, w) into the first and the second of every pair."""
    return blocks[..., 0::2, :, :], blocks[..., 1::2, :, :]


def _lower_blocks(xp: Any, first: Any, across: Any, second: Any) -> Any:
    """Return [[first, 0], [across, second]]."""
    upper = xp.concat([first, xp.zeros_like(first)], axis=-1)
    lower = xp.concat([across, second], axis=-1)
    return xp.concat([upper, lower], axis=-2)


def _split_chunks(xp: Any, x: Any, size: int, *, fill: float = 0.0) -> Any:
    """Cut (..., n, w) into (..., m, c, w), c being the power of two at or above the size.

    What is missing in the last chunk, and from size to c in all of them, is filled with steps that
    write nothing (0) and forget nothing (1). There is at least one chunk.
    """
    *lead, length, width = x.shape
    size = max(size, 1)
    count = max(-(-length // size), 1)
    x = _pad(xp, x, count * size, fill)
    x = xp.reshape(x, (*lead, count, size, width))
    return _pad(xp, x, 1 << (size - 1).bit_length(), fill)


def _join_chunks(xp: Any, x: Any, size: int) -> Any:
    """Join (..., m, c, w) to (..., m size, w), without the steps from size to c."""
    *lead, count, _, width = x.shape
    return xp.reshape(x[..., :size, :], (*lead, count * size, width))


def _pad(xp: Any, x: Any, length: int, fill: float) -> Any:
    *lead, steps, width = x.shape
    if steps == length:
        return x
    return xp.concat(
        [x, _full(xp, fill, (*lead, length - steps, width), x)], axis=-2
    )


def _full(xp: Any, fill: float, shape: Shape, like: Any) -> Any:
    return xp.full(shape, fill, dtype=like.dtype, device=device_of(like))


def _apply_feature_map(
    xp: Any, feature_map: Any, query: Any, key: Any, decay: Any | None
) -> tuple[Any, Any]:
    """Return mapped queries and keys, and refuse a map that loses rows or that decay is not for."""
    mapped_query, mapped_key = (
        _map_rows(xp, feature_map, x) for x in (query, key)
    )
    if mapped_query.shape[-1] != mapped_key.shape[-1]:
        raise ValueError(
            f"feature_map: got width {mapped_key.shape[-1]} for key, "
            f"wanted {mapped_query.shape[-1]} as for query"
        )
    if decay is not None:
        _check_channels(decay, "the mapped key", mapped_key)
    return mapped_query, mapped_key


def _map_rows(xp: Any, feature_map: Callable[[Any], Any], x: Any) -> Any:
    mapped = feature_map(x)
    if not hasattr(mapped, "shape") or library_of(mapped) != library_of(x):
        came = type(mapped).__name__
        raise TypeError(
            f"feature_map: got {came} from it, wanted an array of {library_of(x)}"
        )
    if not xp.isdtype(mapped.dtype, "real floating"):
        raise TypeError(
            f"feature_map: got dtype {mapped.dtype}, wanted a real floating dtype"
        )
    if tuple(mapped.shape[:-1]) != tuple(x.shape[:-1]):
        raise ValueError(
            f"feature_map: got shape {tuple(mapped.shape)} from {tuple(x.shape)}, "
            f"wanted all axes but the last unchanged"
        )
    return mapped


def _prepare(
    xp: Any,
    query: Any,
    key: Any,
    value: Any,
    decay: Any,
    beta: Any,
    state: Any,
) -> tuple[Any, ...]:
    """Widen the arrays, give the factors the axes of key, and begin with zeros without a state."""
    decay, beta = _factors(decay, key), _factors(beta, key)
    query, key, value, decay, beta, state = _widen(
        xp, query, key, value, decay, beta, state
    )
    given = (x for x in (key, value, decay, beta, state) if x is not None)
    lead: Any = reduce(broadcast_shape, (tuple(x.shape[:-2]) for x in given))  # type: ignore[arg-type]
    zeros = _full(xp, 0.0, (*lead, key.shape[-1], value.shape[-1]), key)
    return (
        query,
        key,
        value,
        decay,
        beta,
        zeros if state is None else zeros + state,
    )


def _widen(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    """Widen to the dtype in which products are added; None stays None."""
    given = [x for x in arrays if x is not None]
    wide = iter(widen(xp, *given))
    return tuple(None if x is None else next(wide) for x in arrays)


def _factors(factors: Any | None, key: Any) -> Any:
    """Return factors as (..., n, 1) or (..., n, d); None stays None."""
    return (
        factors
        if factors is None or factors.ndim == key.ndim
        else factors[..., None]
    )
