"""The study of Luong's choices: one setting for all, and dot attention from other records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bookkit.notebook import load_result
from experiments.choices import study as choices
from experiments.engine.settings import REPORT_SEEDS, REPORT_STEPS, reported
from experiments.engine.translators import Corpus, GrammarTask, Setting
from experiments.engine.trials import tuned_file

WHAT = ("exact_match/test", "exact_match/26-30", "alignment_error")


def test_input_feeding_is_all_that_differs_from_dot() -> None:
    fed, dot = choices.trained_here()["fed"], reported()["dot"]
    assert fed.steps == REPORT_STEPS
    first, second = (setting.build((9, 9)) for setting in (fed, dot))
    assert first.config == replace(second.config, input_feeding=True)
    assert first.config.feeds_context
    assert not second.config.feeds_context


def test_what_is_tried_differs_from_dot_or_general_in_one_thing() -> None:
    tried: dict[str, Any] = choices.tried()
    configs = {name: setting.config((9, 9)) for name, setting in tried.items()}
    dot, general = configs["dot"], configs["general"]
    assert general == replace(dot, attention="general")
    assert configs["concat"] == replace(dot, attention="concat")
    assert configs["local_dot"] == replace(dot, window=5)
    assert configs["local_general"] == replace(general, window=5)
    assert configs["fed"] == replace(dot, input_feeding=True)


def test_the_same_rate_is_best_for_all_and_lies_inside_the_grid() -> None:
    record = json.loads(tuned_file("choices").read_text(encoding="utf8"))
    assert set(record["chosen"]) == set(choices.tried())
    rates = {setting["learning_rate"] for setting in record["chosen"].values()}
    assert rates == {sorted(choices.LEARNING_RATES)[1]}
    losses = {(t["name"], t["setting"]["learning_rate"]): t["runs"] for t in record["trials"]}
    for rate in choices.LEARNING_RATES:  # as the evidence says
        assert min(losses["general", rate]) > max(losses["dot", rate])


def test_dot_is_read_from_the_records_of_other_studies() -> None:
    runs = choices.recorded()
    assert {name.split("/")[0] for name in runs} == {"dot"}
    assert {len(entry.runs) for entry in runs.values()} == {len(REPORT_SEEDS)}
    name = "dot/exact_match/26-30"
    assert runs[name].runs == load_result("bottleneck")[name].runs
    assert runs["dot/alignment_error"].runs == load_result("alignment")["dot/alignment_error"].runs


@pytest.mark.parametrize("name", list(choices.STUDY.claims))
def test_a_claim_is_decided_by_its_runs_and_those_of_the_records(name: str) -> None:
    dot = {measured: list(entry.runs) for measured, entry in choices.recorded().items()}
    arms = {f"{arm}/{what}" for arm in choices.trained_here() for what in WHAT}
    better = dot | {one: [0.0 if "error" in one else 100.0] * 5 for one in arms}
    worse = dot | {one: [100.0 if "error" in one else 0.0] * 5 for one in arms}
    claim, kind = choices.STUDY.claims[name], choices.STUDY.kind
    means = [float(str(claim.decide(runs, kind)["mean"])) for runs in (better, worse)]
    assert means[0] * means[1] < 0


def test_a_record_of_other_settings_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = reported()
    longer = {**settings, "dot": replace(settings["dot"], steps=3000)}
    monkeypatch.setattr(choices, "reported", lambda: longer)
    choices.recorded.cache_clear()
    with pytest.raises(ValueError, match="bottleneck: its dot was not trained as dot is here"):
        choices.recorded()


def test_trials_are_scored_on_sentences_that_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    task = GrammarTask(train_pairs=60, max_length=8, test_pairs=4, bins=())
    small = Setting("dot", steps=3, warmup_steps=1, hidden_dim=8, embed_dim=4, batch_size=20)
    assert choices.loss_on_new_sentences(small, task, 3)["loss_on_new_sentences"] > 1
    with pytest.raises(ValueError, match="got 60 training pairs, wanted at least 80"):
        choices.loss_on_new_sentences(replace(small, steps=4), task, 3)
    trials = choices.TRIAL_STEPS * choices.tried()["dot"].batch_size
    assert trials <= choices.TRIAL_TASK.train_pairs
    drawn: list[int] = []
    monkeypatch.setattr(GrammarTask, "corpus", lambda _, seed: drawn.append(seed))
    for _ in range(2):
        corpus: Corpus = choices.corpus(replace(task, test_seed=7), 5)
    assert corpus is None
    assert drawn == [5]
