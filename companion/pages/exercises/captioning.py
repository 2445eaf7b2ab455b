"""Check functions of "Captioning and vision".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.pages.exercises.answers import as_number, called, compare, fail, named

Numbers = NDArray[np.float64]
_compare = partial(compare, rtol=1e-6, atol=1e-9)


def check_field(field: Callable[..., Any]) -> None:
    """Check how many pixels in a row a cell of the last map depends on.

    Args:
        field: `field(kernels, strides)`, from the lists of kernel widths and strides of
            convolutions, the first first.

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    for kernels, strides in (
        ([3], [1]),
        ([3, 3], [1, 1]),
        ([3, 3, 3], [2, 2, 1]),
        ([5, 3, 2, 3], [3, 2, 1, 2]),
    ):
        got = as_number(called(field, list(kernels), list(strides)))
        wanted = _field(kernels, strides)
        if got == wanted:
            continue
        case = f"kernels {kernels}, strides {strides}: got {got:g}"
        if got == _field(kernels, [1] * len(strides)):
            fail(f"{case}: after a stride, neighbours in a map are further apart in the picture")
        if got == _field(kernels[::-1], strides[::-1]):
            fail(f"{case}: what counts for a layer are the strides of the layers before it")
        if got == _field(kernels, [*strides[1:], 1]):
            fail(f"{case}: a layer's own stride moves its outputs apart, not its inputs")
        if got == int(np.prod(kernels)):
            fail(f"{case}: windows overlap: a layer adds its width less one, it does not multiply")
        fail(f"{case}, wanted {wanted}")
    print("Right.")


def _field(kernels: list[int], strides: list[int]) -> int:
    size = apart = 1
    for kernel, stride in zip(kernels, strides, strict=True):
        size += (kernel - 1) * apart
        apart *= stride
    return size


def check_points(points: Callable[..., Any]) -> None:
    """Check one round of the pointing game.

    Args:
        points: `points(weights, box, size)`, from (rows, columns) weights over a square picture of
            `size` pixels and a box (top, left, bottom, right), whose bottom and right lie just
            outside, to whether the centre of the heaviest cell lies in the box.

    Raises:
        AssertionError: an answer is wrong; the message hints at the cause.
    """
    hints = {
        "inside": "the heaviest cell lies in the box, and you say it does not",
        "turned": "weights have rows first: row is down, column is across",
        "corner": "the centre of a cell counts, half a cell below and right of its corner",
        "end": "bottom and right lie just outside the box",
        "pixels": "a cell is size / rows pixels high: turn the cell's number into pixels",
    }
    weights = np.full((4, 4), 0.01)
    weights[1, 3] = 0.85  # its centre is 6 pixels down and 14 across
    for case, box, wanted in (
        ("inside", (2, 10, 11, 16), True),
        ("turned", (12, 4, 16, 8), False),
        ("corner", (3, 11, 5, 13), False),
        ("pixels", (1, 3, 2, 4), False),
        ("end", (2, 10, 6, 16), False),
        ("end", (2, 10, 11, 14), False),
    ):
        got = called(points, weights.copy(), box, 16)
        if got is None or got is ... or np.ndim(got):
            fail(f"got {named(got)}, wanted True or False")
        if bool(got) is not wanted:
            fail(f"box {box}: {hints[case]}")
    print("Right.")


def check_gradient(gradient: Callable[..., Any]) -> None:
    """Check what REINFORCE sends to the scores of one word's cells.

    Args:
        gradient: `score_gradient(scores, cell, reward, baseline)`, the derivative of
            (reward - baseline) log softmax(scores)[cell] by the scores, (k,).

    Raises:
        AssertionError: a number is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(4)
    for cell, reward, baseline in ((2, -1.5, -4.0), (0, -6.0, -2.0), (3, -1.0, 0.0)):
        scores = rng.normal(size=5)
        weights = np.exp(scores) / np.exp(scores).sum()
        taken = np.eye(5)[cell]
        gain = reward - baseline
        mistakes = {
            "subtract the baseline from the reward": reward * (taken - weights),
            "the baseline is subtracted from the reward, not the other way round": -gain
            * (taken - weights),
            "raising one score lowers the other weights: the softmax has a second term": gain
            * taken,
            "that is the gradient of the weight; its logarithm is wanted": gain
            * weights[cell]
            * (taken - weights),
        }
        got = called(gradient, scores.copy(), cell, reward, baseline)
        _compare(got, gain * (taken - weights), mistakes)
    print("Right.")


def check_patches(patches: Callable[..., Any]) -> None:
    """Check how a picture is cut into patches.

    Args:
        patches: `patches(image, size)`, from (height, width) to (patches, size * size), row by row,
            and row by row within a patch.

    Raises:
        AssertionError: the result is wrong; the message hints at the cause.
    """
    for height, width, size in ((6, 4, 2), (6, 9, 3)):
        image = np.arange(float(height * width)).reshape(height, width)
        rows, columns = height // size, width // size
        cut = image.reshape(rows, size, columns, size)
        mistakes = {
            "a reshape alone cuts lines of pixels, not squares": image.reshape(-1, size * size),
            "patches go row by row: the one at the right of the first is the second": cut.transpose(
                2, 0, 1, 3
            ).reshape(-1, size * size),
            "within a patch, pixels go row by row": cut.transpose(0, 2, 3, 1).reshape(
                -1, size * size
            ),
        }
        wanted = cut.transpose(0, 2, 1, 3).reshape(-1, size * size)
        _compare(called(patches, image.copy(), size), wanted, mistakes)
    print("Right.")
