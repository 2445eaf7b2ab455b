# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
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
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    Shape,
    accumulation_dtype,
    broadcast_shape,
    check_floating,
    check_rank,
    check_size,
    check_whole,
    device_of,
    namespace,
)


def elu_feature_map(x: ArrayT) -> ArrayT:
    """Return elu(x) + 1, which is above zero everywhere (Katharopoulos et al., 2020).

    Args:
        x: any shape.

    Returns:
        x + 1 where x is above 0, and exp(x) elsewhere.

    Raises:
        TypeError: not a floating array.

    >>> import numpy as np
    >>> elu_feature_map(np.array([-np.inf, 0.0, 2.0]))
    array([0., 1., 3.])
    """
    xp = namespace(x=x)
    check_floating(xp, x=x)
    below = xp.less_equal(x, xp.zeros_like(x))
    return xp.where(below, xp.exp(xp.where(below, x, 0.0)), x + 1)


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
    divided by the sum of its weights, as in the paper. The other two forms get there with mapped
    queries and keys and a column of ones beside the values: what it becomes is the divisor.

    Half precision accumulates in float32. Causal attention makes (..., n, n) weights, with decay
    for n at the next power of two.

    Args:
        query: (..., n, d).
        key: (..., n, d); another length than query's if nothing is causal.
        value: (..., n, v).
        feature_map: function of queries and of keys, (..., n, d) -> (..., n, any width), which
            gets them in at least float32; the paper's is `elu_feature_map`. Its values must not
            be negative: sums of weights divide. Where the sum is 0, the output is 0.
        is_causal: weigh key j for query i only if j <= i.
        decay: as in `recurrent_linear_attention`, channels being those of the mapped key; causal
            attention only.

    Returns:
        (..., n, v); leading axes broadcast.

    Raises:
        TypeError: not floating arrays of one library, or a feature map that is no function.
        ValueError: shapes that do not fit, or decay without is_causal.

    >>> import numpy as np
    >>> one = np.ones((3, 1))
    >>> linear_attention(one, one, one, decay=np.array([0.5, 0.5, 0.5]))[:, 0]
    array([1.  , 1.5 , 1.75])
    """
    xp = namespace(query=query, key=key, value=value, decay=decay)
    check_floating(xp, query=query, key=key, value=value, decay=decay)
    _check_sequences(query, key, value, is_causal)
    if decay is not None and not is_causal:
        raise ValueError("decay: got an array, wanted None without is_causal")
    dtype = xp.result_type(query, key, value)
    query, key, value, decay = _widen(xp, query, key, value, decay)
    if feature_map is not None:
        query, key = _mapped(xp, feature_map, query), _mapped(xp, feature_map, key)
        check_size(query.shape[-1], "the width of the mapped query", -1, feature_map=key)
        value = xp.concat([value, _filled(xp, 1.0, (*value.shape[:-1], 1), value)], axis=-1)
    decay = _factors("decay", decay, key)
    _shared_lead(query=query, key=key, value=value, decay=decay)

    if is_causal:
        output = xp.matmul(_causal_weights(xp, query, key, decay), value)
    else:
        output = xp.matmul(query, xp.matmul(xp.matrix_transpose(key), value))
    if feature_map is not None:
        output, total = output[..., :-1], output[..., -1:]
        output = output / xp.where(total != 0, total, 1.0)
    return xp.astype(output, dtype, copy=False)


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
        query: (..., n, d).
        key: (..., n, d); the delta rule diverges if beta times its squared length exceeds 2.
        value: (..., n, v).
        decay: what is left of the state at a step, before it writes: factors from 0 to 1, not
            their logarithms. With one axis fewer than key it is (..., n), a factor a step; with
            as many it is (..., n, d), a factor a step and key channel (Yang et al., 2024a).
        beta: factor on the key that a step writes, but not on the one that it compares, in the
            same two shapes; papers have the first one. None writes without comparing.
        state: (..., d, v) what earlier steps left; None means zeros.

    Returns:
        The output (..., n, v), and the state after the last step (..., d, v), in at least
        float32. Leading axes broadcast; the state has those of all arrays but query.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: shapes that do not fit.

    >>> import numpy as np
    >>> key, value = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[3.0], [5.0]])
    >>> recurrent_linear_attention(key, key, value)[0][:, 0]  # adds
    array([3., 8.])
    >>> recurrent_linear_attention(key, key, value, beta=np.ones(2))[0][:, 0]  # replaces
    array([3., 5.])
    """
    xp, dtype, query, key, value, decay, beta, state = _prepared(
        query, key, value, decay, beta, state
    )
    length, write = key.shape[-2], key if beta is None else beta * key
    outputs = [xp.matmul(query[..., :0, :], state)]
    query, key, value, write, decay = (_rows(xp, x) for x in (query, key, value, write, decay))
    for t in range(length):
        if decay is not None:
            state = xp.matrix_transpose(decay[t]) * state
        new = value[t]
        if beta is not None:
            new = new - xp.matmul(key[t], state)
        state = state + xp.matrix_transpose(write[t]) * new
        outputs.append(xp.matmul(query[t], state))
    return xp.astype(xp.concat(outputs, axis=-2), dtype, copy=False), state


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
        query: (..., n, d).
        key: (..., n, d).
        value: (..., n, v).
        decay: (..., n) or (..., n, d), as in `recurrent_linear_attention`.
        beta: (..., n) or (..., n, d), as there.
        state: (..., d, v) what earlier steps left; None means zeros.
        chunk_size: steps a chunk; the length need not divide by it.

    Returns:
        The output (..., n, v), and the state after the last step (..., d, v), in at least
        float32. Leading axes broadcast; the state has those of all arrays but query.

    Raises:
        TypeError: not floating arrays of one library, or a chunk size that is not whole.
        ValueError: shapes that do not fit, or a chunk size below 1.

    >>> import numpy as np
    >>> one = np.ones((3, 1))
    >>> output, state = chunked_linear_attention(one, one, one, chunk_size=2)
    >>> output[:, 0], state
    (array([1., 2., 3.]), array([[3.]]))
    """
    check_whole(1, chunk_size=chunk_size)
    xp, dtype, query, key, value, decay, beta, state = _prepared(
        query, key, value, decay, beta, state
    )
    length = key.shape[-2]
    chunk_size = max(1, min(int(chunk_size), length))
    write = key if beta is None else beta * key
    query, key, value, write = (_in_chunks(xp, x, chunk_size) for x in (query, key, value, write))
    decay = _filled(xp, 1.0, (length, 1), key) if decay is None else decay
    decay = _in_chunks(xp, decay, chunk_size, fill=1.0)

    weights, reading, writing, kept = _decayed_weights(xp, query, write, decay)
    writing, kept = xp.matrix_transpose(writing), xp.matrix_transpose(kept)
    if beta is not None:
        # What a step writes is its value less what it finds: something of the state that the chunk
        # began with, and of what steps before it wrote. The inverse, the WY form, solves that.
        overlaps, comparing, _, _ = _decayed_weights(xp, key, write, decay)
        inverse = _unit_lower_inverse(xp, overlaps)
        value, comparing = xp.matmul(inverse, value), xp.matmul(inverse, comparing)
        comparing = xp.unstack(comparing, axis=-3)

    states, written = [], []
    count = value.shape[-3]
    kept, writing, value = (xp.unstack(x, axis=-3) for x in (kept, writing, value))
    for chunk in range(count):
        new = value[chunk]
        if beta is not None:
            new = new - xp.matmul(comparing[chunk], state)
        states.append(state)
        written.append(new)
        state = kept[chunk] * state + xp.matmul(writing[chunk], new)
    states, written = xp.stack(states, axis=-3), xp.stack(written, axis=-3)
    output = xp.matmul(reading, states) + xp.matmul(weights, written)
    output = _out_of_chunks(xp, output, chunk_size)[..., :length, :]
    return xp.astype(output, dtype, copy=False), state


def _rows(xp: Any, x: Any | None) -> Any:
    """Take (..., n, w) apart into n arrays (..., 1, w); None stays None."""
    return None if x is None else xp.unstack(x[..., None, :], axis=-3)


def _causal_weights(xp: Any, query: Any, key: Any, decay: Any | None) -> Any:
    """Return the decayed products of the queries with the keys up to their place, (..., n, n)."""
    if decay is None:
        return xp.tril(xp.matmul(query, xp.matrix_transpose(key)))
    length = key.shape[-2]
    query, key = (_in_chunks(xp, x, length) for x in (query, key))
    weights, *_ = _decayed_weights(xp, query, key, _in_chunks(xp, decay, length, fill=1.0))
    return weights[..., 0, :length, :length]


def _decayed_weights(xp: Any, query: Any, key: Any, decay: Any) -> tuple[Any, Any, Any, Any]:
    """Weigh key j for query i by their product, decayed by steps j + 1 to i, within chunks.

    Blocks of 1 step are joined in pairs to blocks of 2, 4, 8... until one block is the chunk. From
    a step in the first half of a block to one in the second, the decay is that to the end of the
    first half times that from there: products of factors, never a ratio.

    Args:
        xp: the namespace.
        query: (..., c, d), c being a power of two.
        key: (..., c, d).
        decay: (..., c, d), or (..., c, 1) for all channels.

    Returns:
        The weights (..., c, c), 0 above the diagonal; the queries decayed since the chunk began
        and the keys decayed until it ends, (..., c, d); what the chunk keeps, (..., 1, d).
    """
    if decay.shape[-1] != query.shape[-1]:  # one factor a step: decay is the same in all channels
        one = xp.ones_like(decay)
        between, since, until, kept = _decayed_weights(xp, one, one, decay)
        products = xp.matmul(query, xp.matrix_transpose(key))
        return between * products, since * query, until * key, kept

    key, decay = xp.broadcast_arrays(key, decay)
    query, key, kept = (x[..., None, :] for x in (query, key, decay))
    weights = xp.matmul(query, xp.matrix_transpose(key))
    query = query * kept
    while kept.shape[-3] > 1:
        (query, late_query), (key, late_key) = _pairs(query), _pairs(key)
        (kept, late_kept), (weights, late_weights) = _pairs(kept), _pairs(weights)
        across = xp.matmul(late_query, xp.matrix_transpose(key))
        weights = _lower_blocks(xp, weights, across, late_weights)
        query = xp.concat([query, late_query * kept], axis=-2)
        key = xp.concat([key * late_kept, late_key], axis=-2)
        kept = kept * late_kept
    return weights[..., 0, :, :], query[..., 0, :, :], key[..., 0, :, :], kept[..., 0, :, :]


def _unit_lower_inverse(xp: Any, lower: Any) -> Any:
    """Invert (..., c, c) as if it had ones on its diagonal and zeros above, c a power of two."""
    size = lower.shape[-1]
    if size == 1:
        return xp.ones_like(lower)
    first, second = slice(size // 2), slice(size // 2, size)
    halves = xp.stack([lower[..., first, first], lower[..., second, second]], axis=-3)
    halves = _unit_lower_inverse(xp, halves)
    early, late = halves[..., 0, :, :], halves[..., 1, :, :]
    across = xp.matmul(late, xp.matmul(lower[..., second, first], early))
    return _lower_blocks(xp, early, -across, late)


def _pairs(blocks: Any) -> tuple[Any, Any]:
    """Split blocks (..., 2 m, s, w) into the first and the second of every pair."""
    return blocks[..., 0::2, :, :], blocks[..., 1::2, :, :]


def _lower_blocks(xp: Any, first: Any, across: Any, second: Any) -> Any:
    """Return [[first, 0], [across, second]]."""
    upper = xp.concat([first, xp.zeros_like(first)], axis=-1)
    lower = xp.concat([across, second], axis=-1)
    return xp.concat([upper, lower], axis=-2)


def _in_chunks(xp: Any, x: Any, size: int, *, fill: float = 0.0) -> Any:
    """Cut (..., n, w) into (..., m, c, w), c being the power of two at or above the size.

    What is missing in the last chunk, and from size to c in all of them, is filled with steps that
    write nothing (0) and forget nothing (1). There is at least one chunk.
    """
    *lead, length, width = x.shape
    size = max(size, 1)
    count = max(-(-length // size), 1)
    x = _lengthened(xp, x, count * size, fill)
    x = xp.reshape(x, (*lead, count, size, width))
    return _lengthened(xp, x, 1 << (size - 1).bit_length(), fill)


def _out_of_chunks(xp: Any, x: Any, size: int) -> Any:
    """Join (..., m, c, w) to (..., m size, w), without the steps from size to c."""
    *lead, count, _, width = x.shape
    return xp.reshape(x[..., :size, :], (*lead, count * size, width))


def _lengthened(xp: Any, x: Any, length: int, fill: float) -> Any:
    *lead, steps, width = x.shape
    if steps == length:
        return x
    return xp.concat([x, _filled(xp, fill, (*lead, length - steps, width), x)], axis=-2)


def _filled(xp: Any, fill: float, shape: Shape, like: Any) -> Any:
    return xp.full(shape, fill, dtype=like.dtype, device=device_of(like))


def _mapped(xp: Any, feature_map: Callable[[Any], Any], x: Any) -> Any:
    if not callable(feature_map):
        raise TypeError(f"feature_map: got {type(feature_map).__name__}, wanted a function or None")
    mapped = feature_map(x)
    if mapped is None:
        raise TypeError("feature_map: got a function that returns None, wanted one of arrays")
    namespace(query=x, feature_map=mapped)
    check_floating(xp, feature_map=mapped)
    if tuple(mapped.shape[:-1]) != tuple(x.shape[:-1]):
        raise ValueError(
            f"feature_map: got shape {tuple(mapped.shape)} from {tuple(x.shape)}, "
            f"wanted all axes but the last unchanged"
        )
    return mapped


def _prepared(
    query: Array,
    key: Array,
    value: Array,
    decay: Array | None,
    beta: Array | None,
    state: Array | None,
) -> tuple[Any, ...]:
    """Refuse a wrong call; return namespace and output dtype of a right one, and its arrays.

    The arrays are widened, the factors (..., n, 1) or (..., n, d), and the state is there.
    """
    arrays = {"query": query, "key": key, "value": value}
    extras = {"decay": decay, "beta": beta, "state": state}
    xp = namespace(**arrays, **extras)
    check_floating(xp, **arrays, **extras)
    _check_sequences(query, key, value)
    dtype = xp.result_type(query, key, value)
    d, v = key.shape[-1], value.shape[-1]
    if state is not None:
        check_rank(2, "(..., d, v)", state=state)
        check_size(d, "the width of key", -2, state=state)
        check_size(v, "the width of value", -1, state=state)
    decay, beta = _factors("decay", decay, key), _factors("beta", beta, key)
    lead = _shared_lead(key=key, value=value, decay=decay, beta=beta, state=state)
    _shared_lead(query=query, key=key, value=value, decay=decay, beta=beta, state=state)
    query, key, value, decay, beta, state = _widen(xp, query, key, value, decay, beta, state)
    zeros = _filled(xp, 0.0, (*lead, d, v), key)
    state = zeros if state is None else zeros + state
    return xp, dtype, query, key, value, decay, beta, state


def _widen(xp: Any, *arrays: Array | None) -> tuple[Any, ...]:
    dtype = accumulation_dtype(xp, *(array for array in arrays if array is not None))
    return tuple(None if array is None else xp.astype(array, dtype, copy=False) for array in arrays)


def _factors(name: str, factors: Array | None, key: Any) -> Any:
    """Return factors as (..., n, 1) or (..., n, d); None stays None."""
    if factors is None:
        return None
    if factors.ndim not in (key.ndim - 1, key.ndim):
        raise ValueError(
            f"{name}: got shape {tuple(factors.shape)}, wanted as many axes as key, (..., n, d), "
            f"or one fewer, (..., n), for key {tuple(key.shape)}"
        )
    each_step = factors.ndim < key.ndim
    check_size(key.shape[-2], "the length of key", -1 if each_step else -2, **{name: factors})
    if each_step:
        return factors[..., None]
    check_size(key.shape[-1], "the width of key", -1, **{name: factors})
    return factors


def _check_sequences(query: Array, key: Array, value: Array, is_causal: bool = True) -> None:
    check_rank(2, "(..., n, d)", query=query, key=key)
    check_rank(2, "(..., n, v)", value=value)
    check_size(query.shape[-1], "the width of query", -1, key=key)
    if is_causal:
        check_size(query.shape[-2], "the length of query", -2, key=key)
    check_size(key.shape[-2], "the length of key", -2, value=value)


def _shared_lead(**arrays: Any) -> Shape:
    """Return the axes before the last two that arrays broadcast to; None is skipped."""
    shared: Shape = ()
    for name, array in arrays.items():
        if array is None:
            continue
        axes = tuple(array.shape[:-2])
        joined = broadcast_shape(shared, axes)
        if joined is None:
            raise ValueError(
                f"{name}: got leading axes {axes}, wanted ones that broadcast with {shared}"
            )
        shared = joined
    return shared
