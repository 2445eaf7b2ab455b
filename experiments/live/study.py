"""The small translators that the pages train before your eyes, on twenty seeds.

A page trains one seed of these and asserts that what it gets lies in the 95 % prediction interval
recorded here.
"""

from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.settings import LIVE_SETTINGS, LIVE_TASK
from experiments.engine.translators import kinds, outcome, smoke_trace

SEEDS = tuple(range(661, 681))

STUDY = Experiment(
    name="live", title="The small translators of the live cells",
    seeds=SEEDS, arms=lambda: on(LIVE_TASK, LIVE_SETTINGS), outcome=outcome,
    kinds=kinds(LIVE_TASK),
    modules=TRANSLATORS,
    smoke=lambda: smoke_trace(LIVE_SETTINGS.values()),
)  # fmt: skip
