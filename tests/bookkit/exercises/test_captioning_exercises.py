"""The check functions of "Captioning and vision": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.captioning import (
    check_field,
    check_gradient,
    check_patches,
    check_points,
)

Answer = Callable[..., Any]


def field(kernels: Any, strides: Any) -> int:
    """Go back from one cell: how many inputs a row of outputs needs."""
    size = 1
    for kernel, stride in zip(reversed(kernels), reversed(strides), strict=True):
        size = (size - 1) * stride + kernel
    return size


def points(weights: Any, box: Any, size: int) -> bool:
    row, column = divmod(int(weights.argmax()), weights.shape[1])
    down, across = (row + 0.5) * size / len(weights), (column + 0.5) * size / len(weights)
    return bool(box[0] <= down < box[2] and box[1] <= across < box[3])


def gradient(scores: Any, cell: int, reward: float, baseline: float) -> list[float]:
    """Differentiate by differences."""

    def value(shifted: Any) -> float:
        log_weight = shifted[cell] - math.log(sum(math.exp(s) for s in shifted))
        return float((reward - baseline) * log_weight)

    step, found = 1e-5, []
    for i in range(len(scores)):
        up, down = scores.copy(), scores.copy()
        up[i] += step
        down[i] -= step
        found.append((value(up) - value(down)) / (2 * step))
    return found


def patches(image: Any, size: int) -> list[Any]:
    return [
        image[i : i + size, j : j + size].ravel()
        for i in range(0, image.shape[0], size)
        for j in range(0, image.shape[1], size)
    ]


def soft(scores: Any) -> Any:
    return np.exp(scores) / np.exp(scores).sum()


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_field, field),
        (check_points, points),
        (check_patches, patches),
        (check_gradient, lambda s, c, r, b: (r - b) * (np.eye(len(s))[c] - soft(s))),
    ],
    ids=["field", "points", "patches", "gradient"],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def test_the_gradient_is_that_of_differences() -> None:
    scores = np.array([0.3, -1.0, 0.7])
    wanted = 2.5 * (np.eye(3)[1] - soft(scores))
    assert gradient(scores, 1, -1.5, -4.0) == pytest.approx(wanted, abs=1e-6)


def cell_of(weights: Any) -> tuple[int, int]:
    row, column = divmod(int(weights.argmax()), weights.shape[1])
    return row, column


def inside(box: Any, down: float, across: float) -> bool:
    return bool(box[0] <= down < box[2] and box[1] <= across < box[3])


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_field, lambda k, s: 1 + sum(x - 1 for x in k), "after a stride, neighbours"),
    (check_field, lambda k, s: math.prod(k), "it does not multiply"),
    (check_field, lambda k, s: field(k, [1, *s[:-1]]), "own stride|strides of the layers|wanted"),
    (check_field, lambda k, s: 4, "wanted 3"),
    (check_field, lambda k, s: None, "end in a return"),
    (check_field, lambda k: 3, "your function stops"),
    (check_points, lambda w, b, n: False, "and you say it does not"),
    (
        check_points,
        lambda w, b, n: inside(b, cell_of(w)[1] * 4 + 2, cell_of(w)[0] * 4 + 2) or b[0] == 2,
        "row is down",
    ),
    (
        check_points,
        lambda w, b, n: inside(b, cell_of(w)[0] * 4, cell_of(w)[1] * 4),
        "half a cell below",
    ),
    (check_points, lambda w, b, n: inside(b, *cell_of(w)) or b[0] == 2, "into pixels"),
    (
        check_points,
        lambda w, b, n: b[0] <= 6 <= b[2] and b[1] <= 14 <= b[3],
        "lie just outside the box",
    ),
    (check_points, lambda w, b, n: None, "end in a return"),
    (check_gradient, lambda s, c, r, b: r * (np.eye(5)[c] - soft(s)), "subtract the baseline"),
    (
        check_gradient,
        lambda s, c, r, b: (b - r) * (np.eye(5)[c] - soft(s)),
        "the other way round",
    ),
    (check_gradient, lambda s, c, r, b: (r - b) * np.eye(5)[c], "has a second term"),
    (
        check_gradient,
        lambda s, c, r, b: (r - b) * soft(s)[c] * (np.eye(5)[c] - soft(s)),
        "its logarithm is wanted",
    ),
    (check_gradient, lambda s, c, r, b: s, "the numbers are not"),
    (check_gradient, lambda s, c, r, b: s[1:], "got shape"),
    (check_gradient, lambda s, c, r, b: "up", "wanted an array"),
    (check_patches, lambda x, n: x.reshape(-1, n * n), "cuts lines of pixels"),
    (
        check_patches,
        lambda x, n: [
            x[i : i + n, j : j + n].ravel()
            for j in range(0, x.shape[1], n)
            for i in range(0, x.shape[0], n)
        ],
        "the one at the right",
    ),
    (check_patches, lambda x, n: [p.reshape(n, n).T.ravel() for p in patches(x, n)], "pixels go"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"), WRONG, ids=[str(n) for n in range(len(WRONG))]
)
def test_a_wrong_answer_gets_its_hint(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
