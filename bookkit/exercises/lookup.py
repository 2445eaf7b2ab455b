"""The exercises of "Soft lookup"."""

from typing import Any

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.exercises.answers import Numbers, as_array, fail, softmax
from bookkit.exercises.exercise import Function, Value
from companion.attention import masked_softmax

_, WORDS = plane_words()

check_nowhere = Value(
    "(2,) what the query (0, 0) finds among the six words with the dot product, to two decimals.",
    right=WORDS.mean(0), mistakes={
        "that is the query: the answer is a blend of the values, and which weights do they get?":
            np.zeros(2),
        "that is what the Gaussian score finds": softmax(-(WORDS**2).sum(-1) / 2) @ WORDS,
        "that is the sum of the values, and the value of house: all scores are equal, so each of "
        "the six gets a weight of 1/6": WORDS.sum(0),
    }, where="answer: ", axes="(2,)", atol=0.006,
)  # fmt: skip

QUERY = np.array([1.0, 1.0])
SQUARE = ((QUERY - WORDS) ** 2).sum(-1)

check_gaussian = Value(
    "(6,) the weights of the six words for the query (1, 1), by hand, with the Gaussian score, in "
    "the order of the sentence, to two decimals.",
    right=softmax(-SQUARE / 2), mistakes={
        "those are the weights of the dot product": softmax(WORDS @ QUERY),
        "the score is minus half the squared distance: the half is missing": softmax(-SQUARE),
        "take the square of the distance": softmax(-np.sqrt(SQUARE) / 2),
        "the sign is wrong: the nearest key should have the highest score": softmax(SQUARE / 2),
        "those are the exponentials: divide each by their sum": np.exp(-SQUARE / 2),
        "those are the scores: take exp of each, then divide by the sum": -SQUARE / 2,
    }, where="weights: ", axes="(6,)", atol=0.011,
)  # fmt: skip


def _circle(angle: Numbers, radius: float) -> Numbers:
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _products(got: Any, x: Numbers, radius: float) -> Numbers:
    """Read points: where the circle starts, and in which direction it goes, is free."""
    points = as_array(got, kind="an array of numbers")
    if points.shape == (2, len(x)):
        fail("a point is a row: (n, 2), not (2, n)")
    if points.shape != (len(x), 2):
        fail(f"got shape {points.shape}, wanted (n, 2), {(len(x), 2)}")
    return points @ points.T


def _off_the_circle(products: Numbers, x: Numbers, radius: float) -> str:
    norms = np.sqrt(np.diag(products))
    if not np.allclose(norms, norms[0]):
        return "the norms differ: take the cosine and the sine of one and the same angle"
    return f"radius {radius}: along the circle, are neighbours as far apart as the numbers are?"


X = np.array([-0.4, 0.0, 0.3, 0.35, 1.0])

check_on_circle = Function(
    "`on_circle(x, radius)`, from numbers (n,) to points (n, 2) on the circle of that radius "
    "around 0, so that two numbers that differ by 1 are a distance of 1 apart along the circle.",
    right=lambda x, radius: _circle(x / radius, radius), cases=[(X, 1.0), (X, 3.0)], mistakes={
        "your points are on the circle of radius 1: multiply by the radius":
            lambda x, radius: _circle(x / radius, 1),
        "the angle is x / radius: on your circle, the points are too far apart": _circle,
        "the angle is x / radius, not x * radius": (lambda x, radius: _circle(x * radius, radius)),
        "the angle is x / radius in radians: once around is not one unit of x":
            lambda x, radius: _circle(2 * np.pi * x, radius),
        "that is an angle in degrees": lambda x, radius: _circle(np.radians(x / radius), radius),
    }, examples={
        "a point is a row: (n, 2), not (2, n)": lambda x, radius: _circle(x / radius, radius).T,
        "the norms differ": lambda x, radius: np.stack([np.cos(x), x], axis=-1),
        "radius 1.0: along the circle, are": lambda x, radius: _circle(x / 7, radius),
        "got shape (5,), wanted (n, 2), (5, 2)": lambda x, radius: x,
    }, read=_products, otherwise=_off_the_circle, rtol=1e-3, atol=1e-6,
)  # fmt: skip


def _crowd() -> tuple[Numbers, Numbers]:
    """Draw queries and keys, one of which is long."""
    dice = np.random.default_rng(3)
    query, key = dice.normal(size=(60, 3)), dice.normal(size=(5, 3))
    key[1] *= 4
    return query, key


def _counts(winners: Any, key: Numbers) -> Any:
    return np.bincount(winners, minlength=len(key))


check_first = Function(
    "`first(query, key)`, from queries (q, d) and keys (k, d) to the share of the queries for "
    "which each key has the highest dot product, (k,).",
    right=lambda query, key: _counts((query @ key.T).argmax(1), key) / len(query), cases=[_crowd()],
    mistakes={
        "those are counts: divide by the number of queries":
            lambda q, k: _counts((q @ k.T).argmax(1), k),
        "find the best key of each query: argmax along the keys":
            lambda q, k: _counts((q @ k.T).argmax(0), q) / len(k),
        "that counts how often each key comes last":
            lambda q, k: _counts((q @ k.T).argmin(1), k) / len(q),
        "that counts the nearest keys: which has the highest dot product?":
            lambda q, k: _counts(((q[:, None] - k) ** 2).sum(-1).argmin(1), k) / len(q),
        "those are mean weights: count which key comes first":
            lambda q, k: masked_softmax(q @ k.T).mean(0),
    }, axes="(k,)", otherwise="wanted one share for each key, and the shares should sum to 1",
)  # fmt: skip
