"""The exercises of "Choices: the scores of Luong"."""

import math

import numpy as np
import torch
from torch import Tensor

from bookkit.exercises.answers import softmax
from bookkit.exercises.exercise import Function, Several, Value


def _share(gap: float, others: int) -> float:
    """Return the weight of a score that lies above all others by a gap."""
    return 1 / (1 + others * math.exp(-gap))


def _size(vector: list[float]) -> float:
    return sum(map(abs, vector))


check_largest_weight = Function(
    "`largest_weight(vector, k)`, the largest weight that one of k words can get from a concat "
    "score whose vector is `vector`.",
    right=lambda vector, k: _share(2 * _size(vector), k - 1),
    cases=[([0.5, -0.25], 3), ([1.0, 2.0, -0.5], 30), ([0.1], 2)], mistakes={
        "a tanh goes down to -1, too: the other words can score below 0":
            lambda v, k: _share(_size(v), k - 1),
        "a negative entry helps as much as a positive one: its tanh can be -1":
            lambda v, k: _share(2 * sum(v), k - 1),
        "of k words, k - 1 share what is left": lambda v, k: _share(2 * _size(v), k),
        "that is the largest score: the softmax turns it into a weight": lambda v, k: _size(v),
        "each score is a sum over all entries of the vector":
            lambda v, k: _share(2 * max(map(abs, v)), k - 1),
    }, why="Take the absolute value of every entry.",
)  # fmt: skip


SCORES, DISTANCE = np.array([0.0, 1.0, 2.0]), np.arange(3.0)
INSIDE, GAUSSIAN = softmax(SCORES), np.exp(-(DISTANCE**2) / 2)
LOCAL = INSIDE * GAUSSIAN

check_window = Several(
    "Local attention by hand: scores 0, 1 and 2, p = 0 and D = 2. Two digits after the point will "
    "do.",
    weights=Value(
        '(3,) the weights of "the", "new" and "house".',
        right=LOCAL, mistakes={
            "those are the weights without the Gaussian": INSIDE,
            "that is the Gaussian alone: multiply the weights by it": GAUSSIAN,
            "do not divide again: here the weights may sum to less than 1": LOCAL / LOCAL.sum(),
            "sigma is D / 2, which is 1 here": INSIDE * np.exp(-2 * DISTANCE**2),
            "the distance is squared": INSIDE * np.exp(-DISTANCE / 2),
            "the softmax comes first: the Gaussian multiplies weights, not scores":
                softmax(SCORES * GAUSSIAN),
        }, axes="(3,)", atol=0.006,
    ),
    total=Value(
        "What they add up to.", right=float(LOCAL.sum()),
        mistakes={"that is the sum before the Gaussian": 1.0}, atol=0.011,
    ),
)  # fmt: skip

DICE = np.random.default_rng(0)

check_general_keys = Function(
    "`general_keys(memory, weight)`, from a memory (k, e) and a matrix (d, e) to keys (k, d) whose "
    "dot products with queries (q, d) are the general scores.",
    right=lambda memory, weight: memory @ weight.T,
    cases=[(DICE.normal(size=(4, 5)), DICE.normal(size=(3, 5)))], mistakes={
        "that is the transpose: each word needs a row": lambda m, w: w @ m.T,
        "that is the memory itself: the matrix is missing": lambda m, w: m,
        "that is the matrix: the memory is missing": lambda m, w: w,
        "that adds a constant to each word: no bias here": lambda m, w: m @ w.T + 1,
    }, why="the widths differ: (k, e) times (e, d) gives (k, d)", axes="(k, d)",
)  # fmt: skip


def _positions(logits: Tensor, mask: Tensor) -> Tensor:
    return mask.sum(-1) * torch.sigmoid(logits)


check_positions = Function(
    "`positions(logits, mask)`, where each query of a padded batch looks, by the lengths of its "
    "own sentence: from numbers (b, q), one for each query, and a mask (b, 1, k), True "
    "where there is a word, to positions (b, q).",
    right=_positions, cases=[(
        torch.randn(3, 2, generator=torch.Generator().manual_seed(0)),
        (torch.arange(7) < torch.tensor([[4], [7], [2]]))[:, None],
    )], mistakes={
        "that is the length of the padded batch: the very bug":
            lambda z, m: m.shape[-1] * torch.sigmoid(z),
        "that is a share of the sentence: multiply it by the sentence's length":
            lambda z, m: torch.sigmoid(z),
        "the mask is upside down: True means that there is a word": lambda z, m: _positions(z, ~m),
        "the sigmoid is missing: a position lies inside the sentence": lambda z, m: m.sum(-1) * z,
        "the last of n words is at n - 1, but in the formula p may reach n":
            lambda z, m: (m.sum(-1) - 1) * torch.sigmoid(z),
        "one number for each query: the shape is (b, q)": lambda z, m: _positions(z, m)[:, None],
    }, why="mask.sum(-1) counts words, and has shape (b, 1).", axes="(b, q)",
)  # fmt: skip
