"""Check functions of "Captioning and vision".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import numpy as np

from bookkit.exercises.answers import Answer, Expected, Numbers, called, check, fail, refuse


def check_field(field: Answer) -> None:
    """Check how many pixels in a row a cell of the last map depends on.

    Args:
        field: `field(kernels, strides)`, from the lists of kernel widths and strides of
            convolutions, the first first.
    """

    def expected(kernels: list[int], strides: list[int]) -> Expected:
        without_strides = _field(kernels, [1] * len(strides))
        reversed_layers = _field(kernels[::-1], strides[::-1])
        one_early = _field(kernels, [*strides[1:], 1])
        product = int(np.prod(kernels))
        return _field(kernels, strides), {
            "after a stride, neighbours in a map are further apart in the picture": without_strides,
            "what counts for a layer are the strides of the layers before it": reversed_layers,
            "a layer's own stride moves its outputs apart, not its inputs": one_early,
            "windows overlap: a layer adds its width less one, it does not multiply": product,
        }

    kernels = [3], [3, 3], [3, 3, 3], [5, 3, 2, 3]
    strides = [1], [1, 1], [2, 2, 1], [3, 2, 1, 2]
    where = "kernels {}, strides {}: got {got:g}: "
    cases = zip(kernels, strides, strict=True)
    check(field, cases, expected, where=where, otherwise="wanted {wanted}")


def _field(kernels: list[int], strides: list[int]) -> int:
    size = apart = 1
    for kernel, stride in zip(kernels, strides, strict=True):
        size += (kernel - 1) * apart
        apart *= stride
    return size


def check_points(points: Answer) -> None:
    """Check one round of the pointing game.

    Args:
        points: `points(weights, box, size)`, from (rows, columns) weights over a square picture of
            `size` pixels and a box (top, left, bottom, right), whose bottom and right lie just
            outside, to whether the centre of the heaviest cell lies in the box.
    """
    weights = np.full((4, 4), 0.01)
    weights[1, 3] = 0.85  # its centre is 6 pixels down and 14 across
    inside = (2, 10, 11, 16)
    hints = {
        inside: "the heaviest cell lies in the box, and you say it does not",
        (12, 4, 16, 8): "weights have rows first: row is down, column is across",
        (3, 11, 5, 13): "the centre of a cell counts, half a cell below and right of its corner",
        (1, 3, 2, 4): "a cell is size / rows pixels high: turn the cell's number into pixels",
        (2, 10, 6, 16): "bottom and right lie just outside the box",
        (2, 10, 11, 14): "bottom and right lie just outside the box",
    }
    for box, hint in hints.items():
        got = called(points, weights, box, 16)
        if got is None or got is ... or np.ndim(got):
            refuse(got, "True or False")
        if bool(got) is not (box == inside):
            fail(f"box {box}: {hint}")
    print("Right.")


def check_gradient(gradient: Answer) -> None:
    """Check what REINFORCE sends to the scores of one word's cells.

    Args:
        gradient: `score_gradient(scores, cell, reward, baseline)`, the derivative of
            (reward - baseline) log softmax(scores)[cell] by the scores, (k,).
    """

    def expected(scores: Numbers, cell: int, reward: float, baseline: float) -> Expected:
        weights = np.exp(scores) / np.exp(scores).sum()
        taken = np.eye(5)[cell]
        slope, gain = taken - weights, reward - baseline
        of_weight, one_term = gain * weights[cell] * slope, gain * taken
        return gain * slope, {
            "subtract the baseline from the reward": reward * slope,
            "the baseline is subtracted from the reward, not the other way round": -gain * slope,
            "raising one score lowers the other weights: the softmax has a second term": one_term,
            "that is the gradient of the weight; its logarithm is wanted": of_weight,
        }

    rng = np.random.default_rng(4)
    choices = ((2, -1.5, -4.0), (0, -6.0, -2.0), (3, -1.0, 0.0))
    check(gradient, [(rng.normal(size=5), *one) for one in choices], expected, rtol=1e-6, atol=1e-9)


def check_patches(patches: Answer) -> None:
    """Check how a picture is cut into patches.

    Args:
        patches: `patches(image, size)`, from (height, width) to (patches, size * size), row by row,
            and row by row within a patch.
    """

    def expected(image: Numbers, size: int) -> Expected:
        height, width = image.shape
        cut = image.reshape(height // size, size, width // size, size)

        def in_order(*axes: int) -> Numbers:
            return cut.transpose(axes).reshape(-1, size * size)

        by_column = in_order(2, 0, 1, 3)
        return in_order(0, 2, 1, 3), {
            "a reshape alone cuts lines of pixels, not squares": image.reshape(-1, size * size),
            "patches go row by row: the one at the right of the first is the second": by_column,
            "within a patch, pixels go row by row": in_order(0, 2, 3, 1),
        }

    sizes = ((6, 4, 2), (6, 9, 3))
    cases = [(np.arange(h * w, dtype=np.float64).reshape(h, w), size) for h, w, size in sizes]
    check(patches, cases, expected)
