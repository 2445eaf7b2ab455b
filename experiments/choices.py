"""What do Luong's choices cost and buy? Three scores, a predicted window, and input feeding.

Every arm differs in one thing from another: general and concat from dot in the score; local_dot and
local_general from dot and general in looking at a window around a predicted position; fed from dot
in what the cell reads. All are tuned alike (`--tune`), on shorter sentences and for fewer updates
than are reported. Processor time was short, so the reported trainings are short, too;
`experiments.buys` has general, concat and local_general after more updates.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import fmean

from experiments.alignment import FedSetting, better
from experiments.buys import LocalSetting
from experiments.experiment import Claim, Experiment, on
from experiments.settings import REPORT_SEEDS
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
from experiments.trials import Trials, tuned

STEPS = 800
"""Updates of a reported training: two fifths of `experiments.settings.REPORT_STEPS`, after which
`experiments.buys` compares most of these arms."""
TASK = GrammarTask()
TRIAL_TASK = GrammarTask(max_length=14, test_pairs=300, bins=(), test_seed=80_001, apart_from=TASK)
"""Shorter sentences, none of which is in a reported test set, on which settings are tried."""
TRIAL_STEPS = 250
LEARNING_RATES = (4e-3, 8e-3, 16e-3)
LONGEST, FAR_BEYOND = (bin_name(*bounds) for bounds in (TASK.bins[5], TASK.bins[7]))


def arms() -> dict[str, Setting]:
    """Return the six translators as they are tried.

    There is no dropout: no training passes over its sentences three times.
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


def reported() -> dict[str, Setting]:
    """Return the six translators as tuned, trained for longer."""
    return tuned("choices", arms(), steps=STEPS)


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


CLAIMS = {
    "dot_or_general": gain(
        "Looking at the whole sentence, the dot score gets more sentences right than the general "
        "score.",
        "dot", "general"),
    "local_general_or_dot": gain(
        "Looking through a predicted window, the general score gets more sentences right than the "
        "dot score.",
        "local_general", "local_dot"),
    "concat_or_dot": gain(
        "The concat score gets more sentences right than the dot score.",
        "concat", "dot"),
    "concat_aligns": better(
        "The concat score aligns better than the dot score.",
        "concat", "dot"),
    "general_aligns": better(
        "The general score aligns better than the dot score.",
        "general", "dot"),
    "local_or_general": gain(
        "With the general score, a predicted window gets more sentences right than looking at the "
        "whole sentence.",
        "local_general", "general"),
    "local_aligns": better(
        "With the general score, looking through a predicted window aligns better than looking at "
        "the whole sentence.",
        "local_general", "general"),
    "local_long": gain(
        "On 26 to 30 words, a predicted window gets more sentences right than looking at the whole "
        "sentence.",
        "local_general", "general", LONGEST),
    "local_far_beyond": Claim(
        "On 36 to 40 words, more than in training, a predicted window gets fewer sentences right "
        "than looking at the whole sentence.",
        f"local_general/exact_match/{FAR_BEYOND}", f"general/exact_match/{FAR_BEYOND}",
        "points of exact match", below=0),
    "feeding": gain(
        "With input feeding, more sentences come out right than without.",
        "fed", "dot"),
    "feeding_long": gain(
        "On 26 to 30 words, input feeding gets more sentences right.",
        "fed", "dot", LONGEST),
    "feeding_aligns": better(
        "With input feeding, attention aligns better than without.",
        "fed", "dot"),
}  # fmt: skip

STUDY = Experiment(
    name="choices", title="Luong's choices: three scores, a predicted window, input feeding",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    units=UNITS,
    trials=Trials(
        arms, LEARNING_RATES, TRIAL_TASK, "loss_on_new_sentences", outcome=loss_on_new_sentences
    ),
    claims=CLAIMS, smoke=lambda: smoke_trace(arms().values()),
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
