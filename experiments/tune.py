"""Tune every kind of attention alike: the same grid, budget, seeds and validation sentences.

Writes `experiments/tuned/<task>.json` with every trial and the setting chosen for each kind. The
seeds and the validation sentences are those of no reported study.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

from experiments.experiment import tried
from experiments.translators import KINDS, AnySetting, GrammarTask, Setting, Task, outcome
from experiments.trials import record_trials

SettingT = TypeVar("SettingT", bound=AnySetting)

TASK = GrammarTask(bins=(), test_pairs=500, test_seed=80_001, apart_from=GrammarTask())
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)


def tune(
    name: str, settings: Sequence[SettingT], task: Task, metric: str, workers: int
) -> dict[str, SettingT]:
    """Try every setting on the tuning seeds; record all, and the best of every kind.

    Args:
        name: the file in `experiments/tuned/`, without its suffix.
        settings: what is tried, the same number for every kind.
        task: its test set is the validation set.
        metric: the measure whose mean decides, higher is better.
        workers: processes of one thread each.
    """
    arms = [setting.attention for setting in settings]
    runs = tried(name, outcome, [(setting, task) for setting in settings], metric, workers)
    return record_trials(name, metric, arms, settings, runs, lower_is_better=False, named=False)


def main(workers: int = 2) -> None:
    """Tune the translators of the grammar: the learning rate, then dropout at the best rate."""
    rates = [Setting(kind, learning_rate=rate) for kind, rate in product(KINDS, LEARNING_RATES)]
    best = tune("grammar", rates, TASK, "exact_match/test", workers)
    without_dropout = [replace(best[kind], dropout_p=0.0) for kind in KINDS]
    tune("grammar", [*rates, *without_dropout], TASK, "exact_match/test", workers)


if __name__ == "__main__":
    main()
