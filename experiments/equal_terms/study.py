"""Translators on equal terms: as many seconds as dot attention, or as many weights.

The study of what attention buys gave all of them as many updates. Here the three whose updates take
long, additive attention, concat and the Transformer, get as many as fit into the time of dot's, and
a learning rate that comes down by then; their other settings stay. And a Transformer gets the width
at which it has about as many weights as dot, 239,000 to 232,000, with the rate that the race of
translators chose for one of 192,000. Nothing is tuned here. What updates and sentences cost, in
seconds and in bytes, is measured again for all, by the programs of today. Sentences, tests and
seeds are those of the other study, from whose records dot attention and the longer trainings come.
"""

from dataclasses import replace
from functools import cache

from bookkit.records import Measure, load_result
from experiments.buys import study as buys
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS, TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number
from experiments.engine.settings import REPORT_SEEDS, REPORT_STEPS
from experiments.engine.translators import Trainable, kinds, outcome, smoke_trace
from experiments.translator_race import study as race

UPDATES = {"additive": 740, "concat": 990, "transformer": 830}
"""How many updates take as long as 2,000 of dot, by the recorded costs of the other study."""
WIDTH = 72
"""Of the small Transformer; its four heads have to divide it."""


def trained_here() -> dict[str, Trainable]:
    """Return the settings of what this study trains."""
    everyone = buys.everyone()
    small = replace(
        race.arms()["transformer_long"],
        embed_dim=WIDTH,
        hidden_dim=2 * WIDTH,
        steps=REPORT_STEPS,
    )
    return {
        **{f"{arm}_brief": replace(everyone[arm], steps=steps) for arm, steps in UPDATES.items()},
        "small": small,
    }


def costs(seed: int) -> dict[str, float]:
    """Return the costs of all arms of both studies, and each update's as a multiple of none's."""
    settings = {**buys.everyone(), "small": trained_here()["small"]}
    spent = buys.costs(settings, seed, buys.COST_TASK)
    return spent | {
        f"{arm}/update_cost": spent[f"{arm}/update_seconds"] / spent["none/update_seconds"]
        for arm in settings
        if arm != "none"
    }


@cache
def recorded() -> dict[str, Measure]:
    """Return what the other study and that of the bottleneck found in translations."""
    study = load_result("buys")
    return buys.recorded() | {
        name: entry
        for name, entry in study.measures.items()
        if name.split("/")[1] in ("exact_match", "bleu")
    }


STUDY = Experiment(
    name="equal_terms",
    title="Translators with the seconds of dot attention, or with its weights",
    seeds=REPORT_SEEDS, arms=lambda: on(buys.TASK, trained_here()), outcome=outcome, beside=costs,
    timed=True,
    config=lambda: {
        "task": buys.TASK, "trained": trained_here(), "cost_task": buys.COST_TASK,
        "sentences": buys.SENTENCES,
    },
    kinds={"*_seconds": number("s", 0, timed=True), "*_mib": exact("MiB"), **kinds(buys.TASK)},
    modules=(
        *TRANSLATORS, *TRANSFORMERS, "companion.cost", "experiments.engine.update_cost",
        "experiments.buys.study", "experiments.transformer.study",
        "experiments.translator_race.study",
    ),
    claims=read_claims(__file__), elsewhere=recorded,
    smoke=lambda: smoke_trace(trained_here().values()),
)  # fmt: skip
