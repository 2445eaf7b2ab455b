"""The exercises of "A name it cannot say"."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function, Several, Value

check_three = Several(
    "Of three reports that differ in the last name alone, in how many a model with grey names can "
    "name the team that came last, and in how many the first of the two others.",
    last=Value("came last", right=3, mistakes={
        "came last: the last name is that team's in all three reports, and a model may always "
        "point at that place": (0, 1, 2),
    }, otherwise="came last: got {got:g}, wanted a number of reports from 0 to 3"),
    others=Value("first of the others", right=2, mistakes={
        "first of the others: the first name of the report is right more often than that": (0, 1),
        "first of the others: in one report it is the first name that came last": 3,
    }, otherwise="first of the others: got {got:g}, wanted a number of reports from 0 to 3"),
)  # fmt: skip

check_mix_by_hand = Several(
    "The probabilities of toral and of beat in the exercise.",
    toral=Value("of toral", right=0.6, mistakes={
        "toral: it is at two places, and the weights of both count": (0.375, 0.225),
        "toral: copying has 1 - p of the probability": (0.8, 0.2),
    }, otherwise="toral: got {got:g}, which is not it", rtol=0, atol=1e-6),
    beat=Value("of beat", right=0.225, mistakes={
        "beat: that is what is spoken; beat is in the report as well": 0.15,
        "beat: that is what is copied; beat is in the vocabulary as well": 0.075,
        "beat: p is the probability of speaking, not of pointing": 0.475,
    }, otherwise="beat: got {got:g}, which is not it", rtol=0, atol=1e-6),
)  # fmt: skip


def _copied(
    p_vocab: Numbers, weights: Numbers, p_gen: float, source: Sequence[int], size: int
) -> Numbers:
    copied = np.zeros(size)
    np.add.at(copied, source, (1 - p_gen) * weights)
    return copied


def _generated(p_vocab: Numbers, weights: Numbers, p_gen: float, source: Any, size: int) -> Numbers:
    return np.pad(p_gen * p_vocab, (0, size - len(p_vocab)))


def _mixed(*given: Any) -> Numbers:
    return _generated(*given) + _copied(*given)


def _last_weight(
    p_vocab: Numbers, weights: Numbers, p_gen: float, source: list[int], size: int
) -> Numbers:
    mixed = _generated(p_vocab, weights, p_gen, source, size)
    mixed[source] += (1 - p_gen) * weights
    return mixed


GIVEN = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.4, 0.3, 0.2])

check_mix = Function(
    "`mix(p_vocab, weights, p_gen, source, size)`, the final distribution of a step, from arrays "
    "(V,) and (k,), a number, a list of k ids and the number of ids, to an array (size,).",
    right=_mixed, cases=[(*GIVEN, 0.8, [3, 1, 3, 4], 5), (*GIVEN, 0.3, [0, 4, 4, 3], 5)], mistakes={
        "p_gen is the probability of generating; copying has the rest":
            lambda p, w, g, *rest: _mixed(p, w, 1 - g, *rest),
        "a word that stands at two places has the weights of both": _last_weight,
        "the weights come on top of what the vocabulary gives, not in its place":
            lambda *given: np.where(_copied(*given) > 0, _copied(*given), _generated(*given)),
        "the weights are not multiplied by 1 - p_gen":
            lambda p, w, g, *rest: _generated(p, w, g, *rest) + _copied(p, w, 0, *rest),
    }, otherwise="got {got}, which is not it", atol=1e-6,
)  # fmt: skip


def _listed(got: Any, *_: Any) -> list[int]:
    try:
        return [int(one) for one in got]
    except (TypeError, ValueError):
        refuse(got, "a list of ids")


check_readable = Function(
    "`readable(ids, size)`, the ids that an embedding of `size` rows can read: one beyond it is "
    "read as 3, the unknown word.",
    right=lambda ids, size: [one if one < size else 3 for one in ids],
    cases=[([1, 67, 5, 68, 66], 67), ([7, 2], 7)], mistakes={
        "the last word of the vocabulary has the id size - 1, and size is the first unknown one":
            lambda ids, size: [one if one <= size else 3 for one in ids],
        "an unknown word is read as id 3, not as the last word": lambda ids, size:
            [min(one, size - 1) for one in ids],
        "the unknown words are still read, only not left out": lambda ids, size:
            [one for one in ids if one < size],
        "nothing is changed: an embedding has no row for these ids": lambda ids, size: ids,
    }, read=_listed, otherwise="for {} and {} got {got}, which is not it",
)  # fmt: skip
