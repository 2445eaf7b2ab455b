"""Does it help to split one width into several heads? One layer that answers several questions.

Twelve positions, each with a class and four pointers to positions. Each is asked for the classes
that its first one, two or four pointers lead to. The layer has the same matrices for every number
of heads, so more heads are narrower ones. Afterwards heads are removed from the trained layers. One
head and sixty-four heads are trained four times as long, too. `--tune` chooses a learning rate for
every arm from one grid, on seeds of its own.
"""

import math
from dataclasses import dataclass, replace
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.layers import FeedForward, MultiHeadAttention
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.descent import CLIP, WARMUP, descend
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(1, 21))
HEADS = (1, 2, 4, 8, 16, 32, 64)
LEARNING_RATES = (0.005, 0.01, 0.02, 0.04)
PATIENCE = 4
"""How many times as long the patient arms train."""
SPARE = 1.0
"""Points of accuracy: a head whose removal costs less is a spare one."""


@dataclass(frozen=True)
class Task:
    """Positions that point to positions, and what each is asked about them."""

    places: int = 12
    classes: int = 4
    pointers: int = 4
    batch_size: int = 32
    test_size: int = 256

    @property
    def width(self) -> int:
        """Features of a position: its name, its class and its pointers, each one-hot."""
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
        """Return the logits (b, n, m, c) that follow from the layer's output, (b, n, e)."""
        return torch.unflatten(self.output(self.feed_forward(attended)), -1, self.shape)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits (b, n, m, c) of features (b, n, e)."""
        return self.read(self.attention(features))


def fit(setting: Setting, task: Task, seed: int) -> tuple[Answerer, list[float]]:
    """Train on fresh batches; return the model and the loss of every update.

    Arms of one seed see the same data, and those of one total width start from the same weights.
    """
    asked = setting.questions

    def draw(generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
        return task.batch(generator, task.batch_size)

    def loss(model: Answerer, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        features, answers, _ = batch
        logits = model(features)[:, :, :asked]
        return F.cross_entropy(logits.flatten(0, 2), answers[..., :asked].flatten())

    return descend(lambda: Answerer(setting, task), draw, loss, setting, seed)


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
        hits = model.read(attended).argmax(-1) == answers
        return 100 * hits[..., :m].double().mean((0, 1))

    whole = parts.sum(0)
    by_question = right(whole)
    share = looked_at(weights, pointers[..., :m]).amax(0)
    order = share.argsort(descending=True).tolist()
    measures = {
        "accuracy": float(by_question.mean()),
        **{f"share/{rank + 1}": float(share[q]) for rank, q in enumerate(order)},
        **{f"right/{rank + 1}": float(by_question[q]) for rank, q in enumerate(order)},
    }
    if setting.num_heads > 1:
        alone = by_question.mean() - torch.stack([right(whole - part).mean() for part in parts])
        least = alone.argsort()[: setting.num_heads // 2]
        without_half = right(whole - parts[least].sum(0)).mean()
        measures |= {
            "removed/least": float(alone.min()),
            "removed/median": float(alone.median()),
            "removed/most": float(alone.max()),
            "removed/half": float(by_question.mean() - without_half),
            "spare": 100.0 * float((alone < SPARE).double().mean()),
        }
    return measures


def looked_at(weights: Tensor, pointers: Tensor) -> Tensor:
    """Return the mean weight that each head puts where each pointer leads, (h, m).

    Only positions count whose pointers lead to m different positions. Elsewhere one weight would
    count for two questions.
    """
    each = weights.take_along_dim(pointers[:, None], dim=-1).double()  # (b, h, q, m)
    apart = (pointers.sort(-1).values.diff() > 0).all(-1)  # (b, q)
    return each.transpose(1, 2)[apart].mean(0)


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: by number of questions and of heads, and one of wide heads.

    "wide" has as many heads as the most, each as wide as those of sixteen.
    """
    four = {f"four/{h}": Setting(h, 4) for h in HEADS}
    two = {f"two/{h}": Setting(h, 2) for h in (1, 2)}
    one = {f"one/{h}": Setting(h, 1) for h in (1, 4, 64)}
    return {**four, **two, **one, "wide/64": Setting(64, 4, head_dim=TASK.width // 16)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and two that train for longer, at the rates that they had."""
    settings = tuned("heads", arms())
    patient = {
        f"patient/{h}": replace(short, steps=PATIENCE * short.steps)
        for h, short in ((1, settings["four/1"]), (64, settings["four/64"]))
    }
    return settings | patient


def of_the_two(runs: Runs) -> list[float]:
    """Return what part of its weight on two questions' positions a head gives to the first."""
    first, second = (runs[f"two/1/share/{rank}"] for rank in (1, 2))
    return [a / (a + b) for a, b in zip(first, second, strict=True)]


def off_two_thirds(runs: Runs) -> list[float]:
    """Return how far that part is from two thirds."""
    return [abs(part - 2 / 3) for part in of_the_two(runs)]


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of three arms, and what is measured of them."""
    task = Task(places=5, classes=3, pointers=2, batch_size=6, test_size=20)
    trace: list[float] = []
    for num_heads, questions, head_dim in ((1, 2, None), (3, 1, None), (9, 2, 4)):
        setting = Setting(num_heads, questions, head_dim, learning_rate=0.01, steps=8)
        trace += fit(setting, task, seed=7)[1]
        measures = outcome(setting, task, seed=7)
        trace += [value for name, value in measures.items() if name.startswith(("final", "share"))]
    return trace


STUDY = Experiment(
    name="heads", title="Self-attention that answers several questions, by number of heads",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 20 updates", digits=".6g"),
    config=lambda: {
        "task": TASK, "hidden": HIDDEN, "warmup": WARMUP, "clip": CLIP, "spare": SPARE,
        "arms": reported(),
    },
    kinds={
        "*/accuracy": share(TASK.test_size, own=True),
        "*/right/*": share(TASK.test_size, own=True), "*/final_loss": number("nats", 0),
        "*/removed/*": number("points", -100, 100), "*/spare": number("% of the heads", 0, 100),
        "*": number("", 0, 1),
    },
    modules=LAYERS,
    claims=read_claims(__file__, off_two_thirds), smoke=smoke,
)  # fmt: skip
