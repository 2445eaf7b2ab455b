"""The translators of the pages come from the training and the data that they name."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

import bookkit.figures  # noqa: F401  # before the playables, which it imports, too
from bookkit.playables.translator import EXAMPLES, FILES, FOLDER, LONGEST_READ
from bookkit.playables.weights import load_translator, quantize, read_about, restore
from bookkit.records import load_result
from companion.metrics import exact_match
from experiments.engine.experiment import as_key
from experiments.engine.settings import LIVE_SETTINGS, LIVE_TASK
from experiments.engine.translators import Corpus
from experiments.tools import page_translator as tool


@cache
def corpus() -> Corpus:
    return LIVE_TASK.corpus(tool.SEED)


@pytest.mark.parametrize("name", tool.KINDS)
def test_a_file_says_where_its_weights_come_from(name: str) -> None:
    about = read_about(FOLDER / FILES[name])
    assert about["command"] == "python -m experiments.tools.page_translator"
    assert about["seed"] == tool.SEED
    fixed = as_key(setting=LIVE_SETTINGS[tool.KINDS[name]], task=LIVE_TASK)
    assert {key: about[key] for key in fixed} == fixed
    assert about["data"] == tool.digest_of_pairs(corpus().train)
    assert tuple(about["source"]) == corpus().source_vocab.tokens[4:]
    assert tuple(about["target"]) == corpus().target_vocab.tokens[4:]
    assert about["gloss"] == tool.glosses(corpus().train, about["target"])


def test_no_sentence_that_is_shown_was_trained_on() -> None:
    trained = {pair.source for pair in corpus().train}
    assert not trained & {tuple(sentence.split()) for sentence, _ in EXAMPLES.values()}
    lines = (FOLDER / FILES["sentences"]).read_text(encoding="utf-8").splitlines()
    shown = [tuple(tuple(part.split()) for part in line.split("\t")) for line in lines]
    assert not trained & {source for source, _ in shown}
    drawn = tool.sentences_of_all_lengths(corpus())
    assert shown == [(pair.source, pair.target) for pair in drawn]


def test_what_a_page_calls_unread_was_not_read() -> None:
    after = json.loads((FOLDER / FILES["followers"]).read_text(encoding="utf-8"))
    assert after == tool.followers(corpus().train)
    assert max(len(pair.source) for pair in corpus().train) == LONGEST_READ
    assert "man" not in after["young"].split()


@pytest.mark.parametrize("name", tool.KINDS)
def test_a_translator_is_as_good_as_those_of_the_study(name: str) -> None:
    translator = load_translator(FOLDER / FILES[name])
    pairs = corpus().tests["test"]
    written = translator.translate([pair.source for pair in pairs])
    share = exact_match([one.tokens for one in written], [pair.target for pair in pairs])
    assert share in load_result("live")[f"{tool.KINDS[name]}/exact_match/test"]


def test_the_copy_beside_the_tests_is_what_was_rounded_to_eight_bits() -> None:
    exact, stored = read_weights(tool.UNROUNDED), read_weights(FOLDER / FILES["with"])
    assert exact.keys() == stored.keys()
    for name, weight in exact.items():
        again = restore(*quantize(weight)) if weight.ndim == 2 else weight
        torch.testing.assert_close(stored[name], again, rtol=1e-6, atol=0)


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    model: Any = load_translator(path).model
    return dict(model.state_dict())
