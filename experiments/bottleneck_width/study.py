"""Is the vector too narrow, or is one vector too little? Half and twice the width, at two budgets.

The translator without attention of `experiments.bottleneck`, whose record has it at width 128, at
half and at twice that width, each trained for the reported budget and for twice as long, beside dot
attention at half the width. `--tune` tries the same rates for all three on other seeds.
"""

from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on, without
from experiments.engine.settings import REPORT_STEPS, reported
from experiments.engine.translators import (
    GrammarTask,
    Setting,
    kinds,
    outcome,
    smoke_trace,
)
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(201, 206))
TASK = GrammarTask()
WIDTHS = (64, 256)
TRIAL_STEPS = 1000
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3, 32e-3)


def arms() -> dict[str, Setting]:
    """Return every translator as its rate is tried."""
    plain, dot = (replace(reported()[kind], steps=TRIAL_STEPS) for kind in ("none", "dot"))
    return {f"none/{width}": replace(plain, hidden_dim=width) for width in WIDTHS} | {
        f"dot/{WIDTHS[0]}": replace(dot, hidden_dim=WIDTHS[0])
    }


def compared() -> dict[str, Setting]:
    """Return the tuned translators at the reported budget, and those without attention at twice."""
    chosen = tuned("bottleneck_width", arms(), steps=REPORT_STEPS)
    return {f"{name}/{REPORT_STEPS}": one for name, one in chosen.items()} | {
        f"{name}/{2 * REPORT_STEPS}": replace(one, steps=2 * REPORT_STEPS)
        for name, one in chosen.items()
        if one.attention == "none"
    }


STUDY = Experiment(
    name="bottleneck_width", title="One vector of half and twice the width, at two budgets",
    seeds=SEEDS, arms=lambda: on(TASK, compared()), outcome=outcome,
    recorded=without("alignment", "link", "determiner"),
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 50 updates"),
    config=lambda: {"task": TASK, "arms": compared()},
    kinds=kinds(TASK), modules=TRANSLATORS,
    claims=read_claims(__file__), smoke=lambda: smoke_trace(arms().values()),
)  # fmt: skip
