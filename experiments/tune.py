"""Tune every kind of attention alike: the same grid, budget, seeds and validation sentences.

Writes `experiments/tuned/<task>.json` with every trial and the setting chosen for each kind. The
seeds and the validation sentences are those of no reported study.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from statistics import fmean
from typing import TypeVar

from experiments.record import processor, versions
from experiments.settings import TUNED, TUNING_SEEDS
from experiments.translators import KINDS, AnySetting, GrammarTask, Setting, Task, in_parallel, run

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
    jobs = [
        (f"tune-{name}/{number}", setting, task, seed)
        for seed in TUNING_SEEDS
        for number, setting in enumerate(settings)
    ]
    outcomes = in_parallel(run, jobs, workers)
    scores = [
        [outcome[metric] for outcome in outcomes[number :: len(settings)]]
        for number in range(len(settings))
    ]
    means = [fmean(runs) for runs in scores]
    chosen = {
        kind: max(
            (number for number, setting in enumerate(settings) if setting.attention == kind),
            key=means.__getitem__,
        )
        for kind in dict.fromkeys(setting.attention for setting in settings)
    }
    record = {
        "metric": metric,
        "seeds": TUNING_SEEDS,
        "processor": processor(),
        "versions": versions(),
        "chosen": {kind: vars(settings[number]) for kind, number in chosen.items()},
        "trials": [
            {"setting": vars(setting), "runs": [round(value, 4) for value in runs]}
            for setting, runs in zip(settings, scores, strict=True)
        ],
    }
    TUNED.mkdir(exist_ok=True)
    (TUNED / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf8")
    return {kind: settings[number] for kind, number in chosen.items()}


def main(workers: int = 2) -> None:
    """Tune the translators of the grammar: the learning rate, then dropout at the best rate."""
    rates = [Setting(kind, learning_rate=rate) for kind, rate in product(KINDS, LEARNING_RATES)]
    best = tune("grammar", rates, TASK, "exact_match/test", workers)
    without_dropout = [replace(best[kind], dropout_p=0.0) for kind in KINDS]
    tune("grammar", [*rates, *without_dropout], TASK, "exact_match/test", workers)


if __name__ == "__main__":
    main()
