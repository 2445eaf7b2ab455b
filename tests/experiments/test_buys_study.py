"""The study of what attention buys: the same for all arms, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bookkit.notebook import load_result
from companion.data.batching import collate
from companion.models.seq2seq import Seq2Seq
from experiments.buys import study as buys
from experiments.engine.settings import REPORT_SEEDS, REPORT_STEPS, reported
from experiments.engine.translators import GrammarTask, Setting

SMALL = GrammarTask(train_pairs=120, max_length=9, test_pairs=8, bin_pairs=8, bins=((1, 5), (6, 9)))


def test_all_arms_have_one_budget_and_the_recurrent_ones_one_width() -> None:
    settings: dict[str, Any] = buys.everyone()
    assert {(s.steps, s.batch_size, s.warmup_steps) for s in settings.values()} == {
        (REPORT_STEPS, 64, 100)
    }
    recurrent = [s for s in settings.values() if isinstance(s, Setting)]
    assert {(s.embed_dim, s.hidden_dim) for s in recurrent} == {(64, 128)}
    assert next(iter(settings)) == "none"
    assert set(settings) == {"none", "additive", "dot", "general", "concat", "local", "transformer"}


def test_what_the_other_study_trained_is_read_from_its_record() -> None:
    runs = buys.recorded()
    assert {name.split("/")[0] for name in runs} == {"none", "additive", "dot"}
    assert {len(one.runs) for one in runs.values()} == {len(REPORT_SEEDS)}
    for arm in ("none", "additive", "dot"):
        assert {f"{arm}/bleu/36-40", f"{arm}/exact_match/held_out"} <= set(runs)
    dot = load_result("bottleneck")["dot/exact_match/test"]
    assert runs["dot/exact_match/test"] == dot


def test_a_record_of_other_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = reported()
    longer = {**settings, "dot": replace(settings["dot"], steps=3000)}
    monkeypatch.setattr("experiments.buys.study.reported", lambda: longer)
    buys.recorded.cache_clear()
    with pytest.raises(ValueError, match="its dot was not trained as dot is here"):
        buys.recorded()


def test_the_local_arm_looks_through_a_window() -> None:
    settings = buys.trained_here()
    local, general = (settings[arm].build((9, 9)) for arm in ("local", "general"))
    assert isinstance(local, Seq2Seq)
    assert isinstance(general, Seq2Seq)
    assert local.config == replace(general.config, window=5)
    assert general.config.attention == "general"


def test_a_variant_has_the_settings_of_the_arm_it_varies() -> None:
    settings: dict[str, Any] = buys.everyone()
    for variant, arm in (("general", "dot"), ("local", "dot"), ("concat", "additive")):
        differ = {
            name
            for name, value in vars(settings[variant]).items()
            if value != vars(settings[arm]).get(name)
        }
        assert differ <= {"attention", "query", "window"}


def test_costs_are_of_every_arm() -> None:
    settings = {name: setting.shrunk() for name, setting in buys.everyone().items()}
    costs = buys.costs(settings, 3, SMALL)
    assert len(costs) == 5 * len(settings)
    assert all(value > 0 for value in costs.values())
    assert costs["dot/parameters"] == costs["none/parameters"]
    assert costs["local/parameters"] > costs["general/parameters"] > costs["dot/parameters"]
    assert costs["concat/training_mib"] > costs["dot/training_mib"] > costs["none/training_mib"]


def test_an_update_is_compared_with_one_without_attention(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spent = {f"{arm}/update_seconds": 2.0 + n for n, arm in enumerate(buys.everyone())}
    monkeypatch.setattr(buys, "costs", lambda *_: spent)
    costs = buys.all_costs(1)
    assert costs["additive/update_cost"] == 1.5
    assert "none/update_cost" not in costs
    assert len(costs) == 2 * len(spent) - 1


def test_decoding_reads_every_right_word_once() -> None:
    corpus = SMALL.corpus(3)
    batch = collate(corpus.tests["06-09"], corpus.source_vocab, corpus.target_vocab)
    model = Setting("dot").shrunk().build(corpus.vocabularies).eval()
    steps = []
    step = model.step
    model.step = lambda tokens, state: (steps.append(tokens), step(tokens, state))[1]  # type: ignore[func-returns-value,method-assign]
    buys.decode(model, batch)
    assert len(steps) == batch.target_in.shape[1]
    assert all((words == batch.target_in[:, n]).all() for n, words in enumerate(steps))


def test_decoding_keeps_annotations_keys_mask_and_states() -> None:
    corpus = SMALL.corpus(3)
    batch = collate(corpus.tests["06-09"], corpus.source_vocab, corpus.target_vocab)
    model = Setting("dot").shrunk().build(corpus.vocabularies).eval()
    (b, k), h = batch.source.shape, model.config.hidden_dim
    kept = 4 * (2 * b * k * h + 2 * b * h) + b * k
    assert buys.decoding_mib(model, batch) == pytest.approx(kept / 2**20, rel=0.1)
