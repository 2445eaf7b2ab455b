"""Check functions of "Before you start".

Each calls your function, compares what it gives with a computation of its own, and prints "Right."
or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers, fail


def check_nearest(nearest: Answer) -> None:
    """Check a function that finds the key with the largest dot product.

    Args:
        nearest: `nearest(query, keys)`, from a query (d,) and keys (n, d) to the index of the key
            that agrees most with the query.
    """
    query = np.array([2.0, 1.0])
    # The longest, the best direction, the largest product, the smallest product, the closest.
    keys = np.array([[5.0, -3.0], [1.0, 0.5], [3.0, 3.0], [-1.0, -2.0], [1.5, 1.2]])
    products = keys @ query
    norms = np.linalg.norm(keys, axis=1)
    closest = np.linalg.norm(keys - query, axis=1).argmin()
    mistakes = {
        "that key has the best direction; the dot product counts its length, too": int(
            (products / norms).argmax()
        ),
        "that is the smallest product: which one is the largest?": int(products.argmin()),
        "that is the longest key, whatever its direction": int(norms.argmax()),
        "that key lies closest to the query: compare dot products, not distances": int(closest),
    }
    hint = "that key's product is not the largest: print keys @ query"
    answers.check_call(nearest, (query, keys), int(products.argmax()), mistakes, otherwise=hint)


def check_as_weights(as_weights: Answer) -> None:
    """Check a softmax of the rows of a table.

    Args:
        as_weights: `as_weights(scores)`, from scores (q, k) to weights (q, k), of which each row is
            positive and sums to 1, however large the scores are.
    """
    scores = np.array([[0.5, -1.0, 2.0], [1.0, 1.0, -0.5], [0.0, 0.2, 0.9], [-2.0, 0.0, 3.0]])
    for moved in (0.0, 1000.0):
        with np.errstate(over="ignore", invalid="ignore"):  # the answer is to be told, not warned
            result = answers.called(as_weights, scores + moved)
        got = answers.as_array(result, axes="(q, k)")
        if not np.isfinite(got).all():
            fail(
                "scores near 1000 overflow: subtract the largest score of a row first, which "
                "changes no weight"
            )
        answers.compare(got, _weights(scores), _mistaken_weights(scores), axes="(q, k)")
    print("Right.")


def _weights(scores: Numbers) -> Numbers:
    powers = np.exp(scores)
    weights: Numbers = powers / powers.sum(axis=1, keepdims=True)
    return weights


def _mistaken_weights(scores: Numbers) -> dict[str, Numbers]:
    powers, twos = np.exp(scores), np.exp2(scores)
    return {
        "each column sums to 1: a query is a row, so sum over the last axis": _weights(scores.T).T,
        "the whole table sums to 1: every row must": powers / powers.sum(),
        "those are the exponentials: divide each row by its sum": powers,
        "the base is e, not 2": twos / twos.sum(axis=1, keepdims=True),
        "take the exponential of the scores before you divide": scores
        / scores.sum(axis=1, keepdims=True),
        "the signs are turned round: the largest score gets the largest weight": _weights(-scores),
        "that is the logarithm of the weights": np.log(_weights(scores)),
    }


def check_one_step(one_step: Answer) -> None:
    """Check one step of gradient descent on a squared error.

    Args:
        one_step: `one_step(w, x, y, rate)`, from weights (d,), an input (d,), the number wanted
            for it and a learning rate to the next weights (d,), where the loss is (w x - y)^2.
    """

    def expected(w: Numbers, x: Numbers, y: float, rate: float) -> Expected:
        error = float(w @ x - y)
        gradient = 2 * error * x
        # Whoever climbs has failed at the first case, where the error is above 0.
        uphill = (
            "that step climbs: go against the gradient"
            if error > 0
            else "the error has a sign, and it tells in which direction to go"
        )
        return w - rate * gradient, {
            uphill: w + rate * gradient,
            "the derivative of a square has a factor of 2": w - rate * gradient / 2,
            "the chain rule has another factor: how does w x change with w?": w - rate * 2 * error,
            "that is the gradient, not yet the weights after the step": gradient,
            "that is the step; add it to the weights": -rate * gradient,
            "the step is rate times the gradient: is the rate used?": w - gradient,
        }

    cases = [
        (np.array([2.0, 1.0]), np.array([1.5, 0.5]), 0.25, 0.02),
        (np.array([1.0, -0.5, 0.3]), np.array([0.5, 2.0, -1.0]), 1.5, 0.1),
    ]
    answers.check(one_step, cases, expected, axes="(d,)")


def check_fading(fading: Answer) -> None:
    """Check after how many words a gated state has forgotten.

    Args:
        fading: `fading(update, share)`, the smallest number of words after which at most `share` of
            a state is left, if the update gate keeps the part `update` of it at every word.
    """

    def expected(update: float, share: float) -> Expected:
        words = math.log(share) / math.log(update)
        right = math.ceil(round(words, 9))
        return right, {
            "one word fewer leaves more than that share: round up": right - 1,
            "that is one word more than needed": right + 1,
            "a number of words is whole: round up": words,
            "the gate keeps the part `update`, and not 1 - update": math.ceil(
                math.log(share) / math.log(1 - update)
            ),
            "a part of what is left goes at every word: the shares multiply, so take "
            "logarithms": math.ceil((1 - share) / (1 - update)),
            "divide the logarithm of the share by that of the gate": math.ceil(1 / words),
        }

    cases = [(0.8, 0.05), (0.9, 0.1), (0.99, 0.5), (0.5, 0.125)]
    hint = "fading({}, {}): got {got:g}. How much is left after 1 word, after 2, after 3?"
    answers.check(fading, cases, expected, otherwise=hint)
