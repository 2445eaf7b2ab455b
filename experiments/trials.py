"""Trials before a study: all run on the tuning seeds, all recorded, the best of each arm chosen."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any, TypeVar, cast

from experiments.record import processor, versions
from experiments.settings import TUNED, TUNING_SEEDS
from experiments.translators import in_parallel

Arm = TypeVar("Arm", bound=str)
Setting = TypeVar("Setting")


def each_rate(
    arms: Mapping[str, Setting], rates: Sequence[float], task: object
) -> list[tuple[str, Setting, object]]:
    """Return a trial of every learning rate for every arm: its name, its setting and the task.

    Args:
        arms: settings by name, dataclasses with a learning_rate.
        rates: the learning rates, the same for all.
        task: on which they are tried.
    """
    return [
        (name, replace(cast(Any, setting), learning_rate=rate), task)
        for name, setting in arms.items()
        for rate in rates
    ]


def tune_rates(
    study: str,
    trials: Sequence[tuple[str, Setting, object]],
    outcome: Callable[..., Mapping[str, float]],
    measure: str,
    workers: int,
    *,
    metric: str | None = None,
    digits: str = ".4f",
) -> None:
    """Run every trial on the tuning seeds; record all, and the one with the least mean of each arm.

    Args:
        study: the file in `experiments/tuned/`, without its suffix.
        trials: arm, setting and task of each.
        outcome: takes a setting, a task and a seed, and gives what it measured.
        measure: which of that decides.
        workers: processes of one thread each.
        metric: what the measure is called in the file; by default as it is here.
        digits: how runs are rounded, as a format.
    """
    runs = tried(outcome, [(setting, task) for _, setting, task in trials], measure, workers)
    record_trials(
        study,
        metric or measure,
        [arm for arm, *_ in trials],
        [setting for _, setting, _ in trials],
        runs,
        digits=digits,
    )


def tried(
    work: Callable[..., Mapping[str, float]],
    trials: Sequence[tuple[object, ...]],
    measure: str,
    workers: int,
) -> list[list[float]]:
    """Do every trial with every tuning seed; return what it measured, one list of runs a trial.

    Args:
        work: takes what is in a trial and then a seed, and gives what it measured.
        trials: all arguments but the seed.
        measure: which measure is returned.
        workers: processes of one thread each.
    """
    jobs = [(*trial, seed) for trial in trials for seed in TUNING_SEEDS]
    values = [found[measure] for found in in_parallel(work, jobs, workers)]
    count = len(TUNING_SEEDS)
    return [values[n : n + count] for n in range(0, len(values), count)]


def record_trials(
    study: str,
    metric: str,
    arms: Sequence[Arm],
    settings: Sequence[Setting],
    runs: Sequence[Sequence[float]],
    *,
    lower_is_better: bool = True,
    named: bool = True,
    digits: str = ".4f",
) -> dict[Arm, Setting]:
    """Write all trials and the best setting of every arm, by the mean of the runs as written.

    Args:
        study: the file in `experiments/tuned/`, without its suffix.
        metric: what was measured.
        arms: one a trial; the trials of an arm compete.
        settings: one a trial, a dataclass.
        runs: one list a trial, in the order of the tuning seeds.
        lower_is_better: the least mean is the best, else the greatest.
        named: write the arm beside the setting, which otherwise tells it.
        digits: how runs are rounded, as a format.

    Returns:
        The best setting of every arm.
    """
    kept = [[float(format(run, digits)) for run in found] for found in runs]
    means = [fmean(found) for found in kept]
    best = min if lower_is_better else max
    chosen = {
        arm: settings[
            best((n for n, other in enumerate(arms) if other == arm), key=means.__getitem__)
        ]
        for arm in dict.fromkeys(arms)
    }
    record = {
        "metric": f"{metric}, lower is better" if lower_is_better else metric,
        "seeds": TUNING_SEEDS,
        "processor": processor(),
        "versions": versions(),
        "chosen": {arm: asdict(cast(Any, setting)) for arm, setting in chosen.items()},
        "trials": [
            {
                **({"name": arm} if named else {}),
                "setting": asdict(cast(Any, setting)),
                "runs": found,
            }
            for arm, setting, found in zip(arms, settings, kept, strict=True)
        ],
    }
    TUNED.mkdir(exist_ok=True)
    (TUNED / f"{study}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf8")
    return chosen


def command_line(
    description: str | None, tune: Callable[[int], None], main: Callable[[int], None]
) -> None:
    """Run the trials of a study, if asked for, or else the study.

    Args:
        description: what the study asks.
        tune: runs the trials; takes the number of workers.
        main: runs the study; takes the number of workers.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--tune", action="store_true", help="choose the settings, and stop there")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    options = parser.parse_args()
    (tune if options.tune else main)(options.workers)
