"""Does forgetting still cost answers, if the states that add and forget train for longer?

Three ways of `experiments.recall`, at the rates chosen there, on other seeds: adding and decay
with 2,000 and 4,000 updates, the delta rule with 4,000.
"""

from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import on
from experiments.recall import study as shorter
from experiments.recall.study import STUDY as SHORTER
from experiments.recall.study import TASK, Setting

SEEDS = tuple(range(401, 421))
STEPS = 4000


def reported() -> dict[str, Setting]:
    """Return the tuned ways with both lengths of training, and the delta rule with the longer."""
    settings = shorter.reported()
    longer = {
        f"{way}-long": replace(settings[way], steps=STEPS) for way in ("sum", "decay", "delta")
    }
    return {way: settings[way] for way in ("sum", "decay")} | longer


STUDY = replace(
    SHORTER, name="recall_longer", title="Associative recall by adding and forgetting, for longer",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), trials=None,
    config=lambda: {"task": TASK, "arms": reported()},
    modules=(*SHORTER.modules, "experiments.recall.study"),
    claims=read_claims(__file__),
)  # fmt: skip
