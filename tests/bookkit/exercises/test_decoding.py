"""The check functions of "Decoding": wrong gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bookkit.exercises.decoding import (
    check_draft,
    check_top_p,
    check_words_left,
    check_written,
)
from bookkit.exercises.decoding_evidence import check_best

Answer = Callable[..., Any]


def keep(probabilities: Any, p: float, *, reach: bool = True, top: bool = True) -> Any:
    """One word after the other, until they have p."""
    order = sorted(range(len(probabilities)), key=lambda i: -probabilities[i] if top else i)
    left, total = np.zeros(len(probabilities)), 0.0
    for i in order:
        if total >= p - 1e-9 or (not reach and total + probabilities[i] > p + 1e-9):
            break
        left[i] = probabilities[i]
        total += probabilities[i]
    return left / left.sum() if left.any() else left


def improbable(probabilities: Any, p: float) -> Any:
    left = np.where(keep(probabilities, p) > 0, 0.0, probabilities)
    return left / left.sum() if left.any() else left


def best(log_probs: list[float], lengths: list[int], penalty: float) -> int:
    scores = [
        a / ((5 + n) ** penalty / 6**penalty) for a, n in zip(log_probs, lengths, strict=True)
    ]
    return int(np.argmax(scores))


def words_left(probabilities: Any, *, power: float = 0.5) -> tuple[int, int]:
    """Logits, as a program has them."""
    logits, least = np.log(probabilities), np.log(0.1)
    first = sum(power * (one - logits.max()) >= least for one in logits)
    return int(first), sum(bool(one - logits.max() >= least) for one in logits)


def written(draft: Any, target: Any) -> Any:
    """One proposed word after the other."""
    found = np.zeros(len(draft))
    for word, chance in enumerate(draft):
        keeps = min(1.0, target[word] / chance)
        found[word] += chance * keeps
        found += chance * (1 - keeps) * target
    return found


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_top_p, keep),
        (check_best, best),
        (check_words_left, words_left),
        (check_written, written),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


TOP_P: list[tuple[Answer, str]] = [
    (lambda given, p: given * (keep(given, p) > 0), "sum to 1 again"),
    (lambda given, p: -np.sort(-keep(given, p)), "undo the sorting"),
    (lambda given, p: keep(given, p, reach=False), "the word that reaches p"),
    (improbable, "the improbable words are left"),
    (lambda given, p: given, "nothing is cut"),
    (lambda given, p: np.full(len(given), 1 / len(given)), "which is not it"),
    (lambda given, p: given[:2], r"got shape \(2,\), wanted \(4,\)"),
    (lambda given, p: None, "end in a return"),
    (lambda given, p: "a", "wanted an array"),
    (lambda given: given, "your function stops"),
]

BEST: list[tuple[Answer, str]] = [
    (lambda totals, lengths, penalty: int(np.argmin(totals)), "nearest to 0"),
    (
        lambda totals, lengths, penalty: best(totals, lengths, -penalty),
        "divide by the factor",
    ),
    (
        lambda totals, lengths, penalty: int(np.argmax(np.divide(totals, lengths))),
        "the mean a word",
    ),
    (lambda totals, lengths, penalty: int(np.argmax(totals)), "penalty is not used"),
    (lambda totals, lengths, penalty: 17, "got 17, which is not it"),
    (lambda totals, lengths, penalty: 1.5, "wanted the place of the winner"),
    (lambda totals, lengths, penalty: None, "end in a return"),
]

WORDS_LEFT: list[tuple[Answer, str]] = [
    (lambda given: (words_left(given)[1],) * 2, "temperature first: a temperature of 2 takes"),
    (lambda given: words_left(given, power=2), "the power is 1/2"),
    (lambda given: (words_left(given)[0],) * 2, "here the cut comes first"),
    (lambda given: (words_left(given)[0], int((given >= 0.1).sum())), "not for 0.1"),
    (lambda given: (99, 1), "got 99, which is not it"),
    (lambda given: 3, "wanted two numbers"),
]

WRITTEN: list[tuple[Answer, str]] = [
    (lambda draft, target: target, "so a right program writes"),
    (lambda draft, target: np.minimum(draft, target), "add what comes then"),
    (lambda draft, target: np.minimum(draft, target) + target, "as often as a word is refused"),
    (
        lambda draft, target: (
            written(draft, target) + (1 - np.minimum(draft, target).sum()) * (draft - target)
        ),
        "not from the draft",
    ),
    (lambda draft, target: np.zeros(len(draft)), "which is not it"),
    (lambda draft, target: None, "end in a return"),
]


def test_the_draft_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    check_draft(0.2 + 0.3 + 0.2, [0.0, 2 / 3, 1 / 3])
    assert capsys.readouterr().out == "Right.\n"


@pytest.mark.parametrize(
    ("rate", "replacement", "hint"),
    [
        (0.3, [0, 2 / 3, 1 / 3], "rate: that is how often a word is refused"),
        (0.8, [0, 2 / 3, 1 / 3], "each word counts as often as it is proposed"),
        (0.7, [0, 0.2, 0.1], "replacement: divide by the sum"),
        (0.7, [0.2, 0.5, 0.3], "not the model itself"),
        (0.7, [1, 0, 0], "not the draft beyond the model"),
        (0.5, [0, 2 / 3, 1 / 3], "got 0.5, which is not it"),
    ],
)
def test_a_wrong_draft_gets_its_hint(rate: float, replacement: list[float], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_draft(rate, replacement)


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_top_p, *case) for case in TOP_P),
        *((check_best, *case) for case in BEST),
        *((check_words_left, *case) for case in WORDS_LEFT),
        *((check_written, *case) for case in WRITTEN),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""
