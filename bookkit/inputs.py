"""Turn what readers pass to a figure into NumPy arrays, with errors that name the argument."""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
Span = tuple[float, float]

FINITE: Span = (-inf, inf)


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


def as_vector(
    value: Any, name: str, length: int | None = None, *, within: Span | None = None
) -> Numbers:
    """Convert to a vector, of numbers within a span if there is one."""
    vector = as_numbers(value, name)
    wanted = "(n,)" if length is None else f"({length},)"
    if vector.ndim != 1 or not vector.size or (length is not None and vector.size != length):
        raise ValueError(f"{name}: got shape {vector.shape}, wanted {wanted}")
    return vector if within is None else all_within(vector, name, within)


def as_matrix(
    value: Any, name: str, width: int | None = None, *, within: Span | None = None
) -> Numbers:
    """Convert to a (q, k) matrix, of numbers within a span if there is one."""
    matrix = as_numbers(value, name)
    if matrix.ndim != 2 or not matrix.size or (width is not None and matrix.shape[1] != width):
        hint = f"; pick one, as in {name}[0]" if matrix.ndim > 2 else ""
        wanted = f"(q, {width or 'k'})"
        raise ValueError(f"{name}: got shape {matrix.shape}, wanted {wanted}{hint}")
    return matrix if within is None else all_within(matrix, name, within)


def all_within(numbers: Numbers, name: str, span: Span) -> Numbers:
    """Return numbers that are finite and lie within a span.

    >>> all_within(np.array([0.5, np.nan]), "shares", (0, 1))
    Traceback (most recent call last):
    ValueError: shares: got nan, wanted numbers from 0 to 1
    """
    low, high = span
    wrong = numbers[~(np.isfinite(numbers) & (low <= numbers) & (numbers <= high))]
    if wrong.size:
        wanted = "finite numbers" if span == FINITE else f"numbers from {low:g} to {high:g}"
        raise ValueError(f"{name}: got {wrong[0]:g}, wanted {wanted}")
    return numbers


def in_span(value: float, name: str, low: float, high: float) -> None:
    """Refuse a number outside of a span.

    >>> in_span(4, "row", 0, 2)
    Traceback (most recent call last):
    ValueError: row: got 4, wanted 0 to 2
    """
    if not low <= value <= high:
        raise ValueError(f"{name}: got {value}, wanted {low:g} to {high:g}")


def one_of(value: Any, name: str, choices: Iterable[Any]) -> int:
    """Return the place of a value among those that can be chosen.

    >>> one_of("b", "letter", "abc")
    1
    """
    known = list(choices)
    if value not in known:
        raise ValueError(f"{name}: got {value!r}, wanted one of {', '.join(map(str, known))}")
    return known.index(value)


def links_inside(
    links: Iterable[tuple[int, int]], name: str, shape: tuple[int, ...], axes: str
) -> list[tuple[int, int]]:
    """Return links in order, each of them a place in a matrix.

    >>> links_inside(enumerate([1]), "links", (1, 2), "query, key")
    [(0, 1)]
    """
    ordered = sorted(links)
    for row, column in ordered:
        if not (0 <= row < shape[0] and 0 <= column < shape[1]):
            wanted = f"({axes}) inside ({shape[0]}, {shape[1]})"
            raise ValueError(f"{name}: got link {(row, column)}, wanted {wanted}")
    return ordered


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
