"""The exercises of "A needle in a long text"."""

import math

import numpy as np

from bookkit.exercises.answers import Numbers, softmax
from bookkit.exercises.exercise import Function, Several, Value

check_twice = Several(
    "The weight that is left of one half when the hay is doubled, and how much more lead keeps it.",
    weight=Value("weight", right=1 / 3, mistakes={
        "weight: not half of a half; the needle's own exponential is in the sum, too": 0.25,
        "weight: the lead has not changed, but the hay has twice the exponentials": 0.5,
    }, otherwise="weight: got {got:g}, which is not it", rtol=0, atol=0.005),
    more=Value("more lead", right=math.log(2), mistakes={
        "more: exp(2) is more than 7; which number has the exponential 2?": (2.0, 1.0),
        "more: that is the logarithm to base 10, or to base 2": (math.log10(2), 0.3),
        "more: the lead is in an exponent, so twice the hay adds to it and does not double it": 5.0,
    }, otherwise="more: got {got:g}, which is not it", rtol=0, atol=0.006),
)  # fmt: skip

check_lead = Value(
    "the lead that keeps nine tenths of the weight among 10,000 other keys",
    right=math.log(9 * 10_000), mistakes={
        "that keeps half: the needle and all the hay would be equal": math.log(10_000),
        "the needle needs nine times as much as all the hay, not a ninth":
            math.log(10_000 / 9),
        "that is the logarithm to base 10": math.log10(90_000),
    }, otherwise="got {got:g}, which is not it", rtol=0, atol=0.06,
)  # fmt: skip


def _read(scores: Numbers, values: Numbers, k: int) -> Numbers:
    best = np.argsort(-scores)[:k]
    read: Numbers = softmax(scores[best]) @ values[best]
    return read


def _not_made_one(scores: Numbers, values: Numbers, k: int) -> Numbers:
    best = np.argsort(-scores)[:k]
    read: Numbers = softmax(scores)[best] @ values[best]
    return read


SCORES = np.array([0.5, 3.0, -1.0, 2.0, 0.0])
VALUES = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [0.0, -1.0], [4.0, 0.5]])

check_look_up = Function(
    "`look_up(scores, values, k)`, attention of one query that reads its k best keys, from arrays "
    "(n,) and (n, d) and a number to an array (d,).",
    right=_read, cases=[(SCORES, VALUES, 1), (SCORES, VALUES, 3), (-SCORES, VALUES, 5)], mistakes={
        "the weights of the k best must sum to 1 again": _not_made_one,
        "those are the k worst keys": lambda scores, values, k:
            softmax(np.sort(scores)[:k]) @ values[np.argsort(scores)[:k]],
        "the k best, not the k first": lambda scores, values, k:
            softmax(scores[:k]) @ values[:k],
        "the k best are blended by their weights, and their plain mean is something else":
            lambda scores, values, k: values[np.argsort(-scores)[:k]].mean(0),
    }, otherwise="got {got}, which is not it", atol=1e-6,
)  # fmt: skip


def _nearest(query: Numbers, keys: Numbers) -> int:
    return int(np.linalg.norm(keys - query, axis=1).argmin())


def _same_direction(query: Numbers, keys: Numbers) -> int:
    return int((keys @ query / np.linalg.norm(keys, axis=1)).argmax())


KEYS = np.array([[1.0, 0.3], [0.2, 0.0], [3.0, 2.0], [0.5, -1.0], [-4.0, 0.0]])

check_best_key = Function(
    "`best_key(query, keys)`, the number of the key to which attention gives the most weight, from "
    "arrays (d,) and (n, d).",
    right=lambda query, keys: int((keys @ query).argmax()),
    cases=[(np.array([1.0, 0.0]), KEYS), (np.array([0.2, -0.5]), KEYS)], mistakes={
        "that is the key in the most similar direction; its length counts, too": _same_direction,
        "that is the nearest key": _nearest,
        "that is the key with the least weight": lambda query, keys: int((keys @ query).argmin()),
    }, otherwise="got {got}, which is not it",
)  # fmt: skip
