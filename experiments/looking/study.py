"""It looks at the right shape: does it see it? Small captioners, and readers of what they look at.

Captioners as in `captioning`, with a third of the weights, learn from scenes in which six of 24
combinations of colour and shape never come. They are asked about these: where they look, which
word they say, and which they say after another colour. A linear reader is given what attention
blends before the shape, and no word. One has learned from the 18 combinations, one from all 24.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from torch import Tensor

from bookkit.data.captions import collate_scenes
from bookkit.data.pointing import pointing_accuracy
from bookkit.data.scenes import COLOURS, HELD_OUT, Combinations, Scene, scenes
from companion.data.images import CaptionBatch, ShuffledBatches
from companion.metrics import exact_match
from companion.models.vision import Captioner, CaptionerConfig
from companion.training import TrainingConfig, train
from experiments.captioning.study import (
    VOCAB,
    captions,
    held_out_only,
    maps_of,
    right_words,
)
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.experiment import Answers, Experiment, by_item, numbers, on
from experiments.engine.kinds import share

SEEDS = tuple(range(51, 71))
Phrase = tuple[int, int]
"""A scene, and where in its caption the shape of the combination stands that is asked about."""


@dataclass(frozen=True)
class Task:
    """Scenes to learn from, which every seed draws anew, to be asked about, and for the readers."""

    learn: int = 6000
    test: int = 300
    test_seed: int = 80_001
    read: int = 2000
    read_seed: int = 70_001
    margin: float = 2.0  # of the pointing game, in pixels: half a cell


@dataclass(frozen=True)
class Setting:
    """A captioner and its training; the rate is the one tuned for the larger ones."""

    learning_rate: float = 0.0125
    steps: int = 700
    warmup_steps: int = 100
    batch_size: int = 48
    channels: int = 32
    embed_dim: int = 24
    hidden_dim: int = 48

    def model(self) -> Captioner:
        """Return a new captioner."""
        return Captioner(
            CaptionerConfig(
                len(VOCAB), channels=self.channels, embed_dim=self.embed_dim,
                hidden_dim=self.hidden_dim,
            )
        )  # fmt: skip


TASK = Task()


@cache
def drawn(count: int, seed: int, combinations: Combinations) -> tuple[list[Scene], CaptionBatch]:
    """Draw scenes, and the batch of them all."""
    pictures = scenes(count, seed=seed, combinations=combinations)
    return pictures, collate_scenes(pictures, VOCAB)


def fit(setting: Setting, task: Task, seed: int) -> tuple[Captioner, list[float]]:
    """Train a captioner; return it and the loss of every update."""
    torch.manual_seed(seed)
    model = setting.model()
    rows = collate_scenes(scenes(task.learn, seed=seed), VOCAB)
    batches = ShuffledBatches(rows, batch_size=setting.batch_size, seed=seed)
    config = TrainingConfig(setting.steps, setting.learning_rate, setting.warmup_steps, seed=seed)
    losses = train(model, batches, Captioner.loss, config, progress=False)
    return model.eval(), losses


@torch.no_grad()
def evaluate(model: Captioner, task: Task) -> dict[str, float | Answers]:
    """Return all measures of a captioner, in %."""
    measures: dict[str, float | Answers] = {}
    for where in ("seen", "held_out"):
        pictures, batch = drawn(task.test, task.test_seed + (where == "held_out"), where)
        asked = [held_out_only(scene) for scene in pictures] if where == "held_out" else pictures
        looks = model(batch.images, batch.target_in)
        maps = maps_of(looks, pictures, model.config.side)
        said = captions(model, batch.images, VOCAB)
        measures[f"exact/{where}"] = exact_match(said, [scene.words for scene in pictures])
        game = pointing_accuracy(maps, asked, margin=task.margin)
        words = right_words(looks, batch, asked)
        for kind in ("colour", "shape"):
            measures[f"pointing/{where}/{kind}"] = game[kind][0]
            hits = [[hit for one, hit in scene if one == kind] for scene in words]
            measures |= shares(f"words/{where}/{kind}", hits)
    new, batch = drawn(task.test, task.test_seed + 1, "held_out")
    measures |= shares("other_colour/shape", after_other_colours(model, new, batch))
    test = blends(model, new, batch, new_phrases(new))
    for name, combinations in (("of_18", "seen"), ("of_24", "all")):
        learned = drawn(task.read, task.read_seed, combinations)
        reader = LogisticRegression(max_iter=2000).fit(
            *blends(model, *learned, every_shape(learned[0]))
        )
        right = reader.predict(test[0]) == test[1]
        measures |= shares(f"reader/{name}", [[bool(hit)] for hit in right])
    return measures


def shares(name: str, hits: Sequence[Sequence[bool]]) -> dict[str, float | Answers]:
    """Return a share in %, and what it is of: the hits of every scene, and how many there were."""
    answers = [(float(sum(scene)), float(len(scene))) for scene in hits]
    right, asked = (sum(column) for column in zip(*answers, strict=True))
    return {name: 100.0 * right / asked, by_item(name): answers}


def new_phrases(pictures: Sequence[Scene]) -> list[Phrase]:
    """Return where the shape of the held-out combination stands, scene by scene."""
    return [
        (row, column)
        for row, column in every_shape(pictures)
        if pictures[row].words[column - 1 : column + 1] in HELD_OUT
    ]


def every_shape(pictures: Sequence[Scene]) -> list[Phrase]:
    """Return where all shapes stand."""
    return [
        (row, column)
        for row, scene in enumerate(pictures)
        for column, kind in enumerate(scene.classes)
        if kind == "shape"
    ]


def after_other_colours(
    model: Captioner, pictures: Sequence[Scene], batch: CaptionBatch
) -> list[list[bool]]:
    """Say another colour before the shape of a held-out combination: is the shape right now?

    The others are all that training has seen with the shape. The picture and the words before stay
    as they are, and so does the map, since the state that looks has not read the colour yet.
    """
    hits: list[list[bool]] = [[] for _ in pictures]
    phrases = new_phrases(pictures)
    for other in COLOURS:
        tokens = batch.target_in.clone()
        for row, column in phrases:
            tokens[row, column] = VOCAB.encode([other])[0]
        right = model(batch.images, tokens).logits.argmax(-1) == batch.target_out
        for row, column in phrases:
            if (other, pictures[row].words[column]) not in HELD_OUT:
                hits[row].append(bool(right[row, column]))
    return hits


def blends(
    model: Captioner, pictures: Sequence[Scene], batch: CaptionBatch, phrases: Sequence[Phrase]
) -> tuple[NDArray[np.float32], list[str]]:
    """Return what attention blends before these shapes, and the shapes."""
    weights: Tensor = model(batch.images, batch.target_in).weights
    context = weights @ model.see(batch.images).memory
    rows, columns = (list(column) for column in zip(*phrases, strict=True))
    return context[rows, columns].numpy(), [pictures[row].words[at] for row, at in phrases]


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float | Answers]:
    """Train one captioner and measure it."""
    return evaluate(fit(setting, task, seed)[0], task)


def arms() -> dict[str, Setting]:
    """Return the one arm."""
    return {"soft": Setting()}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates, and what is measured."""
    setting = Setting(steps=4, warmup_steps=2, batch_size=16, channels=8, hidden_dim=8)
    task = Task(learn=48, test=16, read=40)
    model, losses = fit(setting, task, seed=7)
    return [*losses, sum(numbers(evaluate(model, task)).values()) / 10_000]


STUDY = Experiment(
    name="looking", title="Small captioners before combinations of colour and shape never seen",
    seeds=SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome, workers=1,
    config=lambda: {"task": TASK, "arms": arms()},
    kinds={"*": share(TASK.test)},
    modules=(
        *LAYERS, "bookkit.data.captions", "bookkit.data.grammar.dice", "bookkit.data.pointing",
        "bookkit.data.scenes", "companion.data", "companion.decoding", "companion.metrics",
        "companion.models.vision", "experiments.captioning.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
