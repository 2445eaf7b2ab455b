"""Dot, general and input feeding, trained until twice the updates gain little.

After 800 updates the study of Luong's choices found dot ahead of the two, and nothing showed that
training was over. Here the same three translators train for 1,600 updates and for 3,200, and each
gain is recorded. `--tune` tries the same rates for all three at the shorter of the two budgets. The
longer takes more than a minute, so there are ten seeds.
"""

from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.settings import LIVE_TASK
from experiments.engine.translators import kinds, outcome, smoke_trace
from experiments.engine.trials import Trials, tuned
from experiments.memory_context.study import VALIDATION, validation_loss
from experiments.tuned_choices.study import LEARNING_RATES, Choice
from experiments.tuned_choices.study import arms as choices

SEEDS = tuple(range(271, 281))
TASK = replace(LIVE_TASK, test_pairs=1000, bins=((15, 18),))
"""The sentences of the other study; five times as many to be tested on, because few are wrong."""
BUDGETS = {"long": 1600, "longest": 3200}


def arms() -> dict[str, Choice]:
    """Return the three as they are tried: after the shorter budget."""
    return {
        name: replace(one, steps=BUDGETS["long"])
        for name, one in choices().items()
        if name in ("dot", "general", "fed")
    }


def reported() -> dict[str, Choice]:
    """Return the three as tuned, with both budgets."""
    return {
        f"{name}_{budget}": replace(one, steps=steps)
        for name, one in tuned("choices_longer", arms()).items()
        for budget, steps in BUDGETS.items()
    }


STUDY = Experiment(
    name="choices_longer", title="Dot, general and input feeding, trained for longer",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, VALIDATION, "validation_loss", outcome=validation_loss),
    config=lambda: {"task": TASK, "validation": VALIDATION, "arms": reported()},
    kinds=kinds(TASK),
    modules=(
        *TRANSLATORS, "experiments.memory_context.study", "experiments.predicted_window.study",
        "experiments.tuned_choices.study",
    ),
    claims=read_claims(__file__), smoke=lambda: smoke_trace(arms().values()), workers=1,
)  # fmt: skip
