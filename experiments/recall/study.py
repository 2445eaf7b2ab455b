"""What does a state of fixed size forget? Associative recall, against the number of pairs.

A text shows pairs of a key and a value, and then asks for each key (Arora et al., 2024). One
layer must find the values: softmax attention keeps all keys, a window the last ones, and the linear
forms a state of d x v numbers, into which they add, forget, or write by the delta rule. Adding and
the delta rule are trained twice as long, too, to see whether either has more to gain. `--tune`
chooses a learning rate for every arm from one grid, on seeds of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.linear import chunked_linear_attention, elu_feature_map, linear_attention
from companion.masks import sliding_window_mask
from experiments.engine.claims_file import read_claims
from experiments.engine.code import SMALL
from experiments.engine.descent import CLIP, WARMUP, Model, descend
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(1, 21))
LEARNING_RATES = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)

Mixer = Literal["softmax", "window", "features", "sum", "decay", "delta"]


@dataclass(frozen=True)
class Task:
    """Pairs of a key and a value, then every key again, in another order.

    Ids are keys first, and then values; no key occurs in two pairs of a text.
    """

    keys: int = 64
    values: int = 32
    pairs: tuple[int, ...] = (2, 4, 8, 16, 32)
    batch_size: int = 16
    test_size: int = 60

    def draw(self, rows: int, pairs: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw texts (b, 3 n) of n pairs, answers (b, n), and which pair each is of, (b, n)."""
        order = torch.rand(rows, self.keys, generator=generator).argsort(1)
        keys = order[:, :pairs]
        values = torch.randint(self.values, (rows, pairs), generator=generator)
        asked = torch.rand(rows, pairs, generator=generator).argsort(1)
        shown = torch.stack((keys, values + self.keys), -1).flatten(1)
        tokens = torch.cat((shown, keys.take_along_dim(asked, 1)), 1)
        return tokens, values.take_along_dim(asked, 1), asked


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    mixer: Mixer
    learning_rate: float = 0.0
    steps: int = 2000


TASK = Task()
WIDTH = 32
KEY_WIDTH = 8
VALUE_WIDTH = 8
WINDOW = 24
PATIENCE = 2
"""How many times as long the patient arms train."""
KEPT = 4.0
"""Where the logit of what is kept begins: 98 % a step."""


class Recaller(nn.Module):
    """Every position reads its token and the one before; one mixer looks back; logits of values."""

    def __init__(self, mixer: Mixer, task: Task) -> None:
        super().__init__()
        self.mixer = mixer
        self.embedding = nn.Embedding(task.keys + task.values, WIDTH)
        self.reading = nn.Linear(2 * WIDTH, WIDTH)
        self.query_proj = nn.Linear(WIDTH, KEY_WIDTH, bias=False)
        self.key_proj = nn.Linear(WIDTH, KEY_WIDTH, bias=False)
        self.value_proj = nn.Linear(WIDTH, VALUE_WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, 1) if mixer in ("decay", "delta") else None
        if self.gate is not None:
            nn.init.constant_(self.gate.bias, KEPT if mixer == "decay" else 0.0)
        self.output = nn.Linear(VALUE_WIDTH, task.values)

    def read(self, tokens: Tensor) -> Tensor:
        """Return what every position is made of, its token and the one before, (b, n, e)."""
        now = self.embedding(tokens)
        before = F.pad(now[:, :-1], (0, 0, 1, 0))
        read: Tensor = self.reading(torch.cat((now, before), -1))
        return read

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits of values (b, n, values) for tokens (b, n)."""
        x = self.read(tokens)
        query, key, value = self.query_proj(x), self.key_proj(x), self.value_proj(x)
        gate = None if self.gate is None else torch.sigmoid(self.gate(x)[..., 0])
        mixed: Tensor = self.output(mixed_by(self.mixer, query, key, value, gate))
        return mixed


def mixed_by(
    mixer: Mixer, query: Tensor, key: Tensor, value: Tensor, gate: Tensor | None
) -> Tensor:
    """Look back from every position, (b, n, d), (b, n, d), (b, n, v) -> (b, n, v).

    Args:
        mixer: "softmax" and "window" attend; "features" is linear attention with elu + 1 and a
            divisor; the rest have queries and keys of length 1 and add ("sum"), add and forget
            ("decay"), or write by the delta rule ("delta").
        gate: (b, n), what "decay" keeps and "delta" writes.
    """
    if mixer == "softmax":
        return scaled_dot_product_attention(query, key, value, is_causal=True)
    if mixer == "window":
        mask = sliding_window_mask(query.shape[1], left=WINDOW - 1, like=query)
        return scaled_dot_product_attention(query, key, value, mask)
    if mixer == "features":
        return linear_attention(query, key, value, feature_map=elu_feature_map)
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    if mixer == "delta":
        return chunked_linear_attention(query, key, value, beta=gate, chunk_size=32)[0]
    return linear_attention(query, key, value, decay=gate)


def learn(
    make: Callable[[], Model], task: Task, setting: Any, seed: int
) -> tuple[Model, list[float]]:
    """Train what reads tokens on fresh texts, of a number of pairs drawn for every batch.

    Arms of one seed see the same texts.
    """

    def draw(generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
        pairs = task.pairs[int(torch.randint(len(task.pairs), (), generator=generator))]
        return task.draw(task.batch_size, pairs, generator)

    def loss(model: Model, batch: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        tokens, answers, _ = batch
        logits = model(tokens)[:, -answers.shape[1] :]
        return F.cross_entropy(logits.flatten(0, 1), answers.flatten())

    return descend(make, draw, loss, setting, seed)


def fit(setting: Setting, task: Task, seed: int) -> tuple[Recaller, list[float]]:
    """Train one arm."""
    return learn(lambda: Recaller(setting.mixer, task), task, setting, seed)


@torch.no_grad()
def measured(model: Recaller, task: Task, seed: int) -> dict[str, float]:
    """Measure right answers in % by number of pairs, and by age of the pair where they are most.

    Age 1 is the oldest quarter. A model with a gate is also asked for its mean where keys, values
    and questions stand.
    """
    measures: dict[str, float] = {}
    for pairs in task.pairs:
        generator = Generator().manual_seed(90_000 + seed)
        tokens, answers, asked = task.draw(task.test_size, pairs, generator)
        right = (model(tokens)[:, 2 * pairs :].argmax(-1) == answers).double()
        measures[f"accuracy/{pairs}"] = 100 * float(right.mean())
        if model.mixer == "window":
            measures[f"reach/{pairs}"] = 100 * float(in_reach(asked).double().mean())
    for quarter in range(4):
        there = asked // (pairs // 4) == quarter
        measures[f"age/{quarter + 1}"] = 100 * float(right[there].mean())
    if model.gate is not None:
        gates = torch.sigmoid(model.gate(model.read(tokens))[..., 0]).double()
        shown = torch.unflatten(gates[:, : 2 * pairs], 1, (pairs, 2))
        measures |= {
            "gate/keys": float(shown[..., 0].mean()),
            "gate/values": float(shown[..., 1].mean()),
            "gate/questions": float(gates[:, 2 * pairs :].mean()),
        }
    return measures


def in_reach(asked: Tensor) -> Tensor:
    """Say of every question (b, n) whether the window still holds the value that it asks for.

    >>> in_reach(torch.tensor([[0, 1]])).all()
    tensor(True)
    """
    pairs = asked.shape[1]
    return 2 * pairs + torch.arange(pairs) - (2 * asked + 1) < WINDOW


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: its loss, its right answers, and what its gate does."""
    model, losses = fit(setting, task, seed)
    return {"final_loss": fmean(losses[-50:]), **measured(model, task, seed)}


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: everything that looks back."""
    return {mixer: Setting(mixer) for mixer in get_args(Mixer)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and two that train for longer, at the rates they had."""
    settings = tuned("recall", arms())
    return settings | {
        f"{name}-long": replace(settings[name], steps=PATIENCE * settings[name].steps)
        for name in ("sum", "delta")
    }


def numbers_kept(mixer: str, length: int) -> int:
    """Return how many numbers are kept to look back on so many tokens.

    >>> [numbers_kept(mixer, 64) for mixer in ("softmax", "window", "features", "delta")]
    [1024, 384, 72, 64]
    """
    if mixer in ("softmax", "window"):
        return (length if mixer == "softmax" else min(length, WINDOW)) * (KEY_WIDTH + VALUE_WIDTH)
    return KEY_WIDTH * (VALUE_WIDTH + (mixer == "features"))


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(keys=20, values=5, pairs=(4, 16), batch_size=4, test_size=6)
    trace: list[float] = []
    for arm in arms().values():
        model, losses = fit(replace(arm, learning_rate=0.01, steps=4), task, seed=7)
        tokens, _, asked = task.draw(task.test_size, 16, Generator().manual_seed(7))
        with torch.no_grad():
            trace += [*losses, float(model(tokens).square().mean())]
        measures = measured(model, task, seed=7)
        trace += [fmean(v for k, v in measures.items() if k[:4] == "accu") / 1000]
        trace += [v for k, v in measures.items() if k[:4] == "gate"]
        trace.append(float(in_reach(asked).double().mean()))
    return trace


STUDY = Experiment(
    name="recall", title="Associative recall by ways to look back, against the number of pairs",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 50 updates"),
    config=lambda: {
        "task": TASK, "width": WIDTH, "key_width": KEY_WIDTH, "value_width": VALUE_WIDTH,
        "window": WINDOW, "warmup": WARMUP, "clip": CLIP, "kept": KEPT, "patience": PATIENCE,
        "numbers": {name: numbers_kept(name, 2 * max(TASK.pairs)) for name in arms()},
        "arms": reported(),
    },
    kinds={
        "*/final_loss": number("nats", 0), "*/gate/*": number("", 0, 1),
        "*": share(TASK.test_size, own=True),
    },
    modules=(*SMALL, "companion.linear"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
