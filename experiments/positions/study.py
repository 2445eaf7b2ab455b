"""Which encodings of positions work beyond the lengths of training? One question, eight answers.

A language model of two blocks reads letters and says, at every position, which letter stood three
positions back. Trained on up to 32 letters, it is asked at the end of 32, 48, 64 and 128. The model
with rotations is also asked with its frequencies rescaled, by position interpolation and by YaRN,
without training again. Three encodings that may only be slow to learn are trained three times as
long, too. `--tune` chooses a learning rate for every encoding from one grid, on seeds of its own.
"""

from dataclasses import dataclass, replace
from statistics import fmean
from typing import get_args

import torch
from torch import Generator

from bookkit.notebook.letters import (
    Letters,
    letter_config,
    right_answers,
    train_letters,
    with_scaling,
)
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.config import Positions
from companion.positions import Linear, RotaryScaling, Yarn
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.descent import CLIP, WARMUP, FromStart
from experiments.engine.experiment import Experiment, on, split_off
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(441, 461))
LEARNING_RATES = (0.006, 0.012, 0.024, 0.048, 0.096)
"""With the first three, sinusoids, buckets and no positions were best at the largest."""
PATIENCE = 3
"""How many times as long the patient arms train."""
PATIENT: tuple[Positions, ...] = ("sinusoidal", "alibi", "none")


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    positions: Positions
    learning_rate: float = 0.0
    steps: int = 2000


TASK = Letters()
WIDTH = 32
HEADS = 4
BUCKETS = 16


def config_of(setting: Setting, task: Letters) -> TransformerConfig:
    """Return the model of an arm."""
    return letter_config(task, setting.positions, width=WIDTH, heads=HEADS, buckets=BUCKETS)


def rescalings(task: Letters) -> dict[str, RotaryScaling]:
    """Return the rescalings of rotary frequencies, for the longest test."""
    return {
        "linear": Linear(float(task.stretch)),
        "yarn": Yarn(float(task.stretch), original_length=task.length),
    }


def fit(setting: Setting, task: Letters, seed: int) -> tuple[LanguageModel, list[float]]:
    """Train an arm; return its model and the loss of every update."""
    training = FromStart(setting.steps, setting.learning_rate, WARMUP, CLIP, seed=seed)
    return train_letters(task, config_of(setting, task), training)


def accuracy(model: LanguageModel, task: Letters, seed: int) -> dict[str, float]:
    """Return the share of right answers in the last quarter of every test length, in %."""
    return {f"accuracy/{n}": right_answers(model, task, n, 90_000 + seed) for n in task.lengths}


def outcome(setting: Setting, task: Letters, seed: int) -> dict[str, float]:
    """Train one arm: its loss and its right answers; with rotations, also rescaled."""
    model, losses = fit(setting, task, seed)
    measures = {"final_loss": fmean(losses[-20:]), **accuracy(model, task, seed)}
    if setting.positions == "rotary":
        for kind, scaling in rescalings(task).items():
            other = accuracy(with_scaling(model, scaling), task, seed)
            measures |= {f"{kind}/{what}": value for what, value in other.items()}
    return measures


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: all encodings of positions."""
    return {positions: Setting(positions) for positions in get_args(Positions)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and three that train for longer, at the rates they had."""
    settings = tuned("positions", arms())
    return settings | {
        f"{name}-long": replace(settings[name], steps=PATIENCE * settings[name].steps)
        for name in PATIENT
    }


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Letters(letters=5, back=2, length=12, batch_size=4, test_size=6)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.01, steps=4)
        model, losses = fit(setting, task, seed=7)
        tokens, _ = task.draw(task.test_size, task.lengths[-1], Generator().manual_seed(7))
        models = [model]
        if setting.positions == "rotary":
            models += [with_scaling(model, scaling) for scaling in rescalings(task).values()]
        with torch.no_grad():
            trace += losses + [float(one(tokens).square().mean()) for one in models]
        trace.append(fmean(accuracy(model, task, seed=7).values()) / 1000)
    return trace


STUDY = Experiment(
    name="positions", title="Encodings of positions, beyond the lengths of training",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    recorded=split_off(rescalings(TASK)),
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 20 updates",
                  digits=".6f"),
    config=lambda: {
        "task": TASK, "width": WIDTH, "heads": HEADS, "blocks": 2, "buckets": BUCKETS,
        "warmup": WARMUP, "clip": CLIP, "patience": PATIENCE,
        "rescalings": rescalings(TASK), "arms": reported(),
    },
    kinds={"*/final_loss": number("nats", 0), "*": share(TASK.test_size, own=True)},
    modules=(*TRANSFORMERS, "bookkit.notebook.letters"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
