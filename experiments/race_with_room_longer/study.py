"""The smallest translators of the race with room above, trained for longer.

After 800 updates the small Transformer was far ahead, and nothing showed that either had settled.
Here the two small translators of `experiments.race_with_room` take 1,600 and 3,200 updates, with
the learning rates chosen there, on other seeds.
"""

from collections.abc import Mapping
from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.translators import Trainable, outcome
from experiments.race_with_room import study as shorter
from experiments.race_with_room.study import TASK

SEEDS = tuple(range(321, 331))
BUDGETS = {"narrow_longer": 2 * shorter.UPDATES, "narrow_longest": 4 * shorter.UPDATES}


def small(budgets: Mapping[str, int]) -> Mapping[str, Trainable]:
    """Return the tuned small translators with budgets, by their names."""
    settings = shorter.reported()
    return {
        f"{kind}/{name}": replace(settings[f"{kind}/narrow"], steps=steps)
        for name, steps in budgets.items()
        for kind in ("transformer", "recurrent")
    }


STUDY = Experiment(
    name="race_with_room_longer", title="The smallest of the race with room above, for longer",
    seeds=SEEDS, arms=lambda: on(TASK, small(BUDGETS)), outcome=outcome,
    config=lambda: {"task": TASK, "arms": small(BUDGETS)}, kinds=shorter.STUDY.kinds,
    modules=("experiments.race_with_room.study", *shorter.STUDY.modules),
    claims=read_claims(__file__), smoke=shorter.STUDY.smoke, workers=1,
)  # fmt: skip
