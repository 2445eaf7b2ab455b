"""Does it help to split one width into several heads? One layer that answers several questions.

Twelve places, each with a class and four pointers to places. Every place is asked for the classes
that its first one, two or four pointers lead to. The layer has the same matrices for every number
of heads, so more heads are narrower ones. Afterwards heads are removed from the trained layers.
`--tune` chooses a learning rate for every arm from one grid, on seeds of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.layers import FeedForward, MultiHeadAttention
from experiments.descent import descend
from experiments.record import claim, fingerprint, measure_all, write_result
from experiments.settings import chosen
from experiments.translators import Runs, run_arms
from experiments.trials import command_line, each_rate, tune_rates

STUDY = "heads"
SEEDS = tuple(range(1, 6))
HEADS = (1, 2, 4, 8, 16, 32, 64)
LEARNING_RATES = (0.005, 0.01, 0.02, 0.04)
PATIENCE = 4
"""How many times as long the patient arm trains."""
SPARE = 1.0
"""Points of accuracy: a head whose removal costs less is a spare one."""


@dataclass(frozen=True)
class Task:
    """Places that point to places, and what a place is asked about them."""

    places: int = 12
    classes: int = 4
    pointers: int = 4
    batch_size: int = 32
    test_size: int = 256

    @property
    def width(self) -> int:
        """Features of a place: its name, its class and its pointers, each one-hot."""
        return self.places + self.classes + self.pointers * self.places

    def batch(self, generator: Generator, size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Draw features (b, n, e) of mean square 1, answers (b, n, m) and pointers (b, n, m).

        The names are in order: attention without positions cannot see it.
        """
        n, m = self.places, self.pointers
        classes = torch.randint(self.classes, (size, n), generator=generator)
        pointers = torch.randint(n, (size, n, m), generator=generator)
        parts = [
            F.one_hot(torch.arange(n), n).expand(size, n, n),
            F.one_hot(classes, self.classes),
            F.one_hot(pointers, n).flatten(2),
        ]
        features = torch.cat(parts, dim=-1).float() * math.sqrt(self.width / (2 + m))
        answers = classes[:, :, None].expand(size, n, m).take_along_dim(pointers, 1)
        return features, answers, pointers


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training.

    `questions` is how many of the pointers are asked about; `head_dim` None shares the width out.
    """

    num_heads: int
    questions: int
    head_dim: int | None = None
    learning_rate: float = 0.0
    steps: int = 300


TASK = Task()
HIDDEN = 128
WARMUP = 20
CLIP = 1.0


class Answerer(nn.Module):
    """Self-attention, a feed-forward layer, and logits for every pointer's class."""

    def __init__(self, setting: Setting, task: Task) -> None:
        super().__init__()
        e = task.width
        self.shape = task.pointers, task.classes
        self.attention = MultiHeadAttention(e, setting.num_heads, head_dim=setting.head_dim)
        self.feed_forward = FeedForward(e, HIDDEN)
        self.output = nn.Linear(e, task.pointers * task.classes)

    def read(self, attended: Tensor) -> Tensor:
        """Return the logits (b, n, m, c) that follow from what attention found, (b, n, e)."""
        return torch.unflatten(self.output(self.feed_forward(attended)), -1, self.shape)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits (b, n, m, c) of features (b, n, e)."""
        return self.read(self.attention(features))


def fit(setting: Setting, task: Task, seed: int) -> tuple[Answerer, list[float]]:
    """Train on fresh batches; return the model and the loss of every update.

    Arms of one seed see the same data, and those of one total width start from the same weights.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Answerer(setting, task)
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=setting.learning_rate)

    def loss_of() -> Tensor:
        features, answers, _ = task.batch(generator, task.batch_size)
        logits = model(features)[:, :, : setting.questions]
        return F.cross_entropy(logits.flatten(0, 2), answers[..., : setting.questions].flatten())

    losses = descend(
        model, optimizer, loss_of, setting.steps, setting.learning_rate, warmup=WARMUP, clip=CLIP
    )
    return model, losses


def contributions(attention: MultiHeadAttention, features: Tensor) -> tuple[Tensor, Tensor]:
    """Take the layer's output apart: what each head adds to it, (h, b, n, e), and the weights.

    The output is their sum, so to remove a head is to subtract its part.
    """
    _, weights = attention(features, need_weights=True)
    cut = (attention.num_heads, attention.head_dim)
    values = torch.unflatten(attention.value_proj(features), -1, cut)
    blends = torch.einsum("bhqk,bkhv->hbqv", weights, values)
    joined = torch.unflatten(attention.output_proj.weight, -1, cut)
    return torch.einsum("hbqv,ehv->hbqe", blends, joined), weights


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: its loss, how much it gets right, and what its heads do."""
    model, losses = fit(setting, task, seed)
    return {"final_loss": fmean(losses[-20:]), **examined(model, setting, task, seed)}


@torch.no_grad()
def examined(model: Answerer, setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Measure how much a model gets right, where its heads look, and what each head carries."""
    generator = Generator().manual_seed(90_000 + seed)
    features, answers, pointers = task.batch(generator, task.test_size)
    parts, weights = contributions(model.attention, features)
    m = setting.questions

    def right(attended: Tensor) -> Tensor:
        """Return the share of right answers to every question, (m,) in %."""
        found = model.read(attended).argmax(-1) == answers
        return 100 * found[..., :m].double().mean((0, 1))

    whole = parts.sum(0)
    by_question = right(whole)
    share = looked_at(weights, pointers)[:, :m].amax(0)
    order = share.argsort(descending=True).tolist()
    found = {
        "accuracy": float(by_question.mean()),
        **{f"share/{rank + 1}": float(share[q]) for rank, q in enumerate(order)},
        **{f"right/{rank + 1}": float(by_question[q]) for rank, q in enumerate(order)},
    }
    if setting.num_heads > 1:
        alone = by_question.mean() - torch.stack([right(whole - part).mean() for part in parts])
        least = alone.argsort()[: setting.num_heads // 2]
        without_half = right(whole - parts[least].sum(0)).mean()
        found |= {
            "removed/least": float(alone.min()),
            "removed/median": float(alone.median()),
            "removed/most": float(alone.max()),
            "removed/half": float(by_question.mean() - without_half),
            "spare": 100.0 * float((alone < SPARE).double().mean()),
        }
    return found


def looked_at(weights: Tensor, pointers: Tensor) -> Tensor:
    """Return the mean weight that each head puts where each pointer leads, (h, m).

    Args:
        weights: (b, h, q, k).
        pointers: (b, q, m).
    """
    each = weights.take_along_dim(pointers[:, None], dim=-1)
    return each.double().mean((0, 2))


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: by number of questions and of heads, and one of wide heads.

    "wide" has as many heads as the most, each as wide as those of sixteen.
    """
    four = {f"four/{h}": Setting(h, 4) for h in HEADS}
    two = {f"two/{h}": Setting(h, 2) for h in (1, 2, 4)}
    one = {f"one/{h}": Setting(h, 1) for h in (1, 4, 64)}
    return {**four, **two, **one, "wide/64": Setting(64, 4, head_dim=TASK.width // 16)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and a single head that trains for longer, at the rate it had."""
    settings = chosen(STUDY)
    found = {name: Setting(**settings[name]) for name in arms()}
    single = found["four/1"]
    return {**found, "patient/1": replace(single, steps=PATIENCE * single.steps)}


def tune(workers: int) -> None:
    """Try every learning rate on every arm; record all, and the best of each."""
    trials = each_rate(arms(), LEARNING_RATES, TASK)
    tune_rates(
        STUDY,
        trials,
        outcome,
        "final_loss",
        workers,
        metric="loss of the last 20 updates",
        digits=".6g",
    )


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of three arms, and what is measured of them."""
    task = Task(places=5, classes=3, pointers=2, batch_size=6, test_size=20)
    trace: list[float] = []
    for num_heads, questions, head_dim in ((1, 2, None), (3, 1, None), (9, 2, 4)):
        setting = Setting(num_heads, questions, head_dim, learning_rate=0.01, steps=8)
        trace += fit(setting, task, seed=7)[1]
        found = outcome(setting, task, seed=7)
        trace += [value for name, value in found.items() if name.startswith(("final", "share"))]
    return trace


def main(workers: int = 2) -> None:
    """Train every arm on every seed, and write the record."""
    settings = reported()
    runs = run_arms(outcome, settings, TASK, SEEDS, workers)
    write_result(
        STUDY,
        title="Self-attention that answers several questions, by number of heads",
        command="python -m experiments.heads",
        seeds=SEEDS,
        threads=1,
        config={
            "task": TASK,
            "hidden": HIDDEN,
            "warmup": WARMUP,
            "clip": CLIP,
            "spare": SPARE,
            "arms": settings,
        },
        measures=measure_all(runs, unit_of),
        claims=claims(runs),
        fingerprint=fingerprint(smoke()),
    )


def unit_of(what: str) -> str:
    """Return the unit of a measure."""
    kind = what.partition("/")[0]
    return {
        "accuracy": "%",
        "right": "%",
        "final_loss": "nats",
        "removed": "points",
        "spare": "% of the heads",
    }.get(kind, "")


def claims(runs: Mapping[str, Runs]) -> dict[str, dict[str, object]]:
    """Decide every sentence that the page puts on the scale."""

    def right(name: str) -> list[float]:
        return runs[name]["accuracy"]

    sixteen = runs["four/16"]
    return {
        "four_beat_one": claim(
            "Where each place asks four questions, four heads answer more of them than one head of "
            "the same parameters.",
            right("four/4"), right("four/1"), unit="points", side="above",
        ),
        "one_cannot_do_two": claim(
            "A single head answers fewer of two questions than two heads do, by more than 5 "
            "points.",
            right("two/2"), right("two/1"), unit="points", side="above", threshold=5.0,
        ),
        "one_question_needs_one": claim(
            "Where each place asks one question, four heads and one differ by less than 1 point.",
            [abs(a - b) for a, b in zip(right("one/4"), right("one/1"), strict=True)], None,
            unit="points", side="below", threshold=1.0,
        ),
        "patience_suffices": claim(
            "Trained four times as long, a single head comes within 5 points of four heads.",
            right("four/4"), right("patient/1"), unit="points", side="below", threshold=5.0,
        ),
        "rank_limit_bites": claim(
            "Sixteen heads of width 4, a third of the number of keys, answer fewer of four "
            "questions than four heads of width 16.",
            right("four/16"), right("four/4"), unit="points", side="below",
        ),
        "narrowest_lose": claim(
            "Sixty-four heads of width 1 answer fewer of four questions than four heads of "
            "width 16.",
            right("four/64"), right("four/4"), unit="points", side="below",
        ),
        "width_is_the_cause": claim(
            "Sixty-four heads of width 4, with four times the parameters in attention, answer more "
            "than sixty-four of width 1.",
            right("wide/64"), right("four/64"), unit="points", side="above",
        ),
        "most_heads_spare": claim(
            "Of sixteen heads, more than half can be removed, each alone, for less than 1 point.",
            sixteen["spare"], None, unit="% of the heads", side="above", threshold=50.0,
        ),
        "half_together": claim(
            "The eight of sixteen heads that matter least alone can be removed together for less "
            "than 5 points.",
            sixteen["removed/half"], None, unit="points", side="below", threshold=5.0,
        ),
    }  # fmt: skip


if __name__ == "__main__":
    command_line(__doc__, tune, main)
