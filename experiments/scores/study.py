"""What does the square root do? Scores before training, and a lookup trained with three scales.

Before training: queries and keys are drawn as the theory assumes, and the gradients behind the
softmax are measured by width. Training: one head of attention finds the matching one of sixteen
keys, with the dot product as it is, over sqrt(d), and over d. `--tune` chooses a learning rate for
every arm from one grid, on seeds of its own.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import attention_with_weights, scaled_dot_product_attention
from companion.scores import dot_score, scaled_dot_score
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import SMALL
from experiments.engine.descent import WARMUP
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number
from experiments.engine.trials import Trials, tuned

Scale = Literal["none", "root", "width"]
Size = Literal["plain", "small"]
Optimizer = Literal["adam", "momentum"]

SEEDS = tuple(range(1, 21))
SCALES: dict[Scale, Callable[[int], float]] = {
    "none": lambda width: 1.0,
    "root": lambda width: 1 / math.sqrt(width),
    "width": lambda width: 1 / width,
}
START_WIDTHS = (4, 16, 64, 256, 1024)
WIDTHS = (4, 16, 64, 256)
WIDEST = WIDTHS[-1]
LEARNING_RATES: dict[Optimizer, tuple[float, ...]] = {
    "adam": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3),
    "momentum": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
}
SAME_RATE = 0.1
"""A learning rate that is not tuned: momentum descends with and without the scale alike."""


# Before training


@dataclass(frozen=True)
class Start:
    """How many queries are drawn, each with keys and values of its own, all entries N(0, 1)."""

    queries: int = 2000
    keys: int = 64
    value_width: int = 64
    at_once: int = 100


def before_training(width: int, start: Start, seed: int) -> dict[str, float]:
    """Measure weights and gradients at one width, on the same draws for every scale.

    The gradient that comes from above has length 1 and a random direction for each query.
    """
    columns = drawn(width, start, seed)
    measures = {"variance": float(columns.pop("dot").var())}
    for name, values in columns.items():
        measures[f"{name}/mean"] = float(values.mean())
        measures[f"{name}/median"] = float(values.median())
        if name.endswith("query_gradient"):
            measures[f"{name}/busy"] = busy_share(values)
    return measures


def drawn(width: int, start: Start, seed: int) -> dict[str, Tensor]:
    """Return what is measured at one width, by its name, a number for every query."""
    generator = Generator().manual_seed(seed)
    parts: defaultdict[str, list[Tensor]] = defaultdict(list)
    for _ in range(start.queries // start.at_once):
        for name, values in _measured_at_once(width, start, generator):
            parts[name].append(values)
    return {name: torch.cat(values).double() for name, values in parts.items()}


def _measured_at_once(
    width: int, start: Start, generator: Generator
) -> Iterator[tuple[str, Tensor]]:
    b, k, v = start.at_once, start.keys, start.value_width
    query = torch.randn(b, 1, width, generator=generator, requires_grad=True)
    key = torch.randn(b, k, width, generator=generator)
    value = torch.randn(b, k, v, generator=generator, requires_grad=True)
    above = F.normalize(torch.randn(b, 1, v, generator=generator), dim=-1)
    yield "dot", dot_score(query, key).detach().flatten()
    for name, scale in SCALES.items():
        output, weights = attention_with_weights(query, key, value, scale=scale(width))
        at_query, at_value = torch.autograd.grad((output * above).sum(), (query, value))
        weights = weights.detach()[:, 0].double()
        yield f"{name}/trace", 1 - weights.square().sum(-1)
        yield f"{name}/largest", weights.amax(-1)
        yield f"{name}/entropy", torch.special.entr(weights).sum(-1)
        yield f"{name}/query_gradient", at_query[:, 0].norm(dim=-1)
        yield f"{name}/value_gradient", at_value.flatten(1).norm(dim=-1)


def busy_share(gradients: Tensor) -> float:
    """Return the least percentage of queries that have nine tenths of all gradient.

    >>> busy_share(torch.tensor([0.0, 9.0, 0.5, 0.5]))
    25.0
    """
    shares = gradients.sort(descending=True).values.cumsum(0) / gradients.sum()
    return 100.0 * float((shares < 0.9 - 1e-9).sum() + 1) / len(gradients)


# Training


@dataclass(frozen=True)
class Task:
    """Find the key that a noisy query was made from, and say which class its value has."""

    batch_size: int = 32
    keys: int = 16
    queries: int = 8
    embed_dim: int = 16
    classes: int = 8
    noise: float = 0.7

    def batch(self, generator: Generator) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Draw queries (b, q, e), keys (b, k, e), classes as values (b, k, c), and answers."""
        shape = self.batch_size, self.keys, self.embed_dim
        keys = F.normalize(torch.randn(shape, generator=generator), dim=-1)
        keys = keys * math.sqrt(self.embed_dim)
        classes = torch.randint(self.classes, shape[:2], generator=generator)
        asked = torch.randint(self.keys, (self.batch_size, self.queries), generator=generator)
        exact = keys.take_along_dim(asked[..., None], 1)
        queries = exact + self.noise * torch.randn(exact.shape, generator=generator)
        values = F.one_hot(classes, self.classes).float()
        return queries, keys, values, classes.take_along_dim(asked, 1)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training.

    `start` and `rate` say whether the first query and key weights, and their share of the learning
    rate, are made as small as a scale of 1 / sqrt(d) would let them act.
    """

    optimizer: Optimizer
    width: int
    scale: Scale
    start: Size = "plain"
    rate: Size = "plain"
    learning_rate: float = 0.0
    steps: int = 200


TASK = Task()
LONGER = 5
"""How many times as many updates some arms get in a second training, at the same rates."""
HIDDEN = 32
MOMENTUM = 0.9
CEILING = 10.0
"""Nats: the loss of every update after a training has blown up."""


class Lookup(nn.Module):
    """One head of attention with learned projections, and a linear layer to the classes."""

    def __init__(self, setting: Setting, task: Task, generator: Generator) -> None:
        super().__init__()
        e, d, c = task.embed_dim, setting.width, task.classes
        small = d**-0.25 if setting.start == "small" else 1.0
        self.scale = SCALES[setting.scale](d)
        self.query_weight = _weight(e, d, generator, small)
        self.key_weight = _weight(e, d, generator, small)
        self.value_weight = _weight(c, HIDDEN, generator)
        self.output_weight = _weight(HIDDEN, c, generator)

    def scores(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return the scores that the softmax gets, (b, q, k)."""
        return scaled_dot_score(
            queries @ self.query_weight, keys @ self.key_weight, scale=self.scale
        )

    def forward(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Return the logits of the classes, (b, q, c)."""
        blend = scaled_dot_product_attention(
            queries @ self.query_weight, keys @ self.key_weight, values @ self.value_weight,
            scale=self.scale,
        )  # fmt: skip
        return blend @ self.output_weight


def _weight(rows: int, columns: int, generator: Generator, factor: float = 1.0) -> nn.Parameter:
    drawn = torch.randn(rows, columns, generator=generator)
    return nn.Parameter(drawn * factor / math.sqrt(rows))


def _optimizer(model: Lookup, setting: Setting) -> torch.optim.Optimizer:
    """Return the optimizer, with a rate of its own for the query and key weights."""
    power = {"plain": 0.0, "small": -0.25 if setting.optimizer == "adam" else -0.5}
    groups = [
        {
            "params": [model.query_weight, model.key_weight],
            "factor": setting.width ** power[setting.rate],
        },
        {"params": [model.value_weight, model.output_weight], "factor": 1.0},
    ]
    if setting.optimizer == "adam":
        return torch.optim.Adam(groups, lr=0.0)
    return torch.optim.SGD(groups, lr=0.0, momentum=MOMENTUM)


def fit(setting: Setting, task: Task, seed: int) -> tuple[Lookup, list[float]]:
    """Train on fresh batches without clipping; return the model and the loss of every update.

    Arms of one width and seed start from the same weights, but for `start`, and see the same data.
    """
    generator = Generator().manual_seed(seed)
    model = Lookup(setting, task, generator)
    optimizer = _optimizer(model, setting)
    losses: list[float] = []
    for step in range(setting.steps):
        queries, keys, values, answers = task.batch(generator)
        logits = model(queries, keys, values)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
        if not loss.item() < CEILING:
            return model, losses + [CEILING] * (setting.steps - step)
        losses.append(loss.item())
        for group in optimizer.param_groups:
            group["lr"] = setting.learning_rate * group["factor"] * min(1, (step + 1) / WARMUP)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        optimizer.step()
    return model, losses


def spread(model: Lookup, task: Task) -> float:
    """Return the standard deviation of the scores over the keys of a query, a mean over queries."""
    queries, keys, *_ = task.batch(Generator().manual_seed(0))
    with torch.no_grad():
        spreads = model.scores(queries, keys).std(-1)
    return min(float(spreads.nan_to_num(math.inf).mean()), 1e6)


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: how fast the loss falls, where it ends, and what becomes of the scores."""
    untrained, _ = fit(replace(setting, steps=0), task, seed)
    model, losses = fit(setting, task, seed)
    half = math.log(task.classes) / 2
    tens = [fmean(losses[i : i + 10]) for i in range(0, len(losses), 10)]
    fast = next((10 * (i + 1) for i, loss in enumerate(tens) if loss < half), len(losses))
    return {
        "mean_loss": fmean(losses), "final_loss": fmean(losses[-20:]),
        "updates_to_half": float(fast), "spread_before": spread(untrained, task),
        "spread_after": spread(model, task),
    }  # fmt: skip


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: optimizers, widths and scales, and the scale taken apart."""
    settings = {
        f"{optimizer}/{width}/{scale}": Setting(optimizer, width, scale)
        for optimizer, width, scale in product(LEARNING_RATES, WIDTHS, SCALES)
    }
    for optimizer in LEARNING_RATES:
        plain = Setting(optimizer, WIDEST, "none")
        settings[f"{optimizer}/{WIDEST}/small_start"] = replace(plain, start="small")
        settings[f"{optimizer}/{WIDEST}/small_rate"] = replace(plain, rate="small")
    return settings


TRAINED_LONGER = (
    *(f"adam/{WIDEST}/{arm}" for arm in ("none", "root", "small_start")),
    *(f"momentum/{WIDEST}/{arm}" for arm in ("none", "root")),
)
"""The arms of the claims that failed after the shorter training."""


def reported() -> dict[str, Setting]:
    """Return the tuned arms, two that share one learning rate, and some that train for longer."""
    settings = tuned("scores", arms())
    for arm in TRAINED_LONGER:
        setting = settings[arm]
        settings[f"longer/{arm}"] = replace(setting, steps=LONGER * setting.steps)
    for scale in ("none", "root"):
        setting = replace(settings[f"momentum/{WIDEST}/{scale}"], learning_rate=SAME_RATE)
        settings[f"same_rate/{WIDEST}/{scale}"] = setting
    return settings


def starts(seed: int) -> dict[str, float]:
    """Measure every width before training."""
    return {
        f"start/{width}/{what}": value
        for width in START_WIDTHS
        for what, value in before_training(width, Start(), seed).items()
    }


def smoke() -> list[float]:
    """Run the whole pipeline small: gradients at two widths, and a few updates of five arms."""
    trace: list[float] = []
    start = Start(queries=40, keys=7, value_width=5, at_once=20)
    for width in (3, 48):
        trace += before_training(width, start, seed=7).values()
    task = Task(batch_size=6, keys=5, queries=3, embed_dim=7, classes=4)
    first = Setting("adam", 24, "none", learning_rate=0.03, steps=6)
    for change in (
        {},
        {"scale": "root"},
        {"scale": "width", "optimizer": "momentum", "learning_rate": 0.3},
        {"start": "small"},
        {"rate": "small"},
    ):
        setting = replace(first, **change)
        trace += fit(setting, task, seed=7)[1]
        trace += outcome(setting, task, seed=7).values()
    return trace


def slowdown(runs: Runs, arm: str) -> list[float]:
    """Return by how many nats an arm is slower without the scale than with it."""
    without, scaled = (runs[f"{arm}/{scale}/mean_loss"] for scale in ("none", "root"))
    return [a - b for a, b in zip(without, scaled, strict=True)]


def half_slowdown(runs: Runs, arm: str) -> list[float]:
    """Return half of that."""
    return [0.5 * nats for nats in slowdown(runs, arm)]


STUDY = Experiment(
    name="scores", title="Scores, and what the square root does to training",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, beside=starts,
    trials=Trials(arms, lambda setting: LEARNING_RATES[setting.optimizer], TASK, "mean_loss"),
    config=lambda: {
        "start": Start(), "task": TASK, "hidden": HIDDEN, "momentum": MOMENTUM, "warmup": WARMUP,
        "arms": reported(),
    },
    kinds={
        "*/busy": number("% of the queries", 0, 100), "*entropy*": number("nats", 0),
        "*_loss": number("nats", 0), "*/updates_to_half": number("updates", 0),
        "*/trace/*": number("", 0, 1), "*/largest/*": number("", 0, 1), "*": number("", 0),
    },
    modules=SMALL,
    claims=read_claims(__file__, slowdown, half_slowdown), smoke=smoke,
)  # fmt: skip
