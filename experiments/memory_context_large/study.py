"""Both orders of looking in the larger translators, with a memory that knows only its own word.

The study of alignment trained both orders with the usual memory. Here the same translators train
on the same sentences and seeds with a memory that is made of each word and its place alone, as the
study of the small translators did. `--tune` tries four rates for both, after half of the updates
that are reported; the fourth was added because both had the best of the first three at their edge.
"""

from dataclasses import replace
from functools import cache

from bookkit.records import Measure, load_result
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.settings import REPORT_SEEDS, REPORT_STEPS, reported
from experiments.engine.translators import GrammarTask, kinds, outcome, smoke_trace
from experiments.engine.trials import Trials, tuned
from experiments.memory_context.study import MemorySetting, gap, recorded, validation_loss

TASK = GrammarTask()
VALIDATION = replace(TASK, bins=(), test_pairs=500, test_seed=80_001, apart_from=TASK)
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)
WITH_CONTEXT = {"previous": "additive", "present": "additive_present"}
"""What the study of alignment calls the two orders."""


def arms() -> dict[str, MemorySetting]:
    """Return both orders without context, as they are tried."""
    base = replace(MemorySetting(**vars(reported()["additive"])), context=False)
    return {
        f"alone/{query}": replace(base, query=query, steps=REPORT_STEPS // 2)
        for query in ("previous", "present")
    }


def trained_here() -> dict[str, MemorySetting]:
    """Return the tuned arms, with the reported updates."""
    return tuned("memory_context_large", arms(), steps=REPORT_STEPS)


@cache
def with_context() -> dict[str, Measure]:
    """Return what the study of alignment found with the usual memory, named as here."""
    study = load_result("alignment")
    return {
        f"context/{query}/{what}": study[f"{arm}/{what}"]
        for query, arm in WITH_CONTEXT.items()
        for what in ("alignment_error", "exact_match/test")
    }


STUDY = Experiment(
    name="memory_context_large", title="Both orders of looking without context, at the larger size",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, trained_here()), outcome=outcome, recorded=recorded,
    trials=Trials(arms, LEARNING_RATES, VALIDATION, "validation_loss", outcome=validation_loss),
    config=lambda: {"task": TASK, "validation": VALIDATION, "arms": trained_here()},
    kinds=kinds(TASK), modules=(*TRANSLATORS, "experiments.memory_context.study"),
    claims=read_claims(__file__, gap), elsewhere=with_context,
    smoke=lambda: smoke_trace(arms().values()), workers=1,
)  # fmt: skip
