"""Grey names and numbered ones, twenty times.

The two pointer-generators of `experiments.names`, with their settings, on other seeds: of five
trainings with numbers two had gone wrong, and five are few to say how many do.
"""

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.names import study as names
from experiments.names.study import TASK, Setting, outcome

SEEDS = tuple(range(41, 61))


def arms() -> dict[str, Setting]:
    """Return the two arms whose training takes less than a minute."""
    recorded = names.arms()
    return {kind: recorded[kind] for kind in ("pointer", "numbered")}


STUDY = Experiment(
    name="names_seeds", title="Grey names and numbered ones, twenty seeds",
    seeds=SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome, workers=1,
    config=lambda: {"task": TASK, "arms": arms(), "warmup": names.WARMUP},
    kinds=names.STUDY.kinds, modules=("experiments.names.study", *names.STUDY.modules),
    claims=read_claims(__file__), smoke=names.smoke,
)  # fmt: skip
