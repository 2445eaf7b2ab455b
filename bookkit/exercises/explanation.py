"""The exercises of "Can you trust the map?"."""

from collections import Counter
from typing import Any

import numpy as np

from bookkit.exercises.answers import Flags, Numbers
from bookkit.exercises.exercise import Function, Several, Value

check_ceiling = Function(
    "`ceiling(values)`, from the list of a sentence's values to the largest probability of a right "
    "answer for a model that knows the values but not who has which.",
    right=lambda values: max(Counter(values).values()) / len(values),
    cases=[(["red", "blue", "red"],), (["red"],), (list("abca"),), (list("aabbbcd"),)], mistakes={
        "a value that several names have is a better guess than the others":
            lambda v: 1 / len(set(v)),
        "the model knows the values: one guess among the words is not the best":
            lambda v: 1 / len(v),
        "saying the most frequent value every time beats drawing a value at random":
            lambda v: sum((n / len(v)) ** 2 for n in Counter(v).values()),
        "a probability: divide by the number of facts": lambda v: max(Counter(v).values()),
    }, otherwise="got {got:.3f} for {}, wanted {wanted:.3f}", rtol=1e-9, atol=1e-9,
)  # fmt: skip


check_tau_by_hand = Several(
    "Kendall's tau of the two rankings in the exercise, and what it becomes when the first two "
    "words exchange their weights.",
    tau=Value("tau", right=0.4, mistakes={
        "that is the difference of the pairs: divide by the number of pairs, 10": 4,
        "subtract the pairs in opposite orders": 0.7,
    }, otherwise="tau: got {got:g}; count the ten pairs again", rtol=0, atol=1e-6),
    exchanged=Value("tau after the exchange", right=0.2, mistakes={
        "exchanged: that is tau before; one pair has changed": 0.4,
        "exchanged: a pair that changes sides is lost on one side and counted on the other": 0.3,
    }, otherwise="exchanged: got {got:g}; count the ten pairs again", rtol=0, atol=1e-6),
)  # fmt: skip


def _left(weights: Numbers, place: int) -> Numbers:
    return np.where(np.arange(len(weights)) == place % len(weights), 0.0, weights)


def _erased(weights: Numbers, place: int) -> Any:
    left = _left(weights, place)
    return left / left.sum()


check_erase = Function(
    "`erase(weights, place)`, from (n,) weights that sum to 1 to (n,) others, of which one is "
    "erased, and the rest sums to 1.",
    right=_erased, cases=[(np.array([0.5, 0.3, 0.2]), 0), (np.array([0.1, 0.2, 0.3, 0.4]), 2)],
    mistakes={
        "the weight is gone, but the others no longer sum to 1": _left,
        "nothing is erased": lambda weights, place: weights,
        "share what is left out in proportion: divide by the sum, no softmax":
            lambda weights, place: _erased(np.exp(weights), place),
        "what was erased went to the others in equal parts: divide by the sum":
            lambda weights, place: _left(weights + weights[place] / (len(weights) - 1), place),
        "the place counts from 0": lambda weights, place: _erased(weights, place - 1),
    }, rtol=1e-9, atol=1e-9,
)  # fmt: skip


def _level(mask: Flags) -> Any:
    return mask / mask.sum(-1, keepdims=True)


check_level = Function(
    "`level(mask)`, from a boolean mask (b, n), True where there is a word, to level weights "
    "(b, n).",
    right=_level, cases=[(np.arange(5) < np.array([[5], [3], [2]]),), (np.ones((2, 4)) > 0,)],
    mistakes={
        "the filler has weights, too: a sentence of n words has n weights that are not 0":
            lambda mask: np.full(mask.shape, 1 / mask.shape[1]),
        "the weights of a short sentence no longer sum to 1: divide by its own number of words":
            lambda mask: mask / mask.shape[1],
        "the weights of the whole batch sum to 1: those of each row should":
            lambda mask: mask / mask.sum(),
    }, rtol=1e-9, atol=1e-9,
)  # fmt: skip
