"""Check functions of "Position".

Each compares your answer, or what your function gives, with a computation of its own, and prints
"Right." or raises an `AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers, fail
from companion.attention import masked_softmax
from companion.positions import alibi_bias, alibi_slopes, rotate


def check_same_word(outputs: Answer) -> None:
    """Check what attention gives for a text that says one word again and again.

    Args:
        outputs: `outputs(scores, value)`, (n, d_v) from the scores (n, n) and the value (d_v,) that
            all n words share.
    """

    def expected(scores: Numbers, value: Numbers) -> Expected:
        n = len(scores)
        right = np.tile(value, (n, 1))
        return right, {
            "one row for each of the n words is wanted": (value, right[:1], right.T),
            "the weights of a row sum to 1: take the softmax first": scores @ right,
            "the softmax is taken along a row, over the keys": masked_softmax(scores.T).T @ right,
            "the mean is wanted, not the sum": n * right,
        }

    rng = np.random.default_rng(4)
    near = alibi_bias(1, 5)[0] + rng.normal(size=(5, 5))
    cases = [(near, np.array([1.0, -2.0, 0.5])), (rng.normal(size=(3, 3)), np.array([4.0, 1.0]))]
    answers.check(outputs, cases, expected, rtol=1e-6, atol=1e-6)


def check_turn(query: Any, key: Any, score: Any, later: Any) -> None:
    """Check rotations by hand: a quarter turn a position, query (3, 1) at 1, key (2, 1) at 3.

    Args:
        query: (2,) the turned query.
        key: (2,) the turned key.
        score: their product, not divided.
        later: the product if both words stand ten positions further on.
    """
    quarter = np.array([math.pi / 2])

    def turned(vector: tuple[float, float], position: int) -> Numbers:
        given = np.array([vector], dtype=np.float64)
        return np.asarray(rotate(given, np.array([position]), frequencies=quarter)[0])

    q, k = turned((3, 1), 1), turned((2, 1), 3)
    back = "that turns the other way: (a, b) becomes (-b, a)"
    answers.compare(
        query, q, {back: turned((3, 1), -1), "the query stands at position 1": turned((3, 1), 2)},
        where="query: ", axes="(2,)", atol=1e-6,
    )  # fmt: skip
    answers.compare(
        key, k,
        {back: turned((2, 1), -3), "the key stands at position 3, so it turns three times":
         (turned((2, 1), 1), turned((2, 1), 2))},
        where="key: ", axes="(2,)", atol=1e-6,
    )  # fmt: skip
    right = float(q @ k)
    plain = {
        "that is the product of the two before they turn": 7.0,
        "the product is not divided here": right / math.sqrt(2),
        "first times first plus second times second; mind the signs": (-right, 5.0, -5.0),
    }
    answers.compare(score, right, plain, where="score: ", atol=1e-6)
    moved = {"both turn by the same angle, so what stays between them?": -right}
    answers.compare(later, right, moved, where="later: ", atol=1e-6)
    print("Right.")


def check_bias(bias: Answer) -> None:
    """Check what ALiBi adds to the scores of a decoder's new words.

    Args:
        bias: `bias(slopes, new, cached)`, (h, new, cached + new) from the slopes (h,), for new
            queries behind `cached` keys; what stands at keys to come does not count.
    """
    for heads, new, cached in ((3, 4, 0), (2, 1, 5), (4, 3, 2)):
        slopes = alibi_slopes(heads)
        answer = answers.called(bias, slopes, new, cached)
        got = answers.as_array(answer)
        if got.shape != (heads, new, cached + new):
            what = f"shape {got.shape}" if got.ndim else answers.named(answer)
            asked = f"{heads} slopes, {new} new and {cached} cached words"
            wanted = f"({heads}, {new}, {cached + new}): keys are all words so far"
            fail(f"got {what} for {asked}, wanted {wanted}")
        distance = np.arange(cached, cached + new)[:, None] - np.arange(cached + new)
        right, from_zero = (-slopes[:, None, None] * d for d in (distance, distance - cached))
        mistakes = {
            "a far key has to lose: the bias is minus the slope times the distance": -right,
            "the first new query stands at place `cached`, not at place 0": from_zero,
            "every head has its own slope": np.broadcast_to(right[:1] / slopes[0], right.shape),
        }
        past = distance >= 0
        got, right = np.where(past, got, 0), np.where(past, right, 0)
        visible = {hint: np.where(past, wrong, 0) for hint, wrong in mistakes.items()}
        answers.compare(got, right, visible, rtol=1e-6, atol=1e-6)
    print("Right.")


def check_step(step: Answer) -> None:
    """Check one step of a decoder with rotations and a cache.

    Args:
        step: `step(query, key, value, keys, values)`, from a new word's (1, d), (1, d), (1, v) and
            the cache, rotated keys (n, d) and values (n, v), to its output (1, v).
    """
    rng = np.random.default_rng(6)
    n, d = 5, 6
    query, key, value = rng.normal(size=(3, n + 1, d))
    positions = np.arange(n + 1)
    rotated = rotate(key, positions)
    last = slice(n, n + 1)

    def output(at_query: int, keys: Numbers, values: Numbers) -> Numbers:
        scores = rotate(query[last], np.array([at_query])) @ keys.T / math.sqrt(d)
        weights = np.exp(scores - scores.max())
        return np.asarray(weights / weights.sum() @ values)

    def keys_with(new: Numbers) -> Numbers:
        return np.concatenate([rotated[:n], new])

    at_zero = keys_with(rotate(key[last], np.array([0])))
    twice = rotate(keys_with(key[last]), positions)
    behind = "cached keys are rotated already, and the new query stands behind them"
    last_rotated = np.concatenate([value[:n], rotate(value[last], positions[last])])
    late = "the new word stands at the number of cached keys: turn it by that many places, not by 0"
    mistakes = {
        f"query: {late}": output(0, rotated, value),
        f"key: {late}": output(n, at_zero, value),
        f"query and key: {late}": output(0, at_zero, value),
        "cached keys are rotated already: rotate the new key alone": output(n, twice, value),
        behind: output(0, twice, value),
        "values are not rotated": output(n, rotated, rotate(value, positions)),
        "the new value is not rotated": output(n, rotated, last_rotated),
        "the new word attends to itself, too": output(n, rotated[:n], value[:n]),
    }
    given = query[last], key[last], value[last], rotated[:n], value[:n]
    answers.check_call(step, given, output(n, rotated, value), mistakes, rtol=1e-6, atol=1e-6)
