"""The small translators of the pages: trained as in the study, and never on a test sentence."""

import pytest
import torch

from bookkit.data.grammar import english_spanish
from bookkit.notebook.translators import SmallTask, small_task, small_translator
from bookkit.records import load_result
from experiments.engine.translators import GrammarTask, Setting, fit


@pytest.fixture(scope="module")
def task() -> SmallTask:
    return small_task(3)


def studied() -> GrammarTask:
    config = dict(load_result("live").config["none"]["task"])
    config["bins"] = tuple(map(tuple, config["bins"]))
    return GrammarTask(**config)


def test_the_sentences_are_those_of_the_study(task: SmallTask) -> None:
    corpus = studied().corpus(3)
    assert task.training == corpus.train
    assert task.tests == corpus.tests
    assert task.english.tokens == corpus.source_vocab.tokens
    assert task.spanish.tokens == corpus.target_vocab.tokens


def test_no_sentence_that_is_shown_is_trained_on() -> None:
    shown = english_spanish(200, seed=3, max_length=14)
    task = small_task(3, apart_from=shown)
    known = {pair.source for pair in task.training}
    assert not known & {pair.source for pair in shown}
    assert not known & {pair.source for pairs in task.tests.values() for pair in pairs}
    assert len(known) == len(task.training) == 10_000


@pytest.mark.parametrize("kind", ["none", "dot", "additive"])
def test_training_is_that_of_the_study(task: SmallTask, kind: str) -> None:
    setting = dict(load_result("live").config[kind]["setting"]) | {"steps": 3}
    wanted = fit(Setting(**setting), studied().corpus(3), 3).translator.model
    found = small_translator(kind, task, steps=3).model
    pairs = zip(found.parameters(), wanted.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
