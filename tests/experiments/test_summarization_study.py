"""The study of summaries: what its arms share, what they know, and what is counted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bookkit.data.reports import made_up_names, match_reports, tells_winner
from experiments.summarization import study

pytestmark = pytest.mark.slow

SMALL = study.Task(reports=40, names=20, tests=30, test_names=12)


def test_no_name_of_the_tests_is_known() -> None:
    names = set(made_up_names(study.TASK.names, seed=0))
    pairs = study.TASK.training(3)[:500]
    vocab = study.vocabulary("pointer", pairs, sorted(names))
    for validation in (False, True):
        task = replace(study.TASK, validation=validation)
        unseen, seen = task.testing()["unseen"], task.testing()["seen"]
        told = {pair.target[place] for pair in unseen for place in (0, 2, 6)}
        assert not told & names
        assert not any(word in vocab for word in told | names)
        assert {word for pair in seen for word in pair.source} <= names | set(vocab.tokens)
        assert not any(pair in pairs for pair in seen)
    drawn = [replace(study.TASK, validation=flag).testing()["unseen"] for flag in (False, True)]
    assert not {pair.source for pair in drawn[0]} & {pair.source for pair in drawn[1]}


def test_spelled_reports_hold_the_same_text() -> None:
    pairs = SMALL.training(1)
    for pair, spelled in zip(pairs, study.as_characters(pairs), strict=True):
        assert "".join(spelled.source).split() == list(pair.source)
        assert tuple("".join(spelled.target).split()) == pair.target


def test_quality_counts_facts_and_both_kinds_of_reports() -> None:
    pairs = match_reports(40, seed=2, names=made_up_names(9, seed=2))
    said = [
        pair.target
        if tells_winner(pair)
        else tuple(pair.target[i] for i in (2, 1, 0, 3, 4, 5, 6, 7))
        for pair in pairs
    ]
    share = 100 * sum(tells_winner(pair) for pair in pairs) / 40
    found = study.quality(said, pairs)
    assert found["exact"] == pytest.approx(share)
    assert (found["exact_told"], found["exact_worked_out"]) == (100.0, 0.0)
    assert found["reversed"] == pytest.approx(100 - share)
    assert found["winner"] == found["scores"] == found["form"] == 0
    assert found["rouge-1"] == pytest.approx(100)
