"""The exercises of "Down through the layers"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, softmax
from bookkit.exercises.exercise import Function, Value

check_one_arrow = Value(
    "The chance of c, in percent, with one look of the first layer left.", right=12.9,
    mistakes={
        "that is the chance without any cut: put them into `cut`": 99,
        "that is the chance as a fraction: in percent it is 100 times as much": 0.129,
        "that is the chance with this one arrow cut: cut all the others": 6,
    }, otherwise="got {got:.0f}: cut all looks of layer 0 but (0, 3, 2), and none of layer 1",
    rtol=0, atol=1,
)  # fmt: skip

FIRST = np.array([[1, 0, 0], [0.8, 0.2, 0], [0, 0.6, 0.4]])
SECOND = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]])
HALF = [(layer + np.eye(3)) / 2 for layer in (FIRST, SECOND)]

check_rollout_by_hand = Value(
    "The last row of rollout, (3,).", right=(HALF[1] @ HALF[0])[2], mistakes={
        "what was there before is missing: half of the identity in each layer":
            (SECOND @ FIRST)[2],
        "the newest layer is on the left: its rows look at what the layer below has made":
            (HALF[0] @ HALF[1])[2],
        "that is the second layer alone": HALF[1][2],
        "halve each layer: the row must sum to 1": 4 * (HALF[1] @ HALF[0])[2],
    }, axes="(3,)", rtol=0, atol=0.006,
)  # fmt: skip


def _lengths(weights: Numbers, added: Numbers) -> Any:
    return weights * np.linalg.norm(added, axis=1)


DICE = np.random.default_rng(9)


def _drawn(n: int, e: int) -> tuple[Any, Any]:
    return softmax(DICE.normal(size=(n, n))), DICE.normal(size=(n, e))


check_lengths = Function(
    "`lengths(weights, added)`, from weights (n, n) and vectors (n, e) to lengths (n, n).",
    right=_lengths, cases=[_drawn(3, 5), _drawn(5, 3)], mistakes={
        "the vector is that of the word that is looked at: one number a column, not a row":
            lambda weights, added: weights * np.linalg.norm(added, axis=1)[:, None],
        "a length is the root of the sum of squares":
            lambda weights, added: weights * (added**2).sum(1),
        "those are the lengths alone: multiply them with the weights":
            lambda weights, added: np.ones_like(weights) * np.linalg.norm(added, axis=1),
    }, axes="(n, n)", rtol=1e-9, atol=1e-9,
)  # fmt: skip


def _rows(scores: Numbers) -> Any:
    return np.array([softmax(row) for row in scores])


def _open(scores: Numbers, i: int, j: int) -> Any:
    left = scores.copy()
    left[i, j] = -np.inf
    return left


def _zeroed(scores: Numbers, i: int, j: int) -> Any:
    weights = _rows(scores)
    weights[i, j] = 0
    return weights


check_cut = Function(
    "`cut(scores, i, j)`, from scores (n, n) to weights (n, n) with the look from i to j cut.",
    right=lambda scores, i, j: _rows(_open(scores, i, j)),
    cases=[(DICE.normal(size=(4, 4)), 2, 1), (DICE.normal(size=(3, 3)), 0, 2)], mistakes={
        "row i no longer sums to 1: forbid the look before the softmax": _zeroed,
        "nothing is cut": lambda scores, i, j: _rows(scores),
        "i looks and j is looked at: a row is a query": lambda scores, i, j: _rows(
            _open(scores, j, i)
        ),
    }, axes="(n, n)", rtol=1e-9, atol=1e-9,
)  # fmt: skip
