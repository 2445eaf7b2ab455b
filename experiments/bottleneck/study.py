"""Does one vector hold a sentence? Translators with and without attention, by sentence length.

Three translators, tuned alike, on five seeds of the grammar; then the fairness controls for the one
without attention: twice the training, and sentences of at most ten words. Dot attention has
exactly as many weights as no attention, so the first comparison is of equals.
"""

from dataclasses import replace
from itertools import product

from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Arm, Experiment, on, without
from experiments.engine.settings import REPORT_SEEDS, reported
from experiments.engine.translators import (
    KINDS,
    GrammarTask,
    Setting,
    bin_name,
    kinds,
    outcome,
    smoke_trace,
)
from experiments.engine.tune import LEARNING_RATES, tune
from experiments.engine.update_cost import update_costs

TASK = GrammarTask()
VALIDATION = GrammarTask(bins=(), test_pairs=500, test_seed=80_001, apart_from=GrammarTask())
SHORT = GrammarTask(max_length=10, bins=((1, 5), (6, 10)), test_pairs=500)


def arms() -> dict[str, Arm]:
    """Return the three translators, and more training or shorter sentences for two of them."""
    settings = reported()
    plain, dot = settings["none"], settings["dot"]
    return on(TASK, settings) | {
        "none_longer": Arm(replace(plain, steps=2 * plain.steps), TASK),
        "none_short": Arm(plain, SHORT),
        "dot_short": Arm(dot, SHORT),
    }


def choose(workers: int) -> None:
    """Tune the learning rate of each kind of attention, then dropout at the best rate."""
    rates = [Setting(kind, learning_rate=rate) for kind, rate in product(KINDS, LEARNING_RATES)]
    best = tune("bottleneck", rates, VALIDATION, "exact_match/test", workers)
    without_dropout = [replace(best[kind], dropout_p=0.0) for kind in KINDS]
    tune("bottleneck", [*rates, *without_dropout], VALIDATION, "exact_match/test", workers)


def update_cost(seed: int) -> dict[str, float]:
    """Return what an update costs, as a multiple of one without attention."""
    costs = update_costs(reported(), TASK, seed)
    return {f"{kind}/update_cost": costs[kind] for kind in KINDS[1:]}


SHORTEST, LONGEST = bin_name(*TASK.bins[0]), bin_name(*TASK.bins[5])


def lost(runs: Runs, kind: str) -> list[float]:
    """Return how many points a translator loses from the shortest to the longest sentences."""
    both = runs[f"{kind}/exact_match/{SHORTEST}"], runs[f"{kind}/exact_match/{LONGEST}"]
    return [short - long for short, long in zip(*both, strict=True)]


STUDY = Experiment(
    name="bottleneck", title="The bottleneck: one vector for a sentence, or attention",
    seeds=REPORT_SEEDS, arms=arms, outcome=outcome, beside=update_cost, timed=True,
    recorded=without("alignment", "link", "determiner"),
    kinds=kinds(SHORT, "*_short") | kinds(TASK),
    modules=(*TRANSLATORS, "experiments.engine.update_cost"),
    claims=read_claims(__file__, lost), tuning=choose,
    smoke=lambda: smoke_trace(Setting(kind) for kind in KINDS),
)  # fmt: skip
