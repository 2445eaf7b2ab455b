"""Check functions of "Soft lookup".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bookkit.data.plane import plane_words
from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Numbers, compare, fail
from companion.attention import masked_softmax


def check_nowhere(blend: Any) -> None:
    """Check what the query (0, 0) finds among the six words with the dot product.

    Args:
        blend: (2,) the answer, to two digits after the point.
    """
    _, values = plane_words()
    by_distance = masked_softmax(-np.square(values).sum(-1)[None] / 2)[0] @ values
    mistakes = {
        "that is the query: the answer is made of values, and which weights do they get?": 0
        * values[0],
        "that is what the Gaussian score finds": by_distance,
        "that is the sum of the values, and the value of house: all scores are equal, so each of "
        "the six gets a weight of 1/6": values.sum(0),
    }
    compare(blend, values.mean(0), mistakes, where="blend: ", axes="(2,)", atol=0.006)
    print("Right.")


def check_gaussian(weights: Any) -> None:
    """Check the weights of the six words for the query (1, 1), by hand, with the Gaussian score.

    Args:
        weights: (6,) in the order of the sentence, to two digits after the point.
    """
    _, key = plane_words()
    query = np.array([1.0, 1.0])
    square = np.square(query - key).sum(-1)
    powers = np.exp(-square / 2)
    mistakes = {
        "those are the weights of the dot product": masked_softmax((query @ key.T)[None])[0],
        "the score is minus half the squared distance: the half is missing": masked_softmax(
            -square[None]
        )[0],
        "take the square of the distance": masked_softmax(-np.sqrt(square)[None] / 2)[0],
        "the sign: the nearest key has the highest score": masked_softmax(square[None] / 2)[0],
        "those are the exponentials: divide each by their sum": powers,
        "those are the scores: take exp of each, then divide by the sum": -square / 2,
    }
    right = powers / powers.sum()
    compare(weights, right, mistakes, where="weights: ", axes="(6,)", atol=0.011)
    print("Right.")


def check_on_circle(on_circle: Answer) -> None:
    """Check how numbers are laid on a circle, so that all keys have the same norm.

    Args:
        on_circle: `on_circle(x, radius)`, from numbers (n,) to points (n, 2) on the circle of that
            radius around 0, where a step along x is as long a step along the circle.
    """
    x = np.array([-0.4, 0.0, 0.3, 0.35, 1.0])
    for radius in (1.0, 3.0):
        points = answers.as_array(answers.called(on_circle, x, radius), kind="an array of numbers")
        if points.shape == (2, len(x)):
            fail("a point is a row: (n, 2), not (2, n)")
        if points.shape != (len(x), 2):
            fail(f"got shape {points.shape}, wanted (n, 2), {(len(x), 2)}")
        # Where the circle starts, and in which direction it goes, is free: products tell the rest.
        apart = x[:, None] - x
        products, right, square = points @ points.T, radius**2 * np.cos(apart / radius), radius**2
        too_long, inverse = square * np.cos(apart), square * np.cos(apart * radius)
        rounds, degrees = np.cos(2 * np.pi * apart), np.cos(np.radians(apart / radius))
        mistakes = {
            "the points lie on the circle of radius 1: multiply by the radius": right / square,
            "the angle is x / radius: a step along x is too long on your circle": too_long,
            "the angle is x / radius, not x * radius": inverse,
            "the angle is x / radius in radians: one round is not one unit of x": square * rounds,
            "that is an angle in degrees": square * degrees,
        }
        otherwise = _circle_hint(points, radius)
        answers.compare(products, right, mistakes, otherwise=otherwise, rtol=1e-3, atol=1e-6)
    print("Right.")


def check_first(first: Answer) -> None:
    """Check a function that counts how often each key comes first.

    Args:
        first: `first(query, key)`, from queries (q, d) and keys (k, d) to the share of the queries
            for which each key has the highest dot product, (k,).
    """
    q, k, d = 60, 5, 3
    dice = np.random.default_rng(3)
    query, key = dice.normal(size=(q, d)), dice.normal(size=(k, d))
    key[1] *= 4
    scores = query @ key.T
    near = np.square(query[:, None] - key).sum(-1)

    def shares(winners: Any) -> Numbers:
        return np.bincount(winners, minlength=k) / q

    mistakes = {
        "those are counts: divide by the number of queries": np.bincount(scores.argmax(1)) * 1.0,
        "for each query the best of the keys: argmax along the keys": np.bincount(
            scores.argmax(0), minlength=q
        )
        / k,
        "that counts how often each key comes last": shares(scores.argmin(1)),
        "that counts the nearest keys: which has the highest dot product?": shares(near.argmin(1)),
        "those are mean weights: count which key comes first": masked_softmax(scores).mean(0),
    }
    hint = "wanted one share for each key, and they sum to 1"
    answers.check_call(
        first, (query, key), shares(scores.argmax(1)), mistakes, otherwise=hint, axes="(k,)"
    )


def _circle_hint(points: Numbers, radius: float) -> str:
    norms = np.linalg.norm(points, axis=1)
    if not np.allclose(norms, norms[0]):
        return "the norms differ: cosine and sine of the same angle make a circle"
    return f"radius {radius}: neighbours lie as far apart as the numbers do, along the circle?"
