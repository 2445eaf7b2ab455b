"""Trained on short texts, tested on long ones: does a lead keep up with the number of keys?

The task and the model of `experiments.recall`, with softmax attention, and many more keys to tell
apart. Training shows up to 8 pairs, the test up to 512. One arm has plain scores; the other
multiplies them by the logarithm of the number of keys (Chiang and Cholak, 2022; Nakanishi, 2025).
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Literal, get_args

import torch
from torch import Generator, Tensor

from companion.attention import attention_with_weights
from experiments.engine.claims_file import read_claims
from experiments.engine.code import SMALL
from experiments.engine.descent import CLIP, WARMUP
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned
from experiments.recall.study import Recaller, Task, learn

Scores = Literal["plain", "log"]
LONGER = (32, 128, 512)
"""Pairs of longer texts than any of training."""
LEARNING_RATES = (0.0025, 0.005, 0.01)
SEEDS = tuple(range(11, 31))


@dataclass(frozen=True)
class Setting:
    """One arm and its training."""

    scores: Scores
    learning_rate: float = 0.0
    steps: int = 1500


TASK = Task(keys=512, pairs=(2, 4, 8), test_size=20)
ONE = math.log(3 * max(TASK.pairs))
"""The logarithm that leaves the scores as they are: that of the longest text of training."""


class Looker(Recaller):
    """A recaller whose scores may grow with the logarithm of the number of keys."""

    def __init__(self, scores: Scores, task: Task) -> None:
        super().__init__("softmax", task)
        self.scores = scores

    def look(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits of values (b, n, values) and the weights (b, n, n)."""
        x = self.read(tokens)
        query = self.query_proj(x)
        if self.scores == "log":
            counts = torch.arange(1, tokens.shape[1] + 1)
            query = query * (counts.log() / ONE)[:, None]
        mixed, weights = attention_with_weights(
            query, self.key_proj(x), self.value_proj(x), is_causal=True
        )
        return self.output(mixed), weights

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits of values (b, n, values)."""
        return self.look(tokens)[0]


def fit(setting: Setting, task: Task, seed: int) -> tuple[Looker, list[float]]:
    """Train one arm; arms of one seed see the same texts."""
    return learn(partial(Looker, setting.scores, task), task, setting, seed)


@torch.no_grad()
def measured(model: Looker, task: Task, seed: int, pairs: int) -> dict[str, float]:
    """Measure right answers in %, and weight and lead of the pair that is asked for.

    The first question alone is scored, so that the keys are those of the pairs and its own.
    """
    generator = Generator().manual_seed(90_000 + seed)
    tokens, answers, asked = task.draw(task.test_size, pairs, generator)
    shown = 2 * pairs
    right, weight = [], []
    for at in range(0, pairs, max(1, pairs // 8)):  # eight questions a text, each as the first
        asks = tokens[:, shown + at, None]
        logits, weights = model.look(torch.cat((tokens[:, :shown], asks), 1))
        right.append(logits[:, -1].argmax(-1) == answers[:, at])
        place = 2 * asked[:, at, None] + 1
        weight.append(weights[:, -1].gather(1, place)[:, 0])
    mine = torch.stack(weight).double().clamp(1e-12, 1 - 1e-12)
    return {
        f"{pairs}/right": 100 * float(torch.stack(right).double().mean()),
        f"{pairs}/weight": float(mine.mean()),
        f"{pairs}/lead": float((mine.log() - ((1 - mine) / shown).log()).mean()),
    }


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: its loss, and its answers to shorter and longer texts."""
    model, losses = fit(setting, task, seed)
    found = {"final_loss": fmean(losses[-50:])}
    for pairs in (*task.pairs, *LONGER):
        found |= measured(model, task, seed, pairs)
    return found


def arms() -> dict[str, Setting]:
    """Return both ways of scoring, before they are tuned."""
    return {scores: Setting(scores) for scores in get_args(Scores)}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of both arms, and what is measured of them."""
    task = Task(keys=20, values=5, pairs=(2, 4), batch_size=4, test_size=3)
    trace: list[float] = []
    for setting in arms().values():
        model, losses = fit(replace(setting, learning_rate=0.01, steps=4), task, seed=7)
        found = measured(model, task, 7, pairs=16)
        trace += [*losses, found["16/weight"], found["16/lead"]]
    return trace


STUDY = Experiment(
    name="dilution", title="Recall from texts that are longer than those of training",
    seeds=SEEDS, arms=lambda: on(TASK, tuned("dilution", arms())), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 50 updates"),
    config=lambda: {
        "task": TASK, "longer": LONGER, "warmup": WARMUP, "clip": CLIP,
        "arms": tuned("dilution", arms()),
    },
    kinds={
        "*/final_loss": number("nats", 0), "*/weight": number("", 0, 1), "*/lead": number(""),
        "*": share(TASK.test_size, own=True),
    },
    modules=(*SMALL, "experiments.recall.study"),
    claims=read_claims(__file__), smoke=smoke, workers=1,
)  # fmt: skip
