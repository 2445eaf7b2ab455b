"""Which encodings of positions work beyond the lengths of training? One question, eight answers.

A language model of two blocks reads letters and says, at every position, which letter stood three
positions back. Trained on up to 32 letters, it is asked at the end of 32, 48, 64 and 128. The model
with rotations is also asked with its frequencies rescaled, by position interpolation and by YaRN,
without training again. Three encodings that may only be slow to learn are trained three times as
long, too. `--tune` chooses a learning rate for every encoding from one grid, on seeds of its own.
"""

from __future__ import annotations

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
from bookkit.records import Finding
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.models.transformer.config import Positions
from companion.positions import Linear, RotaryScaling, Yarn
from experiments.engine.claims import Claim
from experiments.engine.descent import CLIP, WARMUP, FromStart
from experiments.engine.experiment import Experiment, on, split_off
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(1, 6))
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


# The record


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


CLAIMS = {
    "sinusoidal_extrapolates": Claim(
        "Sinusoidal encodings lose less than 10 points from the training length to twice that.",
        "sinusoidal/accuracy/32", "sinusoidal/accuracy/64", "points", below=10,
        finding=Finding(
            holds="Sinusoidal encodings hardly notice a text of twice the length.",
            fails="Sinusoidal encodings fail on a text of twice the length.",
            undecided="We cannot tell whether sinusoidal encodings work at twice the length.",
            number="{} points lost",
        )),
    "patient_sinusoidal_extrapolates": Claim(
        "With three times the updates, sinusoidal encodings lose less than 10 points from the "
        "training length to twice that.",
        "sinusoidal-long/accuracy/32", "sinusoidal-long/accuracy/64", "points", below=10,
        finding=Finding(
            holds="After long training, sinusoidal encodings hardly notice a text of twice the "
            "length.",
            fails="Long training does not help: sinusoidal encodings fail on a text of twice the "
            "length.",
            undecided="We cannot tell whether sinusoidal encodings work at twice the length after "
            "long training.",
            number="{} points lost",
        )),
    "alibi_keeps": Claim(
        "What ALiBi answers at the training length it answers at four times that, within 5 points.",
        "alibi/accuracy/32", "alibi/accuracy/128", "points", below=5,
        finding=Finding(
            holds="ALiBi answers as well on texts four times as long as in training.",
            fails="ALiBi answers fewer questions on texts four times as long as in training.",
            undecided="We cannot tell whether ALiBi loses more than 5 points on texts four times "
            "as long.",
            number="{} points lost",
        )),
    "patient_alibi_keeps": Claim(
        "With three times the updates, what ALiBi answers at the training length it answers at "
        "four times that, within 5 points.",
        "alibi-long/accuracy/32", "alibi-long/accuracy/128", "points", below=5,
        finding=Finding(
            holds="After long training, ALiBi answers as well on texts four times as long.",
            fails="After long training, too, ALiBi answers fewer questions on texts four times as "
            "long.",
            undecided="We cannot tell whether ALiBi answers as well on longer texts after long "
            "training.",
            number="{} points lost",
        )),
    "alibi_finds_places": Claim(
        "ALiBi answers more than 90 % at the training length.",
        "alibi/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="ALiBi learns to find the letter three positions back.",
            fails="ALiBi does not learn in this time to find the letter three positions back every "
            "time.",
            undecided="We cannot tell whether ALiBi learns in this time to find the letter three "
            "positions back.",
            number="{} in 100 answers right",
        )),
    "patient_alibi_finds_places": Claim(
        "With three times the updates, ALiBi answers more than 90 % at the training length.",
        "alibi-long/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="Given three times as long, ALiBi learns to find the letter three positions "
            "back.",
            fails="Even with three times the training, ALiBi does not find the letter three "
            "positions back every time.",
            undecided="We cannot tell whether ALiBi learns the question with three times the "
            "training.",
            number="{} in 100 answers right",
        )),
    "rotary_fails_beyond": Claim(
        "Rotations lose more than 20 points from the training length to twice that.",
        "rotary/accuracy/32", "rotary/accuracy/64", "points", above=20,
        finding=Finding(
            holds="Rotations fail on texts of twice the training length.",
            fails="Rotations work on texts of twice the training length.",
            undecided="We cannot tell whether rotations work at twice the training length.",
            number="{} points lost",
        )),
    "yarn_needs_no_training": Claim(
        "With YaRN and without further training, rotations answer more than 80 % at four times "
        "the training length.",
        "yarn/accuracy/128", unit="%", above=80,
        finding=Finding(
            holds="YaRN carries rotations to four times the length without any further training.",
            fails="Without further training, YaRN does not carry rotations to four times the "
            "length.",
            undecided="With YaRN and no further training, rotations still answer most questions at "
            "four times the length.",
            number="{} in 100 answers right",
        )),
    "interpolation_needs_training": Claim(
        "Position interpolation without further training loses more than 20 points at the "
        "training length itself.",
        "rotary/accuracy/32", "linear/accuracy/32", "points", above=20,
        finding=Finding(
            holds="Position interpolation without further training breaks what the model could "
            "do.",
            fails="Position interpolation works without further training.",
            undecided="We cannot tell whether position interpolation needs further training.",
            number="{} points lost",
        )),
    "buckets_beat_rotary": Claim(
        "At twice the training length, learned buckets answer more than rotations.",
        "relative/accuracy/64", "rotary/accuracy/64", "points", above=0,
        finding=Finding(
            holds="At twice the training length, learned buckets of distances answer more than "
            "rotations.",
            fails="At twice the training length, rotations answer more than learned buckets of "
            "distances.",
            undecided="We cannot tell whether buckets or rotations answer more at twice the "
            "training length.",
            number="{} points more",
        )),
    "none_suffices": Claim(
        "Without positions, a causal model answers more than 90 % at the training length.",
        "none/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="A causal mask alone is enough to find the letter three positions back.",
            fails="Without positions, a causal model does not learn in this time to count three "
            "positions back.",
            undecided="We cannot tell whether a causal model needs positions for this question.",
            number="{} in 100 answers right",
        )),
    "patient_none_suffices": Claim(
        "With three times the updates, a causal model without positions answers more than 90 % at "
        "the training length.",
        "none-long/accuracy/32", unit="%", above=90,
        finding=Finding(
            holds="Given three times as long, a causal mask alone is enough to find the letter "
            "three positions back.",
            fails="Even with three times the training, a causal model without positions does not "
            "learn the question.",
            undecided="We cannot tell whether long training makes up for positions.",
            number="{} in 100 answers right",
        )),
    "none_is_at_a_plateau": Claim(
        "Three times the updates gain a model without positions less than 5 points at the "
        "training length.",
        "none-long/accuracy/32", "none/accuracy/32", "points", below=5,
        finding=Finding(
            holds="More training hardly helps the model without positions.",
            fails="More training still helps the model without positions, so it may only be slow.",
            undecided="We cannot tell whether more training helps the model without positions.",
            number="{} points gained",
        )),
}  # fmt: skip

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
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip
