"""What an update costs: the CPU time of translators side by side, in one interleaved run."""

import time
from collections.abc import Mapping
from statistics import median

from companion.training import TrainingConfig, train
from experiments.engine.translators import Task, Trainable, training_batches


def update_costs(
    settings: Mapping[str, Trainable], task: Task, seed: int, *, rounds: int = 5, updates: int = 20
) -> dict[str, float]:
    """Return the CPU time of an update of every translator, as a multiple of the first one's.

    See `update_seconds`.
    """
    seconds = update_seconds(settings, task, seed, rounds=rounds, updates=updates)
    first = next(iter(seconds.values()))
    return {name: spent / first for name, spent in seconds.items()}


def update_seconds(
    settings: Mapping[str, Trainable], task: Task, seed: int, *, rounds: int = 5, updates: int = 20
) -> dict[str, float]:
    """Return the seconds of CPU time that an update of every translator takes, on the same batches.

    The translators are interleaved, so that what else the machine does strikes all of them alike.
    The median of the rounds counts; a reading is of so many updates.
    """
    corpus = task.corpus(seed)
    config = TrainingConfig(updates, warmup_steps=1, seed=seed)
    models = {name: setting.build(corpus.vocabularies) for name, setting in settings.items()}
    seconds: dict[str, list[float]] = {name: [] for name in settings}
    for _ in range(rounds):
        for name, setting in settings.items():
            batches = training_batches(setting, corpus, seed)
            began = time.process_time()
            train(models[name], batches, setting.loss, config, progress=False)
            seconds[name].append((time.process_time() - began) / updates)
    return {name: median(times) for name, times in seconds.items()}
