"""The exercises of "Decoding"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers
from bookkit.exercises.exercise import Function, Several, Value


def _normal(weights: Numbers) -> Numbers:
    total = float(weights.sum())
    return weights / total if total else weights


def _cut(given: Numbers, p: float, spare: int = 1) -> Numbers:
    """Keep the most probable words that stay below p, and one more, or none."""
    order = np.argsort(-given)
    count = int((np.cumsum(given[order]) < p - 1e-12).sum()) + spare
    kept = np.zeros_like(given)
    kept[order[:count]] = given[order[:count]]
    return kept


CUTS = ([0.1, 0.4, 0.2, 0.3], 0.65), ([0.05, 0.15, 0.7, 0.1], 0.5), ([0.25, 0.35, 0.4], 1.0)

check_top_p = Function(
    "`keep(probabilities, p)`, a distribution cut to its nucleus (Holtzman et al., 2020), from an "
    "array (n,) that sums to 1 to the array (n,) from which a word is drawn.",
    right=lambda given, p: _normal(_cut(given, p)),
    cases=[(np.array(given), p) for given, p in CUTS], mistakes={
        "what is left must sum to 1 again": _cut,
        "the words have changed places: undo the sorting":
            lambda g, p: -np.sort(-_normal(_cut(g, p))),
        "the word that reaches p belongs to the nucleus": lambda g, p: _normal(_cut(g, p, spare=0)),
        "the improbable words are left: begin with the most probable":
            lambda g, p: _normal(g - _cut(g, p)),
        "nothing is cut": lambda g, p: g,
    }, otherwise="keep({}, {}): got {got}, which is not it",
)  # fmt: skip


def _left(given: Numbers, least: float) -> int:
    return int((given / given.max() >= least).sum())


LISTED = [0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.006, 0.004], [0.6, 0.3, 0.07, 0.03]

check_words_left = Function(
    "`words_left(probabilities)`, from an array (n,) that sums to 1 to how many words min-p 0.1 "
    "leaves if a temperature of 2 comes first, and if the cut comes first.",
    right=lambda given: (_left(given, 0.01), _left(given, 0.1)),
    cases=[(np.array(given),) for given in LISTED], parts={
        "temperature first": {
            "a temperature of 2 takes the square root, so a hundredth is enough":
                lambda p: _left(p, 0.1),
            "a temperature of 2 flattens: the power is 1/2, not 2": lambda p: _left(p, 0.1**0.5),
        },
        "cut first": {
            "here the cut comes first, and the temperature cuts nothing": lambda p: _left(p, 0.01),
            "min-p asks for a tenth of the highest probability, not for 0.1":
                lambda p: int((p >= 0.1).sum()),
        },
    }, kind="two numbers, (temperature first, cut first)",
    otherwise="words_left({}): got {got:g}, which is not it",
)  # fmt: skip

DRAFT, TARGET = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.5, 0.3])
SHARED = np.minimum(DRAFT, TARGET)

check_draft = Several(
    "By hand, for a small draft (0.5, 0.3, 0.2) of a model (0.2, 0.5, 0.3).",
    rate=Value("How often a proposed word is kept.", right=SHARED.sum(), mistakes={
        "that is how often a word is refused": 1 - SHARED.sum(),
        "each word counts as often as it is proposed": (SHARED / DRAFT).mean(),
    }, otherwise="got {got}, which is not it"),
    replacement=Value(
        "(3,) the distribution from which a refused word is replaced.",
        right=_normal(TARGET - SHARED), mistakes={
            "divide by the sum: a distribution sums to 1": TARGET - SHARED,
            "not the model itself: it would get its favourite words twice": TARGET,
            "what the model gives beyond the draft, not the draft beyond the model":
                _normal(DRAFT - SHARED),
        }, otherwise="got {got}, which is not it",
    ),
)  # fmt: skip


def _written(draft: Numbers, target: Numbers, replacement: Numbers) -> Any:
    kept = np.minimum(draft, target)
    return kept + (1 - kept.sum()) * replacement


PAIRS = ([0.6, 0.3, 0.1], [0.4, 0.4, 0.2]), ([0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1])

check_written = Function(
    "`written(draft, target)`, what a wrong speculative decoding writes, which replaces a refused "
    "word by the model's: from two arrays (n,) that sum to 1 to a third one.",
    right=lambda draft, target: _written(draft, target, target),
    cases=[(np.array(draft), np.array(target)) for draft, target in PAIRS], mistakes={
        "so a right program writes: here a refused word is replaced otherwise": lambda d, t: t,
        "a refused word is replaced: add what comes then": np.minimum,
        "the replacement comes only as often as a word is refused":
            lambda d, t: np.minimum(d, t) + t,
        "it is drawn from the model, not from the draft": lambda d, t: _written(d, t, d),
    }, otherwise="written({}, {}): got {got}, which is not it",
)  # fmt: skip
