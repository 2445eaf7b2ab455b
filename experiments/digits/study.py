"""Can a Vision Transformer read digits, and does it need the positions of its patches?

Two arms: patches with learned positions, and a bag of patches. Both are trained alike; `--tune`
chooses a learning rate for each from one grid, on seeds of its own and on a part of the training
digits. Both are asked about digits whose patches are shuffled. Then four patches are covered, those
with most attention or others, to see whether attention says which of them count. What covers them
may be the mean picture, blank paper, or nothing: a Transformer can leave a patch out.
"""

from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from bookkit.data.digits import handwritten_digits
from companion.data.images import LabelledImages, ShuffledBatches
from companion.models.vision import VisionConfig, VisionTransformer, to_patches
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.descent import config_of, train_new
from experiments.engine.experiment import Answers, Experiment, by_item, numbers, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(31, 51))
"""Those of the first two reports, 11 to 15, are not among them."""
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


class Reading(NamedTuple):
    """Digits to read, the mean picture of training, and how four patches of them are covered."""

    images: Tensor
    mean: Tensor
    cover: Literal["wiped", "blank", "out"]

    @property
    def under(self) -> Tensor:
        """What a covered patch shows; for one that is left out it does not matter."""
        return self.mean if self.cover == "wiped" else torch.zeros_like(self.mean)

    def scores(self, model: VisionTransformer, chosen: Tensor) -> Tensor:
        """Return the logits, with the chosen patches, (b, 16), covered."""
        if self.cover == "out":
            return model(self.images, kept=~chosen).logits
        return model(covered(self.images, self.under, chosen)).logits


@torch.no_grad()
def evaluate(model: VisionTransformer, task: Task, seed: int) -> dict[str, float | Answers]:
    """Return right answers in %, with all patches and without some, and the loss."""
    learn, test = digits(task)
    logits, weights = model(test.images, need_weights=True)
    looked = weights[-1].mean(1)[:, 0, 1:]  # the class token's, over all heads
    draw = torch.Generator().manual_seed(seed)
    chance = torch.rand(looked.shape, generator=draw)
    mixed = shuffled(test.images, torch.rand(looked.shape, generator=draw).argsort(-1))
    found = {"accuracy": logits, "shuffled": model(mixed).logits}
    overlaps: dict[str, float] = {}
    covers: tuple[Literal["wiped", "blank", "out"], ...] = ("wiped", "blank", "out")
    for cover in covers if model.places is not None else ():
        reading = Reading(test.images, learn.images.mean(0), cover)
        ranks = {
            "most": looked, "least": -looked, "chance": chance,
            "ink": ink(test.images, reading.under), "one": missed(model, reading, logits),
        }  # fmt: skip
        for name, rank in ranks.items():
            found[f"{cover}/{name}"] = reading.scores(model, highest(rank))
            both = highest(rank) & highest(looked)
            overlaps[f"overlap/{cover}/{name}"] = float(both.double().sum(-1).mean())
    measures: dict[str, float | Answers] = {**overlaps, "loss": float(model.loss(test))}
    for name, scores in found.items():
        hits = scores.argmax(-1) == test.labels
        measures[name] = 100.0 * float(hits.double().mean())
        measures[by_item(name)] = [(float(hit), 1.0) for hit in hits.tolist()]
    return measures


def missed(model: VisionTransformer, reading: Reading, logits: Tensor) -> Tensor:
    """Return how much log-probability its own answer loses if a patch is covered alone, (b, 16)."""
    own = logits.argmax(-1, keepdim=True)
    each = torch.eye(16, dtype=torch.bool)[:, None].expand(16, len(own), 16)
    left = [reading.scores(model, one).log_softmax(-1).gather(-1, own) for one in each]
    return logits.log_softmax(-1).gather(-1, own) - torch.cat(left, -1)


def shuffled(images: Tensor, order: Tensor) -> Tensor:
    """Put the patches of every picture into another order, (b, 16)."""
    patches = to_patches(images, 2)
    moved = patches.gather(1, order[..., None].expand_as(patches))
    return moved.view(-1, 4, 4, 2, 2).transpose(2, 3).reshape(images.shape)


def lead(runs: Runs, arm: str, cover: str) -> list[float]:
    """Return how many more digits break without the patches of most attention than by chance."""
    names = (f"{arm}/{cover}/{rank}" for rank in ("chance", "most"))
    return [chance - most for chance, most in zip(*map(runs.__getitem__, names), strict=True)]


def ink(images: Tensor, under: Tensor) -> Tensor:
    """Return how far every patch is from what covers it, (b, 16)."""
    return to_patches((images - under).square(), 2).sum(-1)


def highest(ranks: Tensor) -> Tensor:
    """Return the `WIPED` patches of every picture that rank highest, (b, 16) True or False."""
    return torch.zeros(ranks.shape, dtype=torch.bool).scatter(1, ranks.topk(WIPED).indices, True)


def covered(images: Tensor, under: Tensor, chosen: Tensor) -> Tensor:
    """Put a picture in the place of the chosen patches, (b, 16)."""
    pixels = chosen.reshape(-1, 1, 4, 4).repeat_interleave(2, 2).repeat_interleave(2, 3)
    return torch.where(pixels, under, images)


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float | Answers]:
    """Train one model and measure it."""
    return evaluate(fit(setting, task, seed)[0], task, seed)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(limit=60)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.004, steps=5, batch_size=20)
        model, losses = fit(setting, task, seed=7)
        measures = numbers(evaluate(model, task, seed=7))
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
        "*/overlap/*": number("patches", 0, WIPED),
        "*": lambda name: share(len(digits(TASK)[1].labels), asked="digits"),
    },
    modules=(
        *TRANSFORMERS, "bookkit.data.digits", "companion.data.images",
        "companion.models.vision",
    ),
    claims=read_claims(__file__, lead), smoke=smoke,
    data={
        "credit": "Optical Recognition of Handwritten Digits, Alpaydin and Kaynak (1998), "
        "UCI Machine Learning Repository, as in scikit-learn",
        "licence": "CC BY 4.0",
    },
)  # fmt: skip
