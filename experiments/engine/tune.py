"""Tune translators of every kind alike: the same grid, budget, seeds and validation sentences.

All trials are recorded, with the setting chosen for each kind. The seeds and the validation
sentences are those of no reported study.
"""

from collections.abc import Sequence
from typing import TypeVar

from experiments.engine.code import hashes
from experiments.engine.experiment import tried
from experiments.engine.translators import Task, Trainable, modules_of, outcome
from experiments.engine.trials import record_trials

SettingT = TypeVar("SettingT", bound=Trainable)

LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)


def tune(
    name: str, settings: Sequence[SettingT], task: Task, metric: str, workers: int
) -> dict[str, SettingT]:
    """Try every setting on the tuning seeds; record all, and the best of every kind.

    There are as many settings of every kind. The task's test set is the validation set, and a
    higher mean of the metric is better.
    """
    arms = [setting.attention for setting in settings]
    code = hashes(modules_of(settings[0]))
    runs = tried(name, outcome, [(setting, task) for setting in settings], metric, workers, code)
    return record_trials(name, metric, arms, settings, runs, lower_is_better=False, named=False)
