"""How well does a key answer a query? Four scores, (..., q, d) and (..., k, d) -> (..., q, k)."""

from __future__ import annotations

import math

from companion.arrays import ArrayT, namespace
from companion.contracts import contract


@contract(query="... q d", key="... k d", d=">= 1")
def dot_score(query: ArrayT, key: ArrayT) -> ArrayT:
    """Score queries against keys by their dot product (Luong et al., 2015).

    Returns:
        Scores (..., q, k); leading axes broadcast.

    >>> import numpy as np
    >>> dot_score(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0], [5.0, 6.0]]))
    array([[11., 17.]])
    """
    return query @ key.mT


@contract(query="... q d", key="... k d", d=">= 1")
def scaled_dot_score(
    query: ArrayT, key: ArrayT, *, scale: float | None = None
) -> ArrayT:
    """Score queries against keys by their dot product over sqrt(d) (Vaswani et al., 2017).

    Args:
        scale: factor on the dot products; None means 1 / sqrt(d).

    Returns:
        Scores (..., q, k); leading axes broadcast.

    >>> import numpy as np
    >>> scaled_dot_score(np.ones((1, 4)), np.ones((2, 4)))
    array([[2., 2.]])
    """
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    return dot_score(query * scale, key)  # d products a query, not k


@contract(query="... q d", key="... k e", weight="d e", d=">= 1")
def bilinear_score(query: ArrayT, key: ArrayT, weight: ArrayT) -> ArrayT:
    """Score queries against keys through a learned matrix: "general" in Luong et al. (2015).

    With the identity for the matrix this is the dot score.

    Returns:
        Scores query @ weight @ key^T, (..., q, k); leading axes broadcast.

    >>> import numpy as np
    >>> bilinear_score(np.ones((1, 2)), np.ones((3, 4)), np.ones((2, 4)))
    array([[8., 8., 8.]])
    """
    return dot_score(query @ weight, key)


@contract(
    query="... q d", key="... k e", vector="a", query_weight="d a", key_weight="e a or e = a",
    d=">= 1",
)  # fmt: skip
def additive_score(
    query: ArrayT,
    key: ArrayT,
    query_weight: ArrayT,
    key_weight: ArrayT | None,
    vector: ArrayT,
) -> ArrayT:
    r"""Score queries against keys by a network of one hidden layer (Bahdanau et al., 2015).

    Luong's "concat" is the same score: multiplying the joined vector [query; key] by the stacked
    matrix [query_weight; key_weight] is adding the two products,

        vector . tanh([query; key] @ [query_weight; key_weight])
            = vector . tanh(query @ query_weight + key @ key_weight).

    Args:
        key_weight: None means that the keys are projected already and are (..., k, a): a decoder
            projects its keys once, not at every step.

    Returns:
        Scores (..., q, k); leading axes broadcast. A (..., q, k, a) array is made on the way.

    >>> import numpy as np
    >>> query, key = np.zeros((1, 2)), np.array([[0.0], [50.0]])
    >>> additive_score(query, key, np.ones((2, 3)), np.ones((1, 3)), np.ones(3))
    array([[0., 3.]])
    """
    xp = namespace(query)
    query = query @ query_weight
    if key_weight is not None:
        key = key @ key_weight
    hidden = xp.tanh(query[..., :, None, :] + key[..., None, :, :])
    return hidden @ vector
