"""The exercises of "Before you start"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, Sign
from bookkit.exercises.exercise import Function

QUERY = np.array([2.0, 1.0])
# The longest, the best direction, the largest product, the smallest product, the closest.
KEYS = np.array([[5.0, -3.0], [1.0, 0.5], [3.0, 3.0], [-1.0, -2.0], [1.5, 1.2]])

check_nearest = Function(
    "`nearest(query, keys)`, from a query (d,) and keys (n, d) to the index of the key with the "
    "largest dot product.",
    right=lambda query, keys: int((keys @ query).argmax()), cases=[(QUERY, KEYS)], mistakes={
        "that key has the best direction; the dot product counts length, too":
            lambda query, keys: int((keys @ query / np.linalg.norm(keys, axis=1)).argmax()),
        "that is the smallest product: which one is the largest?":
            lambda query, keys: int((keys @ query).argmin()),
        "that is the longest key, whatever its direction":
            lambda query, keys: int(np.linalg.norm(keys, axis=1).argmax()),
        "that key lies closest to the query: compare dot products, not distances":
            lambda query, keys: int(np.linalg.norm(keys - query, axis=1).argmin()),
    }, otherwise="that key's product is not the largest: print keys @ query",
)  # fmt: skip


def _weights(scores: Numbers) -> Any:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


SCORES = np.array([[0.5, -1.0, 2.0], [1.0, 1.0, -0.5], [0.0, 0.2, 0.9], [-2.0, 0.0, 3.0]])

check_as_weights = Function(
    "`as_weights(scores)`, from scores (q, k) to weights (q, k), with rows that are positive and "
    "sum to 1, however large the scores are.",
    right=_weights, cases=[(SCORES,), (SCORES + 1000,)], mistakes={
        "scores near 1000 overflow: subtract the largest score of a row first, which changes no "
        "weight": Sign(
            lambda g, s: not np.isfinite(g).all(),
            lambda s: np.exp(s) / np.exp(s).sum(axis=1, keepdims=True),
        ),
        "each column sums to 1: a query is a row, so sum over the last axis":
            lambda s: _weights(s.T).T,
        "the whole table sums to 1: every row must": lambda s: np.exp(s) / np.exp(s).sum(),
        "those are the exponentials: divide each row by its sum": np.exp,
        "the base is e, not 2": lambda s: _weights(s * math.log(2)),
        "take the exponential of the scores before you divide":
            lambda s: s / s.sum(axis=1, keepdims=True),
        "the signs are reversed: the largest score must get the largest weight":
            lambda s: _weights(-s),
        "that is the logarithm of the weights": lambda s: np.log(_weights(s)),
    }, axes="(q, k)",
)  # fmt: skip


def _gradient(w: Numbers, x: Numbers, y: float) -> Numbers:
    return 2 * float(w @ x - y) * x


check_one_step = Function(
    "`one_step(w, x, y, rate)`, one step of gradient descent from weights (d,), an input (d,), the "
    "number that it should give and a learning rate to the next weights (d,), where the loss is "
    "(w x - y)^2.",
    right=lambda w, x, y, rate: w - rate * _gradient(w, x, y),
    # The error is above 0 in the first case and below 0 in the second.
    cases=[
        (np.array([2.0, 1.0]), np.array([1.5, 0.5]), 0.25, 0.02),
        (np.array([1.0, -0.5, 0.3]), np.array([0.5, 2.0, -1.0]), 1.5, 0.1),
    ], mistakes={
        "the error has a sign, and it tells in which direction to go":
            lambda w, x, y, r: w - r * 2 * abs(w @ x - y) * x,
        "that step climbs: go against the gradient": lambda w, x, y, r: w + r * _gradient(w, x, y),
        "the derivative of a square has a factor of 2":
            lambda w, x, y, r: w - r * _gradient(w, x, y) / 2,
        "the chain rule has another factor: how does w x change with w?":
            lambda w, x, y, r: w - r * 2 * (w @ x - y),
        "that is the gradient, not yet the weights after the step":
            lambda w, x, y, r: _gradient(w, x, y),
        "that is the step; add it to the weights": lambda w, x, y, r: -r * _gradient(w, x, y),
        "the step is rate times the gradient: is the rate used?":
            lambda w, x, y, r: w - _gradient(w, x, y),
    }, axes="(d,)",
)  # fmt: skip


def _words(update: float, share: float) -> float:
    return round(math.log(share) / math.log(update), 9)


check_fading = Function(
    "`fading(update, share)`, the smallest number of words after which at most `share` of a state "
    "is left, if the update gate keeps the part `update` of it at every word.",
    right=lambda update, share: math.ceil(_words(update, share)),
    cases=[(0.8, 0.05), (0.9, 0.1), (0.99, 0.5), (0.5, 0.125)], mistakes={
        "one word fewer leaves more than that share: round up":
            lambda u, s: math.ceil(_words(u, s)) - 1,
        "that is one word more than needed": lambda u, s: math.ceil(_words(u, s)) + 1,
        "a number of words is whole: round up": lambda u, s: math.log(s) / math.log(u),
        "the gate keeps the part `update`, and not 1 - update":
            lambda u, s: math.ceil(_words(1 - u, s)),
        "every word takes a part of what is left: the shares multiply, so take logarithms":
            lambda u, s: math.ceil((1 - s) / (1 - u)),
        "divide the logarithm of the share by that of the gate":
            lambda u, s: math.ceil(1 / _words(u, s)),
    }, otherwise="fading({}, {}): got {got:g}. How much is left after 1 word, after 2, after 3?",
)  # fmt: skip
