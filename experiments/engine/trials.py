"""Trials before a study: all run on the tuning seeds, all recorded, the best of each arm chosen."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar, cast

from experiments.engine.record import STUDIES, processor, versions

ArmT = TypeVar("ArmT", bound=str)
SettingT = TypeVar("SettingT")

TUNING_SEEDS = (101, 102)


@dataclass(frozen=True)
class Trials:
    """What is tried before a study: every arm with every learning rate."""

    arms: Callable[[], Mapping[str, Any]]  # gives the settings, which have a learning_rate
    rates: Sequence[float] | Callable[[Any], Sequence[float]]  # for all arms, or of the setting
    task: object  # on which they are tried
    measure: str = "final_loss"  # whose least mean over the tuning seeds decides
    metric: str | None = None  # what the measure is called in the file; by default as it is here
    outcome: Callable[..., Mapping[str, float]] | None = None  # by default what the study runs
    named: bool = True  # write the arm's name beside the setting, which otherwise tells it
    digits: str = ".4f"  # how runs are rounded, as a format

    def rows(self) -> list[tuple[str, Any]]:
        """Return arm and setting of every trial."""
        return [
            (name, replace(setting, learning_rate=rate))
            for name, setting in self.arms().items()
            for rate in (self.rates(setting) if callable(self.rates) else self.rates)
        ]


def record_trials(
    study: str,
    metric: str,
    arms: Sequence[ArmT],
    settings: Sequence[SettingT],
    runs: Sequence[Sequence[float]],
    *,
    lower_is_better: bool = True,
    named: bool = True,
    digits: str = ".4f",
    seeds: Sequence[int] = TUNING_SEEDS,
) -> dict[ArmT, SettingT]:
    """Write all trials and the best setting of every arm, by the mean of the runs as written.

    The file is `tuned.json` in the study's folder; after a slash, a part of the study has its own.
    Arms, settings and runs, the latter in the order of the seeds, have one entry a trial;
    the trials of an arm compete. See `Trials` for the rest.

    Returns:
        The best setting of every arm.
    """
    rounded = [[float(format(run, digits)) for run in values] for values in runs]
    means = [fmean(values) for values in rounded]
    best = min if lower_is_better else max
    chosen = {
        arm: settings[
            best((n for n, other in enumerate(arms) if other == arm), key=means.__getitem__)
        ]
        for arm in dict.fromkeys(arms)
    }
    record = {
        "metric": f"{metric}, lower is better" if lower_is_better else metric,
        "seeds": seeds,
        "processor": processor(),
        "versions": versions(),
        "chosen": {arm: asdict(cast(Any, setting)) for arm, setting in chosen.items()},
        "trials": [
            {
                **({"name": arm} if named else {}),
                "setting": asdict(cast(Any, setting)),
                "runs": values,
            }
            for arm, setting, values in zip(arms, settings, rounded, strict=True)
        ],
    }
    tuned_file(study).write_text(json.dumps(record, indent=1) + "\n", encoding="utf8")
    return chosen


def tuned_file(study: str) -> Path:
    """Return where the trials of a study stand, or those of a part of it.

    >>> tuned_file("heads").relative_to(STUDIES).as_posix()
    'heads/tuned.json'
    >>> tuned_file("transformer/small").relative_to(STUDIES).as_posix()
    'transformer/tuned_small.json'
    """
    name, _, part = study.partition("/")
    return STUDIES / name / (f"tuned_{part}.json" if part else "tuned.json")


def tuned(study: str, arms: Mapping[ArmT, SettingT], **changes: object) -> dict[str, SettingT]:
    """Return every arm with the setting that tuning chose for it, and the changes of the report."""
    text = tuned_file(study).read_text(encoding="utf8")
    chosen: dict[str, dict[str, Any]] = json.loads(text)["chosen"]
    return {
        name: replace(cast(Any, setting), **{**chosen[name], **changes})
        for name, setting in arms.items()
    }
