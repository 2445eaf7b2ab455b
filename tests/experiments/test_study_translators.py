"""What the studies of translators share: which sentences are learned, and what is counted."""

import gzip
from pathlib import Path

from companion.data.pairs import Pair
from experiments.engine import translators
from experiments.real_sentences.study import FileTask


def test_training_sentences_are_not_tested() -> None:
    task = translators.GrammarTask(
        train_pairs=500, max_length=12, test_pairs=50, bin_pairs=10, bins=((1, 5),)
    )
    corpus = task.corpus(3)
    seen = {pair.source for pair in corpus.train}
    assert len(seen) == 500
    assert all(p.source not in seen for pairs in corpus.tests.values() for p in pairs)
    assert task.corpus(3) == corpus
    assert task.corpus(4).train != corpus.train
    assert task.corpus(4).tests == corpus.tests


def test_a_file_is_split_by_its_sources(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv.gz"
    lines = [f"{'word ' * (n % 7)}number{n % 60}\tpalabra{n}" for n in range(240)]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    split = {
        validation: FileTask(str(path), validation=validation, held_back=20).corpus(0)
        for validation in (False, True)
    }
    seen = {pair.source for pair in split[False].train}
    tested = {pair.source for pair in split[False].tests["test"]}
    validated = {pair.source for pair in split[True].tests["test"]}
    assert len(tested) == len(validated) == 20
    assert not seen & (tested | validated)
    assert not tested & validated
    parts = [name for name in split[False].tests if name != "test"]
    assert sum(len(split[False].tests[name]) for name in parts) == 20


def test_equal_parameters_are_equal_within_two_percent() -> None:
    sizes = (100, 190)
    wanted = translators.parameter_count(translators.Setting("none", hidden_dim=192), sizes)
    setting = translators.equal_parameters(translators.Setting("additive"), wanted, sizes)
    assert abs(translators.parameter_count(setting, sizes) / wanted - 1) < 0.02


def test_determiner_errors_know_their_noun() -> None:
    pair = Pair(
        ("the", "red", "house"),
        ("la", "casa", "roja"),
        frozenset({(0, 0), (1, 2), (2, 1)}),
        classes=("determiner", "noun", "adjective"),
    )
    at_noun = frozenset({(0, 2), (1, 2), (2, 1)})
    elsewhere = frozenset({(0, 1), (1, 1), (2, 1)})
    right = frozenset({(0, 0), (1, 2), (2, 2)})
    assert translators.determiner_errors([at_noun], [pair]) == (1, 1)
    assert translators.determiner_errors([elsewhere], [pair]) == (1, 0)
    assert translators.determiner_errors([right], [pair]) == (0, 0)
    assert translators.determiner_counts([at_noun, elsewhere, elsewhere, right], [pair] * 4) == {
        "determiner_counts/at_their_noun": 1,
        "determiner_counts/elsewhere": 2,
    }
