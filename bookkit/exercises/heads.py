"""The exercises of "Many heads"."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from bookkit.exercises.answers import Answer, Numbers, called, fail, named
from bookkit.exercises.exercise import Function, Judged, Several, Value, Verdict
from companion.attention import scaled_dot_product_attention

QUESTIONS = 4
CLASSES = 3
WIDTH = 8
"""Of the layers that a test is tried on."""


def _blends(weights: list[float]) -> list[float]:
    """Return the sums of some of the weights, in the order of the sentences."""
    return [
        sum(itertools.compress(weights, bits))
        for bits in itertools.product((0, 1), repeat=len(weights))
    ]


check_gap = Function(
    "`gap(weights)`, the smallest distance between the blends of two sentences, of a list of "
    "weights, one a question that is answered by 0 or 1.",
    right=lambda weights: min(np.diff(sorted(_blends(weights)))), cases=[
        ([4 / 7, 2 / 7, 1 / 7],), ([3 / 6, 2 / 6, 1 / 6],), ([0.5, 0.3, 0.2],), ([0.6, 0.4],),
        ([0.2, 0.3, 0.5],),
    ], mistakes={
        "that is the largest distance of all pairs; the closest pair is the one that is mixed "
        "up": sum,
        "compare every sentence with every other one, or sort the blends first: neighbours in "
        "the list need not be neighbours on the line":
            lambda weights: min(abs(np.diff(_blends(weights)))),
        "that is the smallest weight; sums of weights can lie closer to each other": min,
    }, otherwise="gap({}): got {got:.3f}, which is not it", rtol=1e-6, atol=1e-9,
)  # fmt: skip


def _rows(got: Any) -> Numbers:
    """Return a table that a reader wrote down."""
    if got is None or got is ...:
        fail("got nothing yet: put three rows of two numbers in")
    try:
        return np.array(got, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        fail(f"got {named(got)}, wanted three rows of two numbers each")


def _second_head(cut: Numbers, other: Numbers) -> Value:
    return Value("Its three rows.", right=cut[1], mistakes={
        "that is the first head": cut[0],
        "that is what the other cut gives": other[1],
        "each row is a word, or what passes for one: three rows of two": cut[1].T,
    }, read=_rows, axes="(n, d)")  # fmt: skip


TRANSPOSED = np.arange(1.0, 13.0).reshape(3, 2, 2).swapaxes(0, 1)
VIEWED = np.arange(1.0, 13.0).reshape(2, 3, 2)

check_cut = Several(
    "The second head of three words of width 4: cut on the last axis and then transposed, and by "
    "one view.",
    transposed=_second_head(TRANSPOSED, VIEWED), viewed=_second_head(VIEWED, TRANSPOSED),
)  # fmt: skip


def _judge_one_head(weights: Sequence[float], decode: Answer) -> None:
    try:
        alpha = [float(weight) for weight in weights]
    except (TypeError, ValueError):
        fail(f"weights: got {named(weights)}, wanted {QUESTIONS} numbers")
    if len(alpha) != QUESTIONS:
        fail(f"weights: got {len(alpha)}, wanted {QUESTIONS}, one a question")
    if min(alpha) < 0 or not math.isclose(sum(alpha), 1, abs_tol=1e-6):
        fail("weights: a softmax gives positive numbers that sum to 1")
    tuples = list(itertools.product(range(CLASSES), repeat=QUESTIONS))
    blends = {classes: _blend(alpha, classes) for classes in tuples}
    by_blend: dict[tuple[float, ...], tuple[int, ...]] = {}
    for classes, blend in blends.items():
        rounded = tuple(round(share, 6) for share in blend)
        other = by_blend.setdefault(rounded, classes)
        if other != classes:
            why = "some weights sum to as much as others"
            if len(set(alpha)) < QUESTIONS:
                why = "with equal weights, nobody can tell which class came from where"
            fail(f"weights: the classes {other} and {classes} give the same blend: {why}")
    for classes, blend in blends.items():
        got = called(decode, blend)
        if not isinstance(got, Sequence | Tensor) or len(got) != QUESTIONS:
            fail(f"decode: got {named(got)}, wanted {QUESTIONS} classes")
        decoded = tuple(int(one) for one in got)
        if decoded != classes:
            mixed_up = sorted(decoded) == sorted(classes)
            hint = ": the order of the questions counts" if mixed_up else ""
            fail(f"decode: got {decoded} for the classes {classes}{hint}")


def _blend(alpha: Sequence[float], classes: Sequence[int]) -> list[float]:
    return [
        sum(a for a, one in zip(alpha, classes, strict=True) if one == c) for c in range(CLASSES)
    ]


BINARY = [8 / 15, 4 / 15, 2 / 15, 1 / 15]


def _decode(blend: list[float]) -> list[int]:
    left, found = list(blend), []
    for weight in BINARY:
        found.append(max(range(CLASSES), key=left.__getitem__))
        left[found[-1]] -= weight
    return found


check_one_head = Judged(
    "Four attention weights, those of the positions that the four questions ask for, and "
    "`decode(blend)`, from the weighted sum of their one-hot classes, a list of three numbers, to "
    "the four classes in the order of the questions.",
    by=_judge_one_head, right=(BINARY, _decode), mistakes={
        "with equal weights, nobody can tell which class came from where": ([0.25] * 4, _decode),
        "some weights sum to as much as others": ([0.5, 0.3, 0.15, 0.05], _decode),
        "weights: got 3, wanted 4, one a question": (BINARY[:3], _decode),
        "a softmax gives positive numbers that sum to 1": ([8, 4, 2, 1], _decode),
        "weights: got 'half', wanted 4 numbers": ("half", _decode),
        "decode: got a list, wanted 4 classes": (BINARY, lambda blend: [0, 0, 0]),
        "the order of the questions counts": (BINARY, lambda blend: _decode(blend)[::-1]),
        "decode: got (0, 0, 0, 0) for the classes (0, 0, 0, 1)": (BINARY, lambda blend: [0] * 4),
    },
)  # fmt: skip


class _CutLayer(nn.Module):
    """A layer of attention with its heads cut and joined in given ways."""

    def __init__(self, num_heads: int, cut: Answer, join: Answer) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(5)
        self.num_heads, self.cut, self.join = num_heads, cut, join
        self.weights = torch.randn(4, WIDTH, WIDTH, generator=generator, dtype=torch.float64)

    def forward(self, x: Tensor) -> Tensor:
        """Attend in heads, (b, n, e) to (b, n, e)."""
        query, key, value = (self.cut(x @ weight, self.num_heads) for weight in self.weights[:3])
        found = scaled_dot_product_attention(query, key, value)
        return torch.as_tensor(self.join(found) @ self.weights[3])


def _cut(x: Tensor, num_heads: int) -> Tensor:
    return torch.unflatten(x, -1, (num_heads, -1)).transpose(1, 2)


def _join(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(-2)


def _viewed(x: Tensor, num_heads: int) -> Tensor:
    b, n, e = x.shape
    return x.reshape(b, num_heads, n, e // num_heads)


def _view_back(heads: Tensor) -> Tensor:
    b, h, n, d = heads.shape
    return heads.reshape(b, n, h * d)


check_mixes_words = Verdict(
    "`mixes_words(layer)`, whether a layer mixes up words, because its heads are cut across them; "
    "`layer` takes (b, n, 8) tensors in double precision to the same shape, has no positions and "
    "no mask.",
    suspects=[
        *(
            ((_CutLayer(num_heads, _cut, _join),), False, f"{name} do no wrong: reorder the words "
             "and the outputs in the same way, and leave room for rounding")
            for name, num_heads in (("four sound heads", 4), ("one sound head", 1))
        ),
        *(
            ((_CutLayer(num_heads, cut, join),), True, f"{name}: this layer mixes up words, and "
             "your test does not see it")
            for name, num_heads, cut, join in (
                ("two heads, cut by a view and joined by one", 2, _viewed, _view_back),
                ("four heads, cut by a view and joined with a transpose", 4, _viewed, _join),
                ("four heads, cut with a transpose and joined by a view", 4, _cut, _view_back),
            )
        ),
    ],
)  # fmt: skip
