"""What does Luong's input feeding buy? And do his other choices need other learning rates?

Input feeding is trained here, with the settings of dot attention, from which it differs in what
the cell reads. Dot attention itself was trained by `experiments.bottleneck` and, for its alignment,
by `experiments.alignment`; general, concat and general in a window by `experiments.buys`, on the
same sentences and seeds and for as many updates. None of these was tuned but dot. So the trials of
this study (`--tune`) try the same rates for dot and for all that differs from it, to see whether
any of them is at a disadvantage. The trials are short, and on shorter sentences.
"""

import json
from dataclasses import replace
from functools import cache
from statistics import fmean

from bookkit.records import Measure, load_result
from experiments.alignment.study import FedSetting
from experiments.buys.study import LocalSetting
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.settings import REPORT_SEEDS, reported
from experiments.engine.translators import (
    Corpus,
    GrammarTask,
    Setting,
    fit,
    kinds,
    outcome,
    smoke_trace,
)
from experiments.engine.trials import Trials

TASK = GrammarTask()
TRIAL_TASK = GrammarTask(max_length=14, test_pairs=300, bins=(), test_seed=80_001, apart_from=TASK)
"""Shorter sentences, none of which is in a reported test set, on which settings are tried."""
TRIAL_STEPS = 250
LEARNING_RATES = (4e-3, 8e-3, 16e-3)
RECORDED = {"dot/exact_match": "bottleneck", "dot/alignment_error": "alignment"}
"""What is read of other studies: the beginning of the measures' names, and the study."""


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
    """
    pairs = corpus(task, seed)
    if setting.steps * setting.batch_size > len(pairs.train):
        wanted = setting.steps * setting.batch_size
        raise ValueError(f"task: got {len(pairs.train)} training pairs, wanted at least {wanted}")
    return {"loss_on_new_sentences": fmean(fit(setting, pairs, seed).losses[-50:])}


def trained_here() -> dict[str, FedSetting]:
    """Return dot attention with input feeding, with the settings of dot attention."""
    return {"fed": FedSetting(**vars(reported()["dot"]), input_feeding=True)}


@cache
def recorded() -> dict[str, Measure]:
    """Return what other studies measured of dot attention."""
    wanted = json.loads(json.dumps({"setting": reported()["dot"], "task": TASK}, default=vars))
    measures: dict[str, Measure] = {}
    for start, name in RECORDED.items():
        study = load_result(name)
        if study.config["dot"] != wanted or study.seeds != REPORT_SEEDS:
            raise ValueError(f"{name}: its dot was not trained as dot is here")
        measures |= {
            measured: entry
            for measured, entry in study.measures.items()
            if measured.startswith(start)
        }
    return measures


STUDY = Experiment(
    name="choices", title="Luong's choices: input feeding, and one learning rate for all",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, trained_here()), outcome=outcome,
    config=lambda: {
        "task": TASK, "trained": trained_here(), "recorded": RECORDED, "tried": tried(),
        "rates": LEARNING_RATES, "trial_task": TRIAL_TASK,
    },
    kinds=kinds(TASK),
    trials=Trials(
        tried, LEARNING_RATES, TRIAL_TASK, "loss_on_new_sentences", outcome=loss_on_new_sentences
    ),
    modules=(*TRANSLATORS, "experiments.alignment.study"),
    claims=read_claims(__file__), elsewhere=recorded, smoke=lambda: smoke_trace(tried().values()),
)  # fmt: skip
