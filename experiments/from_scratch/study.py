"""Do silent mistakes still learn? A small Transformer with one wrong line in its attention.

At every position of a sequence a key is named, and the model says the class that will be revealed
for it at the next one; four times in five it is the class that belongs to the key in this sequence.
Every arm has one mistake that raises no error. An accuracy is measured twice: as the program itself
reports it, on whole sequences, and in use, where a position comes with those before it and with
nothing else. Every arm is trained briefly, and once more for five times as long, at a learning rate
of its own. `--tune` chooses that rate from one grid for all, on seeds of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import attend, masked_softmax
from companion.masks import causal_mask
from companion.training import train
from experiments.engine.answers import Answered
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import SMALL
from experiments.engine.descent import WARMUP, Draws, FromStart
from experiments.engine.experiment import Experiment, in_parallel, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import TUNING_SEEDS, Trials, record_trials, tuned

Mistake = Literal[
    "none", "no_attention", "no_scale", "swapped", "query_axis", "view", "view_out", "no_mask",
    "inverted", "one_more", "one_less", "tiny", "late",
]  # fmt: skip

SEEDS = tuple(range(1, 21))
MISTAKES: tuple[Mistake, ...] = get_args(Mistake)
LEARNING_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
BRIEF, LONG = 200, 1000
"""Updates of an arm, and of the same arm where its name ends in "-long"."""
CHEAP = 2.0
"""Points of accuracy: a mistake that costs less is called cheap."""


@dataclass(frozen=True)
class Task:
    """A key is named at every position; what it stands for is revealed at the next one."""

    places: int = 16
    keys: int = 4
    classes: int = 8
    noise: float = 0.2
    batch_size: int = 32
    test_size: int = 500

    @property
    def width(self) -> int:
        """Features of a position: its key, the last one's key and class, and its number."""
        return 2 * self.keys + self.classes + self.places

    def batch(self, generators: Sequence[Generator], size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Draw features (s, b, n, f), answers (s, b, n), and which keys came before (s, b, n).

        The class of a key is drawn anew for each sequence; with probability `noise` another draw
        is revealed instead of it. One seed draws from one generator.
        """
        drawn = [self._drawn(generator, size) for generator in generators]
        keys, answers = (torch.stack(part) for part in zip(*drawn, strict=True))
        last = [
            F.pad(F.one_hot(x, kinds)[..., :-1, :], (0, 0, 1, 0))
            for x, kinds in ((keys, self.keys), (answers, self.classes))
        ]
        numbers = torch.eye(self.places).expand(*keys.shape, -1)
        features = torch.cat([F.one_hot(keys, self.keys), *last, numbers], dim=-1)
        earlier = causal_mask(self.places, offset=-1, like=keys)
        seen = ((keys[..., :, None] == keys[..., None, :]) & earlier).any(-1)
        return features, answers, seen

    def _drawn(self, generator: Generator, size: int) -> tuple[Tensor, Tensor]:
        shape = size, self.places
        keys = torch.randint(self.keys, shape, generator=generator)
        table = torch.randint(self.classes, (size, self.keys), generator=generator)
        other = torch.randint(self.classes, shape, generator=generator)
        wrong = torch.rand(shape, generator=generator) < self.noise
        return keys, other.where(wrong, table.take_along_dim(keys, 1))


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    mistake: Mistake
    learning_rate: float = 0.0
    steps: int = BRIEF


TASK = Task()
EMBED_DIM = 32
HEADS = 4
HIDDEN = 64


def weights_of(scores: Tensor, mistake: Mistake) -> Tensor:
    """Turn scores (..., n, n) into causal weights, with a mistake if there is one."""
    offset = {"one_more": 1, "one_less": -1}.get(mistake, 0)
    allowed = causal_mask(scores.shape[-1], offset=offset, like=scores)
    match mistake:
        case "no_attention":
            return torch.zeros_like(scores)
        case "query_axis":
            return masked_softmax(scores.mT, allowed.mT).mT
        case "no_mask":
            return masked_softmax(scores)
        case "inverted":
            return masked_softmax(scores, ~allowed)
        case "tiny":
            return masked_softmax(scores.masked_fill(~allowed, 1e-9))
        case "late":
            return masked_softmax(scores).where(allowed, 0.0)
    return masked_softmax(scores, allowed)


class Readers(nn.Module):
    """Small Transformers of one block, one a seed, side by side; none sees another."""

    def __init__(self, mistake: Mistake, task: Task, generators: Sequence[Generator]) -> None:
        super().__init__()
        self.mistake = mistake
        e = EMBED_DIM
        shapes = {
            "embed": (task.width, e), "query": (e, e), "key": (e, e), "value": (e, e),
            "output": (e, e), "hidden": (e, HIDDEN), "back": (HIDDEN, e),
            "classes": (e, task.classes),
        }  # fmt: skip
        self.weights = nn.ParameterDict(
            {
                name: torch.stack([torch.randn(shape, generator=g) for g in generators])
                / math.sqrt(shape[0])
                for name, shape in shapes.items()
            }
        )

    def forward(self, features: Tensor) -> Tensor:
        """Map features (s, b, n, f) to the logits of the classes, (s, b, n, c)."""
        x = self._times(features, "embed")
        x = x + self.attention(_normed(x))
        hidden = F.gelu(self._times(_normed(x), "hidden"))
        return self._times(_normed(x + self._times(hidden, "back")), "classes")

    def attention(self, x: Tensor) -> Tensor:
        """Attend causally in several heads, (s, b, n, e) to (s, b, n, e)."""
        query, key, value = (self._cut(self._times(x, name)) for name in ("query", "key", "value"))
        if self.mistake == "swapped":
            query, key = key, query
        scale = 1.0 if self.mistake == "no_scale" else query.shape[-1] ** -0.5
        blend = attend(weights_of(scale * query @ key.mT, self.mistake), value)
        if self.mistake not in ("view", "view_out"):
            blend = blend.transpose(2, 3)
        return self._times(blend.reshape(x.shape), "output")

    def _cut(self, x: Tensor) -> Tensor:
        """Cut (s, b, n, e) into heads (s, b, h, n, d)."""
        s, b, n, e = x.shape
        if self.mistake == "view":
            return x.reshape(s, b, HEADS, n, e // HEADS)
        return x.reshape(s, b, n, HEADS, e // HEADS).transpose(2, 3)

    def _times(self, x: Tensor, name: str) -> Tensor:
        return (x.flatten(1, 2) @ self.weights[name]).unflatten(1, x.shape[1:3])  # type: ignore[no-any-return]


def _normed(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def fit(setting: Setting, task: Task, seeds: Sequence[int]) -> tuple[Readers, Tensor]:
    """Train one model a seed on fresh batches; return them and every loss, (steps, s).

    All arms of a seed start from the same weights and see the same data.
    """
    generators = [Generator().manual_seed(seed) for seed in seeds]
    models = Readers(setting.mistake, task, generators)
    trace = []

    def loss_of(models: Readers, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        features, answers, seen = batch
        each = F.cross_entropy(models(features).permute(0, 3, 1, 2), answers, reduction="none")
        losses = (each * seen).sum((1, 2)) / seen.sum((1, 2))
        trace.append(losses.detach())
        return losses.sum()

    batches = Draws(lambda: task.batch(generators, task.batch_size))
    config = FromStart(setting.steps, setting.learning_rate, WARMUP, clip_norm=None)
    train(models, batches, loss_of, config, progress=False)
    return models, torch.stack(trace)


@torch.no_grad()
def examined(models: Readers, task: Task, seeds: Sequence[int]) -> Runs:
    """Measure accuracies on whole sequences, and position by position without what comes later."""
    generators = [Generator().manual_seed(90_000 + seed) for seed in seeds]
    features, answers, seen = task.batch(generators, task.test_size)
    steps = [models(features[:, :, :n])[:, :, -1] for n in range(1, task.places + 1)]
    both = {"reported": models(features), "in_use": torch.stack(steps, dim=2)}
    return {name: accuracies(logits, answers, seen) for name, logits in both.items()}


def accuracies(logits: Tensor, answers: Tensor, asked: Tensor) -> list[float]:
    """Return the share of right answers at the asked positions in %, one a seed."""
    right = (logits.argmax(-1) == answers) & asked
    shares: list[float] = (100 * right.sum((1, 2)).double() / asked.sum((1, 2))).tolist()
    return shares


def outcome(setting: Setting, task: Task, seeds: Sequence[int]) -> Runs:
    """Train one arm on every seed: its own loss at the end, what it reports, and its use."""
    models, losses = fit(setting, task, seeds)
    both = examined(models, task, seeds)
    difference = [a - b for a, b in zip(both["reported"], both["in_use"], strict=True)]
    return {"final_loss": losses[-20:].double().mean(0).tolist(), **both, "illusion": difference}


def arms() -> dict[str, Setting]:
    """Return every arm, brief and long: the right attention, none at all, and each mistake."""
    brief = {str(mistake): Setting(mistake) for mistake in MISTAKES}
    return brief | {f"{name}-long": replace(one, steps=LONG) for name, one in brief.items()}


def reported() -> dict[str, Setting]:
    """Return the tuned arms."""
    return tuned("from_scratch", arms())


def tune(workers: int) -> None:
    """Try every learning rate on every arm; record all, and the best of each.

    What counts is the arm's own training loss: who does not know of a mistake sees no other.
    """
    names, settings = zip(*Trials(arms, LEARNING_RATES, TASK).rows(), strict=True)
    jobs = [(setting, TASK, TUNING_SEEDS) for setting in settings]
    losses = [runs["final_loss"] for runs in in_parallel(outcome, jobs, workers)]
    metric = "loss of the last 20 updates"
    record_trials(STUDY.name, metric, names, settings, losses, digits=".6g")


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what each comes to."""
    task = Task(places=7, keys=3, classes=4, batch_size=6, test_size=20)
    trace: list[float] = []
    for mistake in MISTAKES:
        setting = Setting(mistake, learning_rate=0.01, steps=5)
        models, losses = fit(setting, task, (7, 8))
        trace += losses.flatten().tolist()
        features, *_ = task.batch([Generator().manual_seed(seed) for seed in (7, 8)], 4)
        trace += models(features[:, :, :5]).detach().mean((1, 2, 3)).tolist()
    return trace


class SideBySide(Experiment):
    """A study that trains the models of all seeds of an arm at the same time."""

    def outcomes(self, workers: int) -> tuple[Runs, dict[str, Answered]]:
        """Run every arm; every seed has test items of its own, so no answers are compared."""
        arms = self.arms()
        jobs = [(*arm, self.seeds) for arm in arms.values()]
        return {
            f"{name}/{what}": values
            for name, runs in zip(arms, in_parallel(outcome, jobs, workers), strict=True)
            for what, values in runs.items()
        }, {}


STUDY = SideBySide(
    name="from_scratch",
    title="Causal attention with one silent mistake: what is reported, and what is so in use",
    seeds=SEEDS, arms=lambda: on(TASK, reported()),
    config=lambda: {
        "task": TASK, "embed_dim": EMBED_DIM, "heads": HEADS, "hidden": HIDDEN, "warmup": WARMUP,
        "cheap": CHEAP, "arms": reported(),
    },
    kinds={
        "*/final_loss": number("nats", 0), "*/illusion": number("points", -100, 100),
        "*": share(TASK.test_size, own=True),
    },
    modules=SMALL,
    claims=read_claims(__file__), smoke=smoke, tuning=tune,
)  # fmt: skip
