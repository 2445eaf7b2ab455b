"""The exercises of "Captioning and vision"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse, softmax
from bookkit.exercises.exercise import Function, Verdict


def _field(kernels: list[int], strides: list[int]) -> int:
    size = apart = 1
    for kernel, stride in zip(kernels, strides, strict=True):
        size += (kernel - 1) * apart
        apart *= stride
    return size


check_field = Function(
    "`field(kernels, strides)`, how many pixels in a row a cell of the last map depends on, from "
    "the lists of kernel widths and strides of convolutions, the first first.",
    right=_field,
    cases=[([3], [1]), ([3, 3], [1, 1]), ([3, 3, 3], [2, 2, 1]), ([5, 3, 2, 3], [3, 2, 1, 2])],
    mistakes={
        "after a stride, neighbours in a map are further apart in the picture":
            lambda kernels, strides: _field(kernels, [1] * len(strides)),
        "what counts for a layer are the strides of the layers before it":
            lambda kernels, strides: _field(kernels[::-1], strides[::-1]),
        "a layer's own stride moves its outputs apart, not its inputs":
            lambda kernels, strides: _field(kernels, [*strides[1:], 1]),
        "windows overlap: a layer adds its width less one, it does not multiply":
            lambda kernels, strides: math.prod(kernels),
    }, where="kernels {}, strides {}: got {got:g}: ", otherwise="wanted {wanted}",
)  # fmt: skip

HEAVY = np.full((4, 4), 0.01)
HEAVY[1, 3] = 0.85  # its centre is 6 pixels down and 14 across


def _truth(got: Any) -> bool:
    if got is None or got is ... or np.ndim(got):
        refuse(got, "True or False")
    return bool(got)


check_points = Verdict(
    "`points(weights, box, size)`, from (rows, columns) weights over a square picture of `size` "
    "pixels and a box (top, left, bottom, right), whose bottom and right lie just outside, to "
    "whether the centre of the heaviest cell lies in the box.",
    suspects=[
        ((HEAVY, box, 16), inside, hint)
        for box, inside, hint in (
            ((2, 10, 11, 16), True, "the heaviest cell lies in the box, and you say it does not"),
            ((12, 4, 16, 8), False, "weights have rows first: row is down, column is across"),
            ((3, 11, 5, 13), False, "the centre of a cell counts, half a cell below and right of "
             "its corner"),
            ((1, 3, 2, 4), False, "a cell is size / rows pixels high: turn the cell's number into "
             "pixels"),
            ((2, 10, 6, 16), False, "bottom and right lie just outside the box"),
            ((2, 10, 11, 14), False, "bottom and right lie just outside the box"),
        )
    ], read=_truth, says="box {1}: {hint}",
)  # fmt: skip


def _slope(scores: Numbers, cell: int) -> Any:
    """Return the derivative of log softmax(scores)[cell]."""
    return np.eye(len(scores))[cell] - softmax(scores)


DICE = np.random.default_rng(4)

check_gradient = Function(
    "`score_gradient(scores, cell, reward, baseline)`, what REINFORCE sends to the scores of one "
    "word's cells: the derivative of (reward - baseline) log softmax(scores)[cell] by the scores, "
    "(k,).",
    right=lambda scores, cell, reward, baseline: (reward - baseline) * _slope(scores, cell), cases=[
        (DICE.normal(size=5), *choice)
        for choice in ((2, -1.5, -4.0), (0, -6.0, -2.0), (3, -1.0, 0.0))
    ], mistakes={
        "subtract the baseline from the reward": lambda s, i, r, b: r * _slope(s, i),
        "the baseline is subtracted from the reward, not the other way round":
            lambda s, i, r, b: (b - r) * _slope(s, i),
        "raising one score lowers the other weights: the softmax has a second term":
            lambda s, i, r, b: (r - b) * np.eye(len(s))[i],
        "that is the gradient of the weight; its logarithm is wanted":
            lambda s, i, r, b: (r - b) * (np.exp(s) / np.exp(s).sum())[i] * _slope(s, i),
    }, rtol=1e-6, atol=1e-9,
)  # fmt: skip


def _patches(image: Numbers, size: int, *axes: int) -> Numbers:
    """Cut a picture into (down, row, across, column), and write that in some order."""
    height, width = image.shape
    cut = image.reshape(height // size, size, width // size, size)
    return cut.transpose(axes or (0, 2, 1, 3)).reshape(-1, size * size)


check_patches = Function(
    "`patches(image, size)`, from (height, width) to (patches, size * size), row by row, and row "
    "by row within a patch.",
    right=_patches, cases=[
        (np.arange(h * w, dtype=np.float64).reshape(h, w), size)
        for h, w, size in ((6, 4, 2), (6, 9, 3))
    ], mistakes={
        "a reshape alone cuts lines of pixels, not squares": lambda x, s: x.reshape(-1, s * s),
        "patches go row by row: the one at the right of the first is the second":
            lambda x, s: _patches(x, s, 2, 0, 1, 3),
        "within a patch, pixels go row by row": lambda x, s: _patches(x, s, 0, 2, 3, 1),
    },
)  # fmt: skip
