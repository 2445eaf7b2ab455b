"""What does Luong's input feeding buy? And do his other choices need other learning rates?

Input feeding is trained here, with the settings of dot attention, from which it differs in what
the cell reads. Dot attention itself was trained by `experiments.bottleneck` and, for its alignment,
by `experiments.alignment`; general, concat and local-p by `experiments.buys`, on the same sentences
and seeds and for as many updates. Those three were not tuned. So the trials of this study
(`--tune`) try the same rates for dot and for all that differs from it, to see whether any of them
is at a disadvantage. The trials are short, and on shorter sentences.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from statistics import fmean

from companion.pages.notebook import load_result
from experiments.alignment import FedSetting
from experiments.buys import LocalSetting
from experiments.experiment import Claim, Experiment, Quantity, on
from experiments.settings import REPORT_SEEDS, reported
from experiments.translators import (
    UNITS,
    Corpus,
    GrammarTask,
    Setting,
    bin_name,
    fit,
    gain,
    outcome,
    smoke_trace,
)
from experiments.trials import Trials

TASK = GrammarTask()
TRIAL_TASK = GrammarTask(max_length=14, test_pairs=300, bins=(), test_seed=80_001, apart_from=TASK)
"""Shorter sentences, none of which is in a reported test set, on which settings are tried."""
TRIAL_STEPS = 250
LEARNING_RATES = (4e-3, 8e-3, 16e-3)
LONGEST = bin_name(*TASK.bins[5])
RECORDED = {"exact_match": "bottleneck", "alignment_error": "alignment"}
"""The studies that trained dot attention, and what is read from each."""


def tried() -> dict[str, Setting]:
    """Return the six translators as they are tried.

    There is no dropout, because no sentence comes twice.
    """
    dot = Setting("dot", steps=TRIAL_STEPS, dropout_p=0.0)
    general = replace(dot, attention="general")
    return {
        "dot": dot,
        "general": general,
        "concat": replace(dot, attention="concat"),
        "local_dot": LocalSetting(**vars(dot)),
        "local_general": LocalSetting(**vars(general)),
        "fed": FedSetting(**vars(dot), input_feeding=True),
    }


@cache
def corpus(task: GrammarTask, seed: int) -> Corpus:
    """Return the corpus of a seed, drawn once for all trials of a process."""
    return task.corpus(seed)


def loss_on_new_sentences(setting: Setting, task: GrammarTask, seed: int) -> dict[str, float]:
    """Train on sentences of which none comes twice; return the mean loss of the last 50 batches.

    Every batch is scored before the model learns from it, so this is a loss on new sentences.

    Raises:
        ValueError: the training sentences are too few for that.
    """
    pairs = corpus(task, seed)
    if setting.steps * setting.batch_size > len(pairs.train):
        wanted = setting.steps * setting.batch_size
        raise ValueError(f"task: got {len(pairs.train)} training pairs, wanted at least {wanted}")
    return {"loss_on_new_sentences": fmean(fit(setting, pairs, seed).losses[-50:])}


def trained_here() -> dict[str, FedSetting]:
    """Return dot attention with input feeding, with the settings of dot attention."""
    return {"fed": FedSetting(**vars(reported()["dot"]), input_feeding=True)}


def of_dot(measured: str) -> Quantity:
    """Return a measure of dot attention, from the study that trained it.

    Args:
        measured: the measure's name, without the arm.

    Raises:
        ValueError: that study trained it with other settings, sentences or seeds.
    """
    name = RECORDED[measured.partition("/")[0]]

    def read(_: object) -> list[float]:
        study = load_result(name)
        wanted = json.loads(json.dumps({"setting": reported()["dot"], "task": TASK}, default=vars))
        if study.config["dot"] != wanted or study.seeds != REPORT_SEEDS:
            raise ValueError(f"{name}: its dot was not trained as it is here")
        return list(study.measures[f"dot/{measured}"].runs)

    return read


def quantity(name: str) -> Quantity:
    """Return a measure of this study, or of dot attention, by "arm/measure"."""
    arm, _, measured = name.partition("/")
    return of_dot(measured) if arm == "dot" else name


CLAIMS = {
    "feeding": gain(
        "With input feeding, more sentences come out right than without.",
        "fed", "dot", of=quantity),
    "feeding_long": gain(
        "On 26 to 30 words, input feeding gets more sentences right.",
        "fed", "dot", LONGEST, of=quantity),
    "feeding_aligns": Claim(
        "With input feeding, attention aligns better than without.",
        "fed/alignment_error", of_dot("alignment_error"), "points of alignment error", below=0),
}  # fmt: skip

STUDY = Experiment(
    name="choices", title="Luong's choices: input feeding, and one learning rate for all",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, trained_here()), outcome=outcome,
    config=lambda: {
        "task": TASK, "trained": trained_here(), "recorded": RECORDED, "tried": tried(),
        "rates": LEARNING_RATES, "trial_task": TRIAL_TASK,
    },
    units=UNITS,
    trials=Trials(
        tried, LEARNING_RATES, TRIAL_TASK, "loss_on_new_sentences", outcome=loss_on_new_sentences
    ),
    claims=CLAIMS, smoke=lambda: smoke_trace(tried().values()),
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
