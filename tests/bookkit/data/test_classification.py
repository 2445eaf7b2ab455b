"""The three questions: labels follow from the sentences, and the gold words decide."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

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


def rows(task: ClassificationTask) -> Iterator[tuple[Tensor, Tensor, int, int]]:
    """Yield words, those that decide, the question and the label of drawn sentences."""
    examples = task.draw(200, Generator().manual_seed(2))
    for tokens, n, question, label, gold in zip(*examples, strict=True):
        yield tokens[: int(n)], tokens[gold], int(question), int(label)


def test_the_words_that_decide_say_the_label() -> None:
    for tokens, gold, _, label in rows(MarkerTask(fillers=4, markers=2)):
        (marker,) = [int(token) for token in tokens if token >= 4]
        assert (marker - 4) // 2 == label
        assert gold.tolist() == [[marker]]
    for tokens, gold, _, label in rows(MajorityTask(fillers=3, voters=2)):
        parties = [(int(token) - 3) // 2 for token in tokens if token >= 3]
        assert len(parties) >= 3
        assert label == (2 * sum(parties) > len(parties))
        assert len(gold) == parties.count(label)
    for tokens, gold, question, label in rows(LookupTask(names=12, values=4)):
        facts = dict(tokens.tolist())
        assert len(facts) == len(tokens)
        assert facts[question] - 12 == label
        assert gold.tolist() == [[question, label + 12]]
