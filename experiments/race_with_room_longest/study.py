"""The smallest translators of the race with room above, eight and sixteen times as long.

After 3,200 updates, four times those of the race, the small Transformer was ahead by less than
before, and both still gained. Here the two take 6,400 and 12,800, on fresh seeds, with the rates
that were chosen after 800. Every training takes minutes, so there are eight seeds.
"""

from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.record import differences
from experiments.engine.translators import outcome
from experiments.race_with_room import study as shorter
from experiments.race_with_room.study import TASK
from experiments.race_with_room_longer.study import small

SEEDS = tuple(range(581, 589))
BUDGETS = {"eightfold": 8 * shorter.UPDATES, "sixteenfold": 16 * shorter.UPDATES}


def lead(runs: Runs, budget: str) -> list[float]:
    """Return how many more sentences in 100 the Transformer gets right."""
    return differences(
        *(runs[f"{kind}/{budget}/exact_match/test"] for kind in ("transformer", "recurrent"))
    )


STUDY = Experiment(
    name="race_with_room_longest", title="The smallest of the race with room above, for longest",
    seeds=SEEDS, arms=lambda: on(TASK, small(BUDGETS)), outcome=outcome,
    config=lambda: {"task": TASK, "arms": small(BUDGETS)}, kinds=shorter.STUDY.kinds,
    modules=(
        "experiments.race_with_room_longer.study", "experiments.race_with_room.study",
        *shorter.STUDY.modules,
    ),
    claims=read_claims(__file__, lead), smoke=shorter.STUDY.smoke, workers=1,
)  # fmt: skip
