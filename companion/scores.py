# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""How well does a key answer a query? Four scores, (..., q, d) and (..., k, d) -> (..., q, k)."""

from __future__ import annotations

import math
from typing import Any

from companion.arrays import (
    Array,
    ArrayT,
    broadcast_shape,
    check_floating,
    check_number,
    check_rank,
    check_size,
    namespace,
)


def dot_score(query: ArrayT, key: ArrayT) -> ArrayT:
    """Score queries against keys by their dot product (Luong et al., 2015).

    Args:
        query: (..., q, d).
        key: (..., k, d).

    Returns:
        Scores (..., q, k); leading axes broadcast.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: too few axes, or widths d that differ.

    >>> import numpy as np
    >>> dot_score(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[11., 17.]])
    """
    xp = _check_pair(query, key)
    check_size(query.shape[-1], "the width of query", -1, key=key)
    return xp.matmul(query, xp.matrix_transpose(key))


def scaled_dot_score(query: ArrayT, key: ArrayT, *, scale: float | None = None) -> ArrayT:
    """Score queries against keys by their dot product over sqrt(d) (Vaswani et al., 2017).

    Args:
        query: (..., q, d).
        key: (..., k, d).
        scale: factor on the dot product; None means 1 / sqrt(d).

    Returns:
        Scores (..., q, k); leading axes broadcast.

    Raises:
        TypeError: not floating arrays of one library, or a scale that is no number.
        ValueError: too few axes, or widths d that differ.

    >>> import numpy as np
    >>> scaled_dot_score(np.ones((1, 4)), np.ones((2, 4)))
    array([[2., 2.]])
    """
    check_number(scale=scale)
    _check_pair(query, key)
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    return dot_score(query * scale, key)  # d products a query, not k


def bilinear_score(query: ArrayT, key: ArrayT, weight: ArrayT) -> ArrayT:
    """Score queries against keys through a learned matrix: "general" in Luong et al. (2015).

    With the identity for the matrix this is the dot score.

    Args:
        query: (..., q, d).
        key: (..., k, width of a key).
        weight: (d, width of a key).

    Returns:
        Scores query @ weight @ key^T, (..., q, k); leading axes broadcast.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: too few axes, or widths that differ.

    >>> import numpy as np
    >>> bilinear_score(np.ones((1, 2)), np.ones((3, 4)), np.ones((2, 4)))
    array([[8., 8., 8.]])
    """
    xp = _check_pair(query, key, weight=weight)
    check_rank(2, "(width of query, width of key)", weight=weight)
    check_size(query.shape[-1], "the width of query", -2, weight=weight)
    check_size(key.shape[-1], "the width of key", -1, weight=weight)
    return dot_score(xp.matmul(query, weight), key)


def additive_score(
    query: ArrayT, key: ArrayT, query_weight: ArrayT, key_weight: ArrayT | None, vector: ArrayT
) -> ArrayT:
    r"""Score queries against keys by a network of one hidden layer (Bahdanau et al., 2015).

    Luong's "concat" is the same score: multiplying the joined vector [query; key] by the stacked
    matrix [query_weight; key_weight] is adding the two products,

        vector . tanh([query; key] @ [query_weight; key_weight])
            = vector . tanh(query @ query_weight + key @ key_weight).

    Args:
        query: (..., q, d).
        key: (..., k, width of a key).
        query_weight: (d, hidden).
        key_weight: (width of a key, hidden); None means that `key` is projected already and is
            (..., k, hidden): a decoder projects its keys once, not at every step.
        vector: (hidden,).

    Returns:
        Scores (..., q, k); leading axes broadcast. A (..., q, k, hidden) array is made on the way.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: too few axes, or sizes that differ.

    >>> import numpy as np
    >>> query, key = np.zeros((1, 2)), np.array([[0.0], [50.0]])
    >>> additive_score(query, key, np.ones((2, 3)), np.ones((1, 3)), np.ones(3))
    array([[0., 3.]])
    """
    given = {"query_weight": query_weight, "key_weight": key_weight, "vector": vector}
    xp = _check_pair(query, key, **given)
    check_rank(1, "(hidden,)", exactly=True, vector=vector)
    hidden = vector.shape[0]
    _check_weight(query_weight, query.shape[-1], hidden, "query")
    if key_weight is not None:
        _check_weight(key_weight, key.shape[-1], hidden, "key")
        key = xp.matmul(key, key_weight)
    check_size(hidden, "the width of vector", -1, key=key)

    projected_query = xp.matmul(query, query_weight)
    activation = xp.tanh(projected_query[..., :, None, :] + key[..., None, :, :])
    return xp.matmul(activation, vector)


def _check_weight(weight: Array, width: int, hidden: int, side: str) -> None:
    name = f"{side}_weight"
    check_rank(2, "(width, hidden)", exactly=True, **{name: weight})
    check_size(width, f"the width of {side}", -2, **{name: weight})
    check_size(hidden, "the width of vector", -1, **{name: weight})


def _check_pair(query: Array, key: Array, **parameters: Array | None) -> Any:
    xp = namespace(query=query, key=key, **parameters)
    check_floating(xp, query=query, key=key, **parameters)
    check_rank(2, "(..., q, d)", query=query)
    check_rank(2, "(..., k, d)", key=key)
    if query.shape[-1] == 0:
        raise ValueError(f"query: got width 0 in shape {tuple(query.shape)}, wanted at least 1")
    if broadcast_shape(query.shape[:-2], key.shape[:-2]) is None:
        raise ValueError(
            f"key: got leading axes {tuple(key.shape[:-2])}, "
            f"wanted ones that broadcast with {tuple(query.shape[:-2])}"
        )
    return xp
