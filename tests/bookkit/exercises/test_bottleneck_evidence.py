"""The check functions of the evidence of "The bottleneck": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean, pstdev, stdev
from typing import Any

import pytest
from scipy import stats

from bookkit.exercises.bottleneck_evidence import check_longest, check_verdict

Answer = Callable[..., Any]


def longest(width: int, bits: int, vocabulary: int) -> int:
    sentences, words = 1, 0
    while sentences * vocabulary <= 2 ** (width * bits):
        sentences, words = sentences * vocabulary, words + 1
    return words


def judge(differences: list[float], half: float) -> str:
    mean = fmean(differences)
    return "holds" if mean > half else "fails" if mean < -half else "undecided"


def paired(treatment: list[float], control: list[float]) -> list[float]:
    return [a - b for a, b in zip(treatment, control, strict=True)]


def verdict(treatment: list[float], control: list[float]) -> str:
    found = paired(treatment, control)
    low, high = stats.t.interval(0.95, len(found) - 1, fmean(found), stats.sem(found))
    return "holds" if low > 0 else "fails" if high < 0 else "undecided"


def with_half(half: Callable[[list[float]], float]) -> Answer:
    return lambda treatment, control: judge(found := paired(treatment, control), half(found))


def unpaired(treatment: list[float], control: list[float]) -> str:
    both = (stdev(treatment) ** 2 + stdev(control) ** 2) / 5
    return judge(paired(treatment, control), 2.306 * math.sqrt(both))


def by_wins(treatment: list[float], control: list[float]) -> str:
    wins = [difference > 0 for difference in paired(treatment, control)]
    return "holds" if all(wins) else "undecided" if any(wins) else "fails"


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_longest, longest),
        (check_verdict, verdict),
    ],
)
def test_the_right_answer_passes(
    check: Callable[[Answer], None], answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


LONGEST: list[tuple[Answer, str]] = [
    (lambda w, b, v: math.floor(math.log(w * b, v)), "there are 2 \\*\\* \\(width \\* bits\\)"),
    (lambda w, b, v: math.ceil(w * b / math.log2(v)), "round down"),
    (lambda w, b, v: math.floor(w * b / math.log(v)), "to base 2"),
    (lambda w, b, v: w * b // v, "log2\\(vocabulary\\) bits"),
    (lambda w, b, v: longest(1, b, v), "every one of the `width` numbers"),
    (lambda w, b, v: longest(w, 1, v), "not one"),
    (lambda w, b, v: w * b, "not yet of words"),
    (lambda w, b, v: w * b / math.log2(v), "whole number"),
    (lambda w, b, v: longest(w, b, v) - (w == 2), "one off"),
    (lambda w, b, v: None, "end in a return"),
    (lambda w, b, v: 7 * longest(w, b, v), "more sentences of n words than vectors"),
]

VERDICT: list[tuple[Answer, str]] = [
    (unpaired, "subtract seed by seed"),
    (lambda treatment, control: verdict(control, treatment), "subtract seed by seed"),
    (with_half(lambda found: 0.0), "the mean alone"),
    (by_wins, "five wins are no interval"),
    (with_half(lambda found: 1.96 * stdev(found) / math.sqrt(5)), "for five it is 2.776"),
    (with_half(lambda found: 2.776 * pstdev(found) / math.sqrt(5)), "by n - 1"),
    (with_half(lambda found: 2.776 * stdev(found) * math.sqrt(1.2)), "square root of n"),
    (with_half(lambda found: 2.776 * stdev(found)), "square root of n"),
    (lambda treatment, control: True, 'wanted "holds"'),
    (lambda treatment: "holds", "two lists of five"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_longest, *case) for case in LONGEST),
        *((check_verdict, *case) for case in VERDICT),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Callable[[Answer], None], answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""
