"""Both orders of looking with both kinds of memory, trained twice as long, twenty times.

The four small translators of `experiments.memory_context`, on the same sentences, with the learning
rates chosen there after 800 updates. Here every training takes 1,600, on other seeds: ten trainings
could not tell whether the order matters less without neighbours in the memory, and nothing showed
that they were over.
"""

from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.translators import outcome
from experiments.memory_context import study as shorter
from experiments.memory_context.study import TASK, MemorySetting, gap, recorded

SEEDS = tuple(range(301, 321))
STEPS = 1600


def arms() -> dict[str, MemorySetting]:
    """Return the tuned arms of the shorter study, with twice its updates."""
    return {name: replace(one, steps=STEPS) for name, one in shorter.reported().items()}


STUDY = Experiment(
    name="memory_context_longer", title="Both orders with both kinds of memory, trained for longer",
    seeds=SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome, recorded=recorded,
    config=lambda: {"task": TASK, "arms": arms()}, kinds=shorter.STUDY.kinds,
    modules=("experiments.memory_context.study", *shorter.STUDY.modules),
    claims=read_claims(__file__, gap), smoke=shorter.STUDY.smoke, workers=1,
)  # fmt: skip
