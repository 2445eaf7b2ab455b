"""What does attention in narrow numbers cost a model that is trained with it?

One layer of attention learns to find one of 1,024 keys, given a noisy copy of it, and to say the
class of its value. The softmax is computed in one of several types, with the largest score
subtracted or without, and with a denominator that is added up in wide numbers or in narrow ones.
The gradients pass through the same roundings. Nothing else differs: weights, loss and optimizer
are in float32 throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from experiments.claims import Claim
from experiments.descent import WARMUP, descend, new
from experiments.experiment import Experiment, on
from experiments.findings import with_findings
from experiments.findings.narrow_training import FINDINGS
from experiments.kinds import number, share
from experiments.numerics import TYPES, stepwise
from experiments.trials import Trials, tuned

SEEDS = tuple(range(11, 31))
LEARNING_RATES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
LONGER = 3
"""How many times as long the model with the narrow sum trains, to see whether that mends it."""


class Questions(NamedTuple):
    """Queries (q, d) about keys (k, d) with one-hot classes (k, c), and the right classes (q,)."""

    query: Tensor
    key: Tensor
    value: Tensor
    right: Tensor


@dataclass(frozen=True)
class Task:
    """Random keys, each with a class; every query is one of the keys, with noise."""

    keys: int = 1024
    queries: int = 64
    width: int = 64
    classes: int = 8
    noise: float = 0.5
    tests: int = 20

    def draw(self, generator: Generator) -> Questions:
        """Draw keys, their classes, and queries."""
        key = torch.randn(self.keys, self.width, generator=generator)
        classes = torch.randint(self.classes, (self.keys,), generator=generator)
        found = torch.randint(self.keys, (self.queries,), generator=generator)
        noise = self.noise * torch.randn(self.queries, self.width, generator=generator)
        return Questions(
            key[found] + noise, key, F.one_hot(classes, self.classes).float(), classes[found]
        )

    def test(self, seed: int) -> Iterator[Questions]:
        """Draw what a seed is tested on."""
        generator = Generator().manual_seed(90_000 + seed)
        for _ in range(self.tests):
            yield self.draw(generator)


@dataclass(frozen=True)
class Setting:
    """How one arm computes its softmax, and its training."""

    dtype: str
    safe: bool = True
    running: bool = False
    learning_rate: float = 0.0
    steps: int = 400


class Finder(nn.Module):
    """One head of attention whose softmax is computed in the arithmetic of a setting."""

    def __init__(self, setting: Setting, task: Task) -> None:
        super().__init__()
        self.setting = setting
        self.query, self.key = (nn.Linear(task.width, task.width, bias=False) for _ in range(2))
        self.output = nn.Linear(task.classes, task.classes, bias=False)

    def forward(self, questions: Questions) -> Tensor:
        """Return the logits (q, c) of the classes."""
        scale = 1 / math.sqrt(questions.query.shape[-1])
        dtype = TYPES[self.setting.dtype]
        blend = stepwise(
            (scale * self.query(questions.query)).to(dtype),
            self.key(questions.key).to(dtype),
            questions.value.to(dtype),
            safe=self.setting.safe,
            running=self.setting.running,
        )
        logits: Tensor = self.output(blend.float())
        return logits

    def in_float32(self) -> Finder:
        """Return the same weights with the softmax as it should be."""
        other = Finder.__new__(Finder)
        nn.Module.__init__(other)
        other.__dict__.update(self.__dict__)
        other.setting = Setting("float32")
        return other


def fit(setting: Setting, task: Task, seed: int) -> tuple[Finder, list[float]]:
    """Train until the end or until a loss is NaN; return the model and the losses until then."""
    model = new(lambda: Finder(setting, task), seed)
    losses: list[float] = []

    def loss(model: Finder, questions: Questions) -> Tensor:
        value = F.cross_entropy(model(questions), questions.right)
        if value.isfinite():
            losses.append(value.item())
        return value

    try:
        descend(lambda: model, task.draw, loss, setting, seed)
    except FloatingPointError:
        model.eval()
    return model, losses


@torch.no_grad()
def wrong(model: Finder, task: Task, seed: int) -> float:
    """Return the per cent of new questions whose answer is wrong, or is no number."""
    right = 0.0
    for questions in task.test(seed):
        logits = model(questions)
        is_right = (logits.argmax(-1) == questions.right) & logits.isfinite().all(-1)
        right += float(is_right.double().mean())
    return 100 - 100 * right / task.tests


@torch.no_grad()
def loss_of(model: Finder, task: Task, seed: int) -> float:
    """Return the mean loss on new questions."""
    losses = [F.cross_entropy(model(asked), asked.right) for asked in task.test(seed)]
    return float(torch.stack(losses).mean())


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm; test it in its own arithmetic, and with a softmax in float32."""
    model, losses = fit(setting, task, seed)
    wide = model.in_float32()
    return {
        "updates": float(len(losses)),
        "held_out_loss": loss_of(wide, task, seed),
        "wrong": wrong(model, task, seed),
        "wrong_in_float32": wrong(wide, task, seed),
    }


TASK = Task()
ANSWERS = TASK.tests * TASK.queries


def arms() -> dict[str, Setting]:
    """Return the arms that are tuned: the right softmax, and the two that may not train."""
    return {
        "float32": Setting("float32"),
        "textbook": Setting("float16", safe=False),
        "running": Setting("bfloat16", running=True),
    }


def reported() -> dict[str, Setting]:
    """Return all arms; those that have not been tuned train with the rate of float32."""
    chosen = tuned("narrow_training", arms())
    right, running = chosen["float32"], chosen["running"]
    return {
        **chosen,
        "float16": replace(right, dtype="float16"),
        "bfloat16": replace(right, dtype="bfloat16"),
        "textbook_float16": replace(right, dtype="float16", safe=False),
        "textbook_bfloat16": replace(right, dtype="bfloat16", safe=False),
        "running/longer": replace(running, steps=LONGER * running.steps),
    }


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small, once with scores that overflow."""
    task = Task(keys=300, queries=6, width=8, classes=3, tests=2)
    trace: list[float] = []
    for setting in (
        Setting("float16", learning_rate=0.01, steps=5),
        Setting("bfloat16", running=True, learning_rate=0.01, steps=5),
        Setting("float16", safe=False, learning_rate=1.0, steps=40),
    ):
        model, losses = fit(setting, task, seed=7)
        trace += [*losses[:5], len(losses), loss_of(model.in_float32(), task, seed=7)]
    return trace


CLAIMS = with_findings(FINDINGS, {
    "textbook_stops": Claim(
        "In float16, with the formula as it stands and the rate that suits float32, a loss is NaN "
        "before half of the 400 updates are done.",
        "textbook_float16/updates", unit="updates", below=200),
    "textbook_learns_nothing": Claim(
        "When that happens, the model answers more than half of new questions wrong, even with a "
        "softmax in float32.",
        "textbook_float16/wrong_in_float32", unit="%", above=50),
    "range_saves_the_textbook": Claim(
        "In bfloat16, the formula as it stands gives at most 2 points more wrong answers than "
        "float32.",
        "textbook_bfloat16/wrong", "float32/wrong", "points", below=2),
    "float16_trains": Claim(
        "With the largest score subtracted and every step rounded to float16, at most 2 points "
        "more answers are wrong than in float32.",
        "float16/wrong", "float32/wrong", "points", below=2),
    "bfloat16_trains": Claim(
        "With the largest score subtracted and every step rounded to bfloat16, at most 2 points "
        "more answers are wrong than in float32.",
        "bfloat16/wrong", "float32/wrong", "points", below=2),
    "running_sum_learns_less": Claim(
        "With a denominator added up key by key in bfloat16, and the rate that suits it best, more "
        "answers are wrong after as many updates, by more than 20 points.",
        "running/wrong", "float32/wrong", "points", above=20),
    "patience_does_not_mend_the_sum": Claim(
        "After three times the updates, it still gives more wrong answers than float32 gave after "
        "400, by more than 20 points.",
        "running/longer/wrong", "float32/wrong", "points", above=20),
})  # fmt: skip

STUDY = Experiment(
    name="narrow_training", title="Attention trained in narrow numbers",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, TASK, "held_out_loss"),
    config=lambda: {"task": TASK, "warmup": WARMUP, "arms": reported()},
    kinds={
        "*/updates": number("updates", 0), "*loss": number("nats", 0),
        "*": share(ANSWERS, own=True),
    },
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
