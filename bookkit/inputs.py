"""Turn what readers pass to a figure into NumPy arrays, with errors that name the argument."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def as_numbers(value: Any, name: str) -> Numbers:
    """Convert lists, arrays and tensors (any dtype, device, with gradient) to float64.

    >>> as_numbers([1, 2], "x")
    array([1., 2.])
    """
    for step in ("detach", "cpu", "double"):  # a torch tensor, without importing torch
        value = getattr(value, step, lambda value=value: value)()
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: got {type(value).__name__}, wanted numbers: {error}") from None


def as_vector(value: Any, name: str, length: int | None = None) -> Numbers:
    """Convert to a vector."""
    vector = as_numbers(value, name)
    wanted = "(n,)" if length is None else f"({length},)"
    if vector.ndim != 1 or not vector.size or (length is not None and vector.size != length):
        raise ValueError(f"{name}: got shape {vector.shape}, wanted {wanted}")
    return vector


def as_matrix(value: Any, name: str) -> Numbers:
    """Convert to a (q, k) matrix."""
    matrix = as_numbers(value, name)
    if matrix.ndim != 2 or not matrix.size:
        hint = f"; pick one, as in {name}[0]" if matrix.ndim > 2 else ""
        raise ValueError(f"{name}: got shape {matrix.shape}, wanted (q, k){hint}")
    return matrix


def as_intervals(value: Any, name: str, length: int) -> Numbers:
    """Convert to (n, 2): a low and a high end each."""
    pairs = as_numbers(value, name)
    if pairs.shape != (length, 2):
        raise ValueError(
            f"{name}: got shape {pairs.shape}, wanted ({length}, 2): a low and a high end each"
        )
    return pairs


def as_labels(labels: Sequence[str], name: str, length: int, one_for: str) -> list[str]:
    """Check the number of labels, and make blanks visible; an empty label stays empty.

    >>> as_labels(["a", " ", ""], "rows", 3, "query")
    ['a', '␣', '']
    """
    if len(labels) != length:
        raise ValueError(f"{name}: got {len(labels)} labels, wanted {length}, one a {one_for}")
    return ["␣" if label.isspace() else label for label in labels]
