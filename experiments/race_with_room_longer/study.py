"""The smallest and the largest translators of the race with room above, trained for longer.

After 800 updates the small Transformer was far ahead and the large one behind, and only the middle
size had been trained for longer. Here both other sizes of `experiments.race_with_room` take 1,600
updates, with the learning rates chosen there, on other seeds. The small ones also take 3,200, which
shows whether they have settled.
"""

from collections.abc import Mapping
from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.translators import Trainable, outcome
from experiments.race_with_room import study as shorter
from experiments.race_with_room.study import TASK

SEEDS = tuple(range(321, 331))
BUDGETS = {
    "narrow_longer": 2 * shorter.UPDATES,
    "narrow_longest": 4 * shorter.UPDATES,
    "wide_longer": 2 * shorter.UPDATES,
}


def arms() -> Mapping[str, Trainable]:
    """Return the tuned translators of both sizes, with more updates."""
    settings = shorter.reported()
    return {
        f"{kind}/{name}": replace(settings[f"{kind}/{name.partition('_')[0]}"], steps=steps)
        for name, steps in BUDGETS.items()
        for kind in ("transformer", "recurrent")
    }


STUDY = Experiment(
    name="race_with_room_longer", title="The smallest and the largest of the race, for longer",
    seeds=SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome,
    config=lambda: {"task": TASK, "arms": arms()}, kinds=shorter.STUDY.kinds,
    modules=("experiments.race_with_room.study", *shorter.STUDY.modules),
    claims=read_claims(__file__), smoke=shorter.STUDY.smoke, workers=1,
)  # fmt: skip
