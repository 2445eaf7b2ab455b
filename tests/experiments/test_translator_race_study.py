"""The race of two translators: equal weights, equal updates, equal time."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from experiments.engine.translators import parameter_count
from experiments.engine.trials import tuned_file
from experiments.translator_race import study as race


def test_both_have_about_as_many_weights() -> None:
    sizes = 147, 253  # the words of the task
    first, second = (parameter_count(one, sizes) for one in (race.TRANSFORMER, race.RECURRENT))
    assert first == pytest.approx(second, rel=0.005)


def test_the_chosen_rates_lie_inside_the_grid() -> None:
    record = json.loads(tuned_file(race.NAME).read_text(encoding="utf8"))
    chosen = {name: one["learning_rate"] for name, one in record["chosen"].items()}
    assert set(chosen) == {"transformer", "additive"}
    assert set(chosen.values()) <= set(race.LEARNING_RATES[1:-1])


def test_an_arm_differs_from_its_twin_in_its_updates_alone() -> None:
    arms = race.arms()
    assert len(arms) == 6
    for name in ("transformer", "recurrent"):
        budgets = [arms[f"{name}_{budget}"] for budget in ("short", "long", "longest")]
        assert [one.steps for one in budgets] == [1600, 3200, 6400]
        assert len({replace(one, steps=0) for one in budgets}) == 1


def test_no_validation_sentence_is_reported() -> None:
    reported = {pair.source for pair in race.TASK.tests()["test"]}
    assert not reported & {pair.source for pair in race.VALIDATION.tests()["test"]}
