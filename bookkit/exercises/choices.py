"""Check functions of "Choices: the scores of Luong".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from bookkit.exercises.answers import Answer, check, check_call, compare


def check_largest_weight(largest_weight: Answer) -> None:
    """Check how much weight the concat score can give to one word at most.

    Args:
        largest_weight: `largest_weight(vector, k)`; the bound on the weight of one of k words, for
            a concat score whose vector is `vector`.
    """

    def expected(vector: list[float], k: int) -> tuple[float, dict[str, float]]:
        def share(gap: float, others: int) -> float:
            return 1 / (1 + others * math.exp(-gap))

        size, total = sum(map(abs, vector)), sum(vector)
        right = share(2 * size, k - 1)
        mistakes = {
            "a tanh goes down to -1, too: the other words can score below 0": share(size, k - 1),
            "a negative entry helps as much as a positive one: its tanh can be -1": share(
                2 * total, k - 1
            ),
            "of k words, k - 1 share what is left": share(2 * size, k),
            "that is the largest score: the softmax makes a weight of it": size,
            "each score is a sum over all entries of the vector": share(
                2 * max(map(abs, vector)), k - 1
            ),
        }
        return right, mistakes

    cases = [([0.5, -0.25], 3), ([1.0, 2.0, -0.5], 30), ([0.1], 2)]
    check(largest_weight, cases, expected, why="Take the absolute value of every entry.")


def check_window(weights: Any, total: Any) -> None:
    """Check local attention by hand: scores 0, 1 and 2, p = 0 and D = 2.

    Two digits after the point will do.

    Args:
        weights: (3,) the weights of "the", "new" and "house".
        total: what they add up to.
    """
    scores, distance = np.array([0.0, 1.0, 2.0]), np.arange(3.0)
    inside = np.exp(scores) / np.exp(scores).sum()
    right = inside * np.exp(-(distance**2) / 2)
    narrow, one_sided = np.exp(-2 * distance**2), np.exp(-distance / 2)
    mistakes = {
        "those are the weights without the Gaussian": inside,
        "that is the Gaussian alone: multiply the weights by it": np.exp(-(distance**2) / 2),
        "do not divide again: local-p leaves the sum below 1": right / right.sum(),
        "sigma is D / 2, which is 1 here": inside * narrow,
        "the distance is squared": inside * one_sided,
        "the softmax comes first: the Gaussian multiplies weights, not scores": _softmax(
            scores * np.exp(-(distance**2) / 2)
        ),
    }
    compare(weights, right, mistakes, where="weights: ", axes="(3,)", atol=0.006)
    sums = {"that is the sum before the Gaussian": 1.0}
    compare(total, float(right.sum()), sums, where="total: ", atol=0.011)
    print("Right.")


def check_general_keys(general_keys: Answer) -> None:
    """Check keys that turn the general score into a dot score.

    Args:
        general_keys: `general_keys(memory, weight)`, from a memory (k, e) and a matrix (d, e) to
            keys (k, d) whose dot products with queries (q, d) are the general scores.
    """
    d, e, k = 3, 5, 4
    dice = np.random.default_rng(0)
    memory, weight = dice.normal(size=(k, e)), dice.normal(size=(d, e))
    right = memory @ weight.T
    square = "the widths differ: (k, e) times (e, d) gives (k, d)"
    mistakes = {
        "those are the keys on their side: one row for each word": right.T,
        "that is the memory itself: the matrix is missing": memory,
        "that is the matrix: the memory is missing": weight,
        "that adds a constant to each word: no bias here": right + 1,
    }
    check_call(general_keys, (memory, weight), right, mistakes, why=square, axes="(k, d)")


def check_positions(positions: Answer) -> None:
    """Check where each query of a padded batch looks, by the lengths of its own sentence.

    Args:
        positions: `positions(logits, mask)`, from numbers (b, q), one for each query, and a mask
            (b, 1, k), True where a word stands, to positions (b, q).
    """
    b, q, k = 3, 2, 7
    logits = torch.randn(b, q, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([[4], [7], [2]])
    mask = (torch.arange(k) < lengths)[:, None]
    share = torch.sigmoid(logits)
    mistakes = {
        "that is the length of the padded batch: the very bug": k * share,
        "that is a share of the sentence: multiply it by the sentence's length": share,
        "the mask is upside down: True is where a word stands": (k - lengths) * share,
        "the sigmoid is missing: a position lies inside the sentence": lengths * logits,
        "the last of n words has place n - 1, but p may reach n in the paper": (lengths - 1)
        * share,
        "one number for each query: the shape is (b, q)": (lengths * share)[:, None],
    }
    why = "mask.sum(-1) counts words, and has shape (b, 1)."
    check_call(positions, (logits, mask), lengths * share, mistakes, why=why, axes="(b, q)")


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores)
    return powers / powers.sum()
