"""Does attention find in a picture what the next word is about, and do the words follow?

Captioners with soft, hard and uniform attention learn from the same scenes of two coloured shapes,
with the same number of updates. They are asked for captions of new scenes, and of scenes with a
combination of colour and shape that no training scene has. `--tune` chooses a learning rate for
each from one grid, on seeds of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import fmean
from typing import get_args

import torch
from torch import Tensor

from bookkit.data.captions import collate_scenes, scene_vocabulary
from bookkit.data.pointing import pointing_accuracy
from bookkit.data.scenes import COLOURS, HELD_OUT, Scene, scenes
from companion.data.images import CaptionBatch, ShuffledBatches
from companion.data.vocabulary import Vocabulary
from companion.decoding import greedy
from companion.metrics import exact_match
from companion.models.vision import Captioner, CaptionerConfig, CaptionOutput, Reinforce
from companion.models.vision.captioner import Attention
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.descent import config_of, train_new
from experiments.engine.experiment import Answers, Experiment, by_item, numbers, on
from experiments.engine.kinds import NumberKind, number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(21, 41))
LEARNING_RATES = (0.002, 0.005, 0.008, 0.0125, 0.02, 0.032, 0.05)
"""The first edition tried 0.005 and 0.008 alone, and every kind of attention took the larger."""
REPORT_STEPS = 700
"""Updates of a reported training; tuning takes `Setting.steps`, fewer."""
VOCAB = scene_vocabulary()


@dataclass(frozen=True)
class Task:
    """Scenes to learn from, which every seed draws anew, and to be asked about.

    Seeds of the tests are the same for all runs; tuning has tests of its own. The margin of the
    pointing game is half a cell: a hit is a cell that touches the box.
    """

    learn: int = 6000
    test: int = 300
    test_seed: int = 80_001
    margin: float = 2.0


TASK = Task()
TUNING_TASK = replace(TASK, test_seed=90_001)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    attention: Attention
    learning_rate: float = 0.0
    steps: int = 200
    warmup_steps: int = 100
    batch_size: int = 48
    channels: int = 48


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: the three kinds of attention."""
    return {kind: Setting(kind) for kind in get_args(Attention)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, trained for longer."""
    return tuned("captioning", arms(), steps=REPORT_STEPS)


@cache
def drawn(count: int, seed: int, held_out: bool = False) -> tuple[list[Scene], CaptionBatch]:
    """Draw scenes, and the batch of them all."""
    pictures = scenes(count, seed=seed, combinations="held_out" if held_out else "seen")
    return pictures, collate_scenes(pictures, VOCAB)


def fit(setting: Setting, task: Task, seed: int) -> tuple[Captioner, list[float]]:
    """Train a captioner; return it and the loss of every update.

    Arms of one seed see the same scenes in the same order, and begin with the same weights.
    """
    config = CaptionerConfig(len(VOCAB), attention=setting.attention, channels=setting.channels)
    rows = drawn(task.learn, seed)[1]
    batches = ShuffledBatches(rows, batch_size=setting.batch_size, seed=seed)
    loss = Reinforce() if setting.attention == "hard" else Captioner.loss
    return train_new(lambda: Captioner(config), batches, loss, config_of(setting, seed))


# What is measured


@torch.no_grad()
def captions(model: Captioner, images: Tensor, vocab: Vocabulary) -> list[tuple[str, ...]]:
    """Write captions, each word the most probable."""
    written = greedy(
        model.step, model.start(images), batch_size=len(images), bos_id=vocab.bos_id,
        eos_id=vocab.eos_id, max_len=12,
    )  # fmt: skip
    return [vocab.decode(ids) for ids in written.sequences()]


@torch.no_grad()
def evaluate(model: Captioner, task: Task) -> dict[str, float | Answers]:
    """Return all measures of a captioner, in %, and the mean loss of the right captions."""
    measures: dict[str, float | Answers] = {}
    for name, held_out in (("seen", False), ("held_out", True)):
        pictures, batch = drawn(task.test, task.test_seed + held_out, held_out)
        said = captions(model, batch.images, VOCAB)
        measures[f"exact/{name}"] = exact_match(said, [scene.words for scene in pictures])
        looks = model(batch.images, batch.target_in)
        maps = maps_of(looks, pictures, model.config.side)
        asked = [held_out_only(scene) for scene in pictures] if held_out else pictures
        for margin, game in ((task.margin, "pointing"), (0.0, "strict")):
            for kind, (percent, _) in pointing_accuracy(maps, asked, margin=margin).items():
                measures[f"{game}/{name}/{kind}"] = percent
        for kind, percent in words_right(looks, batch, asked).items():
            measures[f"words/{name}/{kind}"] = percent
        if held_out:
            measures[by_item("words/held_out/shape")] = shapes_right(looks, batch, asked)
            measures |= wrong_words(looks, batch, asked, model.config.side, task.margin)
            measures |= with_other_colours(model, batch, asked)
    measures["loss"] = float(model.loss(drawn(task.test, task.test_seed)[1]))
    return measures


def maps_of(looks: CaptionOutput, pictures: Sequence[Scene], side: int) -> list[Tensor]:
    """Return the map before every word of every caption, (words, side, side)."""
    return [
        weights[: len(scene.words)].unflatten(1, (side, side))
        for weights, scene in zip(looks.weights, pictures, strict=True)
    ]


def held_out_only(scene: Scene) -> Scene:
    """Return a scene in which only the words of the held-out combination keep their class.

    The others are "seen": of the other shape, or of both.
    """
    starts = [i for i, two in enumerate(pairwise(scene.words)) if two in HELD_OUT]
    kept = {start + step for start in starts for step in (-1, 0, 1)}
    classes = tuple(c if i in kept else "seen" for i, c in enumerate(scene.classes))
    return replace(scene, classes=classes)


def right_words(
    looks: CaptionOutput, batch: CaptionBatch, pictures: Sequence[Scene]
) -> list[list[tuple[str, bool]]]:
    """Return, by scene, every word's class and whether it is the most probable one.

    The words before it are given.
    """
    right = (looks.logits.argmax(-1) == batch.target_out).tolist()
    return [
        [*zip(scene.classes, row, strict=False)] for scene, row in zip(pictures, right, strict=True)
    ]


def words_right(
    looks: CaptionOutput, batch: CaptionBatch, pictures: Sequence[Scene]
) -> dict[str, float]:
    """Return, by class, how often the most probable word is the right one, in %."""
    by_class: dict[str, list[bool]] = {}
    for words in right_words(looks, batch, pictures):
        for kind, hit in words:
            by_class.setdefault(kind, []).append(hit)
    return {kind: 100.0 * fmean(hits) for kind, hits in by_class.items()}


def shapes_right(looks: CaptionOutput, batch: CaptionBatch, pictures: Sequence[Scene]) -> Answers:
    """Return, by scene, how many of its shapes are right, and how many there are."""
    words = right_words(looks, batch, pictures)
    hits = [[hit for kind, hit in scene if kind == "shape"] for scene in words]
    return [(float(sum(scene)), float(len(scene))) for scene in hits]


def wrong_words(
    looks: CaptionOutput, batch: CaptionBatch, pictures: Sequence[Scene], side: int, margin: float
) -> dict[str, float]:
    """Return how often a colour or a shape is wrong where attention points right, and where not.

    In % of all colours and shapes.
    """
    said = (looks.logits.argmax(-1) == batch.target_out).tolist()
    cells = looks.weights.argmax(-1).tolist()
    counts = {"right_place": 0, "wrong_place": 0}
    asked = 0
    for row, scene in enumerate(pictures):
        pixels = len(scene.image) / side
        for column, (kind, boxes) in enumerate(zip(scene.classes, scene.boxes, strict=True)):
            if kind in ("colour", "shape"):
                down, across = divmod(cells[row][column], side)
                centre = (down + 0.5) * pixels, (across + 0.5) * pixels
                hit = any(box.is_near(centre, margin) for box in boxes)
                where = "right_place" if hit else "wrong_place"
                counts[where] += not said[row][column]
                asked += 1
    return {f"wrong_word/{where}": 100.0 * count / asked for where, count in counts.items()}


def with_other_colours(
    model: Captioner, batch: CaptionBatch, pictures: Sequence[Scene]
) -> dict[str, float | Answers]:
    """Say another colour before the shape of a held-out combination, and see which shape follows.

    The colour is the next one, in the order of `COLOURS`, that training has seen with the shape.
    The picture and the words before stay as they are. In %, and by scene.
    """
    names = list(COLOURS)
    tokens, columns = batch.target_in.clone(), []
    for row, scene in enumerate(pictures):
        column = scene.classes.index("shape")
        colour, shape = scene.words[column - 1 : column + 1]
        others = names[names.index(colour) + 1 :] + names
        other = next(one for one in others if (one, shape) not in HELD_OUT)
        tokens[row, column] = VOCAB.encode([other])[0]
        columns.append(column)
    rows = torch.arange(len(pictures))
    said = model(batch.images, tokens).logits.argmax(-1)[rows, columns]
    right = said == batch.target_out[rows, columns]
    return {
        "other_colour/shape": 100.0 * float(right.double().mean()),
        by_item("other_colour/shape"): [(float(hit), 1.0) for hit in right.tolist()],
    }


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float | Answers]:
    """Train one captioner and measure it."""
    return evaluate(fit(setting, task, seed)[0], task)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(learn=48, test=16)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.01, steps=4, batch_size=16, channels=8)
        model, losses = fit(setting, task, seed=7)
        trace += losses
        measures = numbers(evaluate(model, task))
        trace += [measures["loss"], fmean(measures.values()) / 1000]
    return trace


@cache
def scenes_with(kind: str, held_out: bool) -> int:
    """Return how many test scenes have a word of a class."""
    pictures, _ = drawn(TASK.test, TASK.test_seed + held_out, held_out)
    asked = map(held_out_only, pictures) if held_out else pictures
    return sum(kind in scene.classes for scene in asked)


def by_class(name: str) -> NumberKind:
    """Return the kind of "arm/game/where/class": a share of the scenes that have the class."""
    _, _, where, kind = name.split("/")
    return share(scenes_with(kind, where == "held_out"))


def halves(runs: Runs, measured: str) -> list[float]:
    """Return the mean of a measure over colours and shapes, run by run."""
    both = runs[f"{measured}/colour"], runs[f"{measured}/shape"]
    return [fmean(pair) for pair in zip(*both, strict=True)]


STUDY = Experiment(
    name="captioning", title="Captions of scenes, with soft, hard and uniform attention",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(
        arms, LEARNING_RATES, TUNING_TASK, "loss", "loss of the right captions of new scenes"
    ),
    config=lambda: {"task": TASK, "arms": reported()},
    kinds={
        "*/loss": number("nats", 0), "*/exact/*": share(TASK.test),
        "*/wrong_word/*": share(TASK.test), "*/other_colour/*": share(TASK.test), "*": by_class,
    },
    modules=(
        *LAYERS, "bookkit.data.captions", "bookkit.data.grammar.dice", "bookkit.data.pointing",
        "bookkit.data.scenes", "companion.data", "companion.decoding", "companion.metrics",
        "companion.models.vision",
    ),
    claims=read_claims(__file__, halves), smoke=smoke,
)  # fmt: skip
