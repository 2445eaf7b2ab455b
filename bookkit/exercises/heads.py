"""Check functions of "Many heads".

Each calls your function or reads your numbers, compares with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, fail, named
from companion.attention import scaled_dot_product_attention

QUESTIONS = 4
CLASSES = 3
WIDTH = 8
"""Of the layers that a check is tried on."""


def check_gap(gap: Answer) -> None:
    """Check the smallest distance between the blends of two sentences.

    Args:
        gap: `gap(weights)`, of a list of weights, one a question that is answered by 0 or 1.
    """

    def expected(weights: list[float]) -> Expected:
        sums = [
            sum(weight for weight, bit in zip(weights, bits, strict=True) if bit)
            for bits in itertools.product((0, 1), repeat=len(weights))
        ]
        apart = [abs(a - b) for a, b in itertools.combinations(sums, 2)]
        listed = [abs(a - b) for a, b in itertools.pairwise(sums)]
        return min(apart), {
            "that is the largest distance of all pairs; the closest pair is the one that is mixed "
            "up": max(apart),
            "compare every sentence with every other one, or sort the blends first: neighbours in "
            "the list need not be neighbours on the line": min(listed),
            "that is the smallest weight; sums of weights can lie closer to each other": min(
                weights
            ),
        }

    cases = [([4 / 7, 2 / 7, 1 / 7],), ([3 / 6, 2 / 6, 1 / 6],), ([0.5, 0.3, 0.2],), ([0.6, 0.4],)]
    otherwise = "gap({}): got {got:.3f}, which is not it"
    answers.check(gap, cases, expected, otherwise=otherwise, rtol=1e-6, atol=1e-9)


def check_cut(transposed: Any, viewed: Any) -> None:
    """Check the second head of three words of width 4, cut in both ways.

    Args:
        transposed: its three rows, cut on the last axis and then transposed.
        viewed: its three rows by one view.
    """
    words = torch.arange(1, 13).reshape(3, 4)
    right = torch.unflatten(words, -1, (2, 2)).transpose(0, 1)
    wrong = words.view(2, 3, 2)
    for name, got, wanted, other in (
        ("transposed", transposed, right, wrong), ("viewed", viewed, wrong, right)
    ):  # fmt: skip
        mistakes = {
            "that is the first head": wanted[0],
            "that is what the other cut gives": other[1],
            "each row is a word, or what passes for one: three rows of two": wanted[1].mT,
        }
        answers.compare(
            _rows(name, got), wanted[1].double(), mistakes, where=f"{name}: ", axes="(n, d)"
        )
    print("Right.")


def _rows(name: str, got: Any) -> Tensor:
    """Return a table that a reader wrote down."""
    if got is None or got is ...:
        fail(f"{name}: got nothing yet: put three rows of two numbers in")
    try:
        table = torch.tensor(got, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        fail(f"{name}: got {named(got)}, wanted three rows of two numbers each")
    return table


def check_one_head(weights: Sequence[float], decode: Answer) -> None:
    """Check that one blend of four values can be told apart again.

    Args:
        weights: four attention weights, those of the positions that the four questions ask for.
        decode: `decode(blend)`, from the weighted sum of their one-hot classes, a list of three
            numbers, to the four classes in the order of the questions.
    """
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
                why = "equal weights cannot say which class came from which place"
            fail(f"weights: the classes {other} and {classes} give the same blend: {why}")
    for classes, blend in blends.items():
        got = answers.called(decode, blend)
        if not isinstance(got, Sequence | Tensor) or len(got) != QUESTIONS:
            fail(f"decode: got {named(got)}, wanted {QUESTIONS} classes")
        decoded = tuple(int(one) for one in got)
        if decoded != classes:
            mixed_up = sorted(decoded) == sorted(classes)
            hint = ": the order of the questions counts" if mixed_up else ""
            fail(f"decode: got {decoded} for the classes {classes}{hint}")
    print("Right.")


def _blend(alpha: Sequence[float], classes: Sequence[int]) -> list[float]:
    return [
        sum(a for a, one in zip(alpha, classes, strict=True) if one == c) for c in range(CLASSES)
    ]


def check_mixes_words(mixes_words: Answer) -> None:
    """Check a test that tells layers whose heads are cut across words from sound ones.

    Args:
        mixes_words: `mixes_words(layer)`, whether a layer mixes up words; `layer` takes (b, n, 8)
            tensors in double precision to the same shape, has no positions and no mask.
    """
    cases = (
        ("four sound heads", 4, (_cut, _join), False),
        ("one sound head", 1, (_cut, _join), False),
        ("two heads, cut by a view and joined by one", 2, (_viewed, _view_back), True),
        ("four heads, cut by a view and joined with a transpose", 4, (_viewed, _join), True),
        ("four heads, cut with a transpose and joined by a view", 4, (_cut, _view_back), True),
    )
    for name, num_heads, ways, wrong in cases:
        got = answers.called(mixes_words, _CutLayer(num_heads, *ways))
        if isinstance(got, Tensor) and got.numel() == 1:
            got = got.item()
        if not isinstance(got, bool):
            fail(f"mixes_words: got {named(got)}, wanted True or False")
        if got and not wrong:
            fail(f"{name} do no wrong: reorder the words and the outputs in the same way, and "
                 "leave room for rounding")  # fmt: skip
        if wrong and not got:
            fail(f"{name}: this layer mixes up words, and your test does not see it")
    print("Right.")


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
