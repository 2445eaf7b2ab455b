"""The three questions: labels follow from the sentences, and the gold words decide."""

from __future__ import annotations

import pytest
import torch
from torch import Generator

from bookkit.data.classification import ClassificationTask, LookupTask, MajorityTask, MarkerTask

TASKS: list[ClassificationTask] = [MarkerTask(), MajorityTask(), LookupTask()]


def test_sentences_have_their_lengths_and_ids() -> None:
    for task in TASKS:
        examples = task.draw(500, Generator().manual_seed(1))
        words = torch.arange(task.longest) < examples.lengths[:, None]
        assert set(examples.lengths.tolist()) == set(range(task.shortest, task.longest + 1))
        assert examples.tokens.masked_select(~words[..., None]).abs().sum() == 0
        assert not (examples.gold & ~words).any()
        assert set(examples.labels.tolist()) == set(range(task.classes))
        assert set(examples.question.tolist()) == set(range(task.questions))
        assert set(examples.tokens.flatten().tolist()) == set(range(task.vocab_size))
        again = task.draw(500, Generator().manual_seed(1))
        assert all(torch.equal(a, b) for a, b in zip(examples, again, strict=True))
        share = examples.labels.bincount() / 500
        assert share.max() - share.min() < 0.15


def test_a_marker_says_its_class() -> None:
    task = MarkerTask(fillers=4, markers=2)
    examples = task.draw(200, Generator().manual_seed(2))
    for tokens, n, label, gold in zip(
        examples.tokens[..., 0], examples.lengths, examples.labels, examples.gold, strict=True
    ):
        markers = [int(token) for token in tokens[: int(n)] if token >= 4]
        assert len(markers) == 1
        assert (markers[0] - 4) // 2 == label
        assert tokens[gold].tolist() == markers


def test_the_larger_party_wins() -> None:
    task = MajorityTask(fillers=3, voters=2)
    examples = task.draw(200, Generator().manual_seed(3))
    for tokens, n, label, gold in zip(
        examples.tokens[..., 0], examples.lengths, examples.labels, examples.gold, strict=True
    ):
        parties = [(int(token) - 3) // 2 for token in tokens[: int(n)] if token >= 3]
        assert len(parties) >= 3
        assert label == (2 * sum(parties) > len(parties))
        assert gold.sum() == parties.count(int(label))


def test_the_name_that_is_asked_for_has_the_value() -> None:
    task = LookupTask(names=12, values=4)
    examples = task.draw(200, Generator().manual_seed(4))
    for tokens, n, question, label, gold in zip(*_rows(examples), strict=True):
        facts = dict(tokens[: int(n)].tolist())
        assert len(facts) == n
        assert facts[int(question)] - 12 == label
        assert tokens[gold].tolist() == [[int(question), int(label) + 12]]


def _rows(examples: object) -> tuple[torch.Tensor, ...]:
    return tuple(
        getattr(examples, name) for name in ("tokens", "lengths", "question", "labels", "gold")
    )


def test_wrong_calls_are_refused() -> None:
    rows: list[tuple[type[ClassificationTask], dict[str, int], str]] = [
        (MarkerTask, {}, "count: got 0"),
        (MarkerTask, {"shortest": 5, "longest": 4}, "longest: got 4, wanted at least 5"),
        (MajorityTask, {"shortest": 2}, "shortest: got 2, wanted at least 3"),
        (LookupTask, {"names": 5}, "names: got 5, wanted at least 10"),
    ]
    for task, sizes, message in rows:
        with pytest.raises(ValueError, match=message):
            task(**sizes).draw(0, Generator())
