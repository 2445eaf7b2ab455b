"""Can a Vision Transformer read digits, and does it need the positions of its patches?

Two arms: patches with learned positions, and a bag of patches. Both are trained alike; `--tune`
chooses a learning rate for each from one grid, on seeds of its own and on a part of the training
digits. Then patches are wiped out, those with most attention or others by chance, to see whether
attention says which of them count.
"""

from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Literal

import torch
from torch import Tensor

from bookkit.data.digits import handwritten_digits
from companion.data.images import LabelledImages, ShuffledBatches
from companion.models.vision import VisionConfig, VisionTransformer, to_patches
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.descent import config_of, train_new
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(11, 16))
LEARNING_RATES = (0.0005, 0.001, 0.002, 0.004, 0.008)
"""The first edition tried 0.002 and 0.004 alone, so that each model took an edge of its grid."""
REPORT_STEPS = 800
"""Updates of a reported training; tuning takes `Setting.steps`, fewer."""
WIPED = 4
"""Patches of the 16 that are wiped out together."""


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    positions: Literal["learned", "none"]
    learning_rate: float = 0.0
    steps: int = 400
    warmup_steps: int = 30
    batch_size: int = 48
    weight_decay: float = 0.05


@dataclass(frozen=True)
class Task:
    """Which digits are asked about: those for tests, or the last of those to learn from."""

    validate: int = 0
    limit: int = 1797


TASK = Task()
TUNING_TASK = Task(validate=297)


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned."""
    return {"places": Setting("learned"), "bag": Setting("none")}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, trained for longer."""
    return tuned("digits", arms(), steps=REPORT_STEPS)


@cache
def digits(task: Task) -> tuple[LabelledImages, LabelledImages]:
    """Return the digits to learn from and those to be asked about."""
    learn, test = handwritten_digits()
    if task.validate:
        test = LabelledImages(*(part[-task.validate :] for part in learn))
        learn = LabelledImages(*(part[: -task.validate] for part in learn))
    return (
        LabelledImages(*(part[: task.limit] for part in learn)),
        LabelledImages(*(part[: task.limit] for part in test)),
    )


def fit(setting: Setting, task: Task, seed: int) -> tuple[VisionTransformer, list[float]]:
    """Train a Vision Transformer; return it and the loss of every update."""
    plan = config_of(setting, seed, weight_decay=setting.weight_decay)
    batches = ShuffledBatches(digits(task)[0], batch_size=setting.batch_size, seed=seed)
    config = VisionConfig(positions=setting.positions)
    return train_new(lambda: VisionTransformer(config), batches, VisionTransformer.loss, plan)


@torch.no_grad()
def evaluate(model: VisionTransformer, task: Task, seed: int) -> dict[str, float]:
    """Return right answers in %, with all patches and with some wiped out, and the loss."""
    learn, test = digits(task)
    weights = model(test.images, need_weights=True).weights
    looked = weights[-1].mean(1)[:, 0, 1:]  # the class token's, over all heads
    chance = torch.rand(looked.shape, generator=torch.Generator().manual_seed(seed))
    mean = learn.images.mean(0)
    return {
        "accuracy": right(model, test.images, test.labels),
        "wiped/most": right(model, wiped(test.images, mean, looked), test.labels),
        "wiped/least": right(model, wiped(test.images, mean, -looked), test.labels),
        "wiped/chance": right(model, wiped(test.images, mean, chance), test.labels),
        "wiped/ink": right(model, wiped(test.images, mean, ink(test.images, mean)), test.labels),
        "loss": float(model.loss(test)),
    }


def right(model: VisionTransformer, images: Tensor, labels: Tensor) -> float:
    """Return right answers in %."""
    return 100.0 * float((model(images).logits.argmax(-1) == labels).double().mean())


def ink(images: Tensor, mean: Tensor) -> Tensor:
    """Return how far every patch is from the mean patch there, (b, 16)."""
    return to_patches((images - mean).square(), 2).sum(-1)


def wiped(images: Tensor, mean: Tensor, ranks: Tensor) -> Tensor:
    """Put the mean training picture where a picture's patches rank highest.

    Args:
        ranks: (b, 16), one a patch; the largest `WIPED` are wiped out.
    """
    highest = ranks.topk(WIPED, -1).indices
    chosen = torch.zeros(ranks.shape, dtype=torch.bool).scatter(1, highest, True)
    pixels = chosen.reshape(-1, 1, 4, 4).repeat_interleave(2, 2).repeat_interleave(2, 3)
    return torch.where(pixels, mean, images)


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one model and measure it."""
    return evaluate(fit(setting, task, seed)[0], task, seed)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(limit=60)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.004, steps=5, batch_size=20)
        model, losses = fit(setting, task, seed=7)
        measures = evaluate(model, task, seed=7)
        trace += [*losses, measures["loss"], fmean(measures.values()) / 1000]
    return trace


STUDY = Experiment(
    name="digits", title="A Vision Transformer on digits of 8 x 8 pixels",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(
        arms, LEARNING_RATES, TUNING_TASK, "loss", "loss of training digits that were left out"
    ),
    config=lambda: {"task": TASK, "wiped": WIPED, "arms": reported()},
    kinds={
        "*/loss": number("nats", 0),
        "*": lambda name: share(len(digits(TASK)[1].labels), asked="digits"),
    },
    modules=(
        *TRANSFORMERS, "bookkit.data.digits", "companion.data.images",
        "companion.models.vision",
    ),
    claims=read_claims(__file__), smoke=smoke,
    data={
        "credit": "Optical Recognition of Handwritten Digits, Alpaydin and Kaynak (1998), "
        "UCI Machine Learning Repository, as in scikit-learn",
        "licence": "CC BY 4.0",
    },
)  # fmt: skip
