"""Can one head learn to answer four questions, if it trains for much longer?

In `experiments.heads`, one head answered two of four questions after 300 updates, and part of the
others after 1,200. Here it takes 9,600 and 19,200 updates, on other seeds. `--tune` chooses its
rate for 2,400. Four heads with as many weights take 300 updates, at the rate chosen there.
"""

from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import on
from experiments.engine.trials import Trials, tuned
from experiments.heads import study as shorter
from experiments.heads.study import STUDY as SHORTER
from experiments.heads.study import TASK, Setting

SEEDS = tuple(range(401, 421))
TRIED = 2400
BUDGETS = (9600, 19_200)
LEARNING_RATES = (0.00125, 0.0025, 0.005, 0.01, 0.02)


def arms() -> dict[str, Setting]:
    """Return the one that is tuned: a single head that is asked four questions."""
    return {"one": Setting(1, 4, steps=TRIED)}


def reported() -> dict[str, Setting]:
    """Return the tuned head with both budgets, and four heads after the usual training."""
    head = tuned("heads_longer", arms())["one"]
    patient = {f"one/{steps}": replace(head, steps=steps) for steps in BUDGETS}
    return patient | {"four": shorter.reported()["four/4"]}


STUDY = replace(
    SHORTER, name="heads_longer", title="One head that is asked four questions, for longer",
    seeds=SEEDS, arms=lambda: on(TASK, reported()),
    config=lambda: {"task": TASK, "hidden": shorter.HIDDEN, "arms": reported()},
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 20 updates", digits=".6g"),
    modules=(*SHORTER.modules, "experiments.heads.study"),
    claims=read_claims(__file__),
)  # fmt: skip
