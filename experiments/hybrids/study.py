"""Three layers of state and one of attention, and attention that reads few of its keys.

Both are asked for pairs of a key and a value, as in the study of recall. Four layers of state,
written by the delta rule, are compared with three of them below one layer of attention; because
they learn slowly, they train three times as long. What attention reads is cut to the keys with the
k best scores: after training in every model that attends, and in three models of one layer during
training, too. Two arms see texts of twice as many pairs. `--tune` chooses a learning rate for every
arm from one grid, on seeds of its own.
"""

from dataclasses import dataclass, replace
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.indexed import top_keys
from companion.masks import causal_mask
from companion.scores import scaled_dot_score
from experiments.engine.claims_file import read_claims
from experiments.engine.code import SMALL
from experiments.engine.descent import CLIP, WARMUP
from experiments.engine.experiment import Arm, Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned
from experiments.recall.study import KEY_WIDTH, TASK, VALUE_WIDTH, WIDTH, Task, learn, mixed_by

SEEDS = tuple(range(9, 29))
"""Fresh ones: an earlier record of this study had seeds 1 to 8, one rate, and no tuning."""
LEARNING_RATES = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
LONG = replace(TASK, keys=128, pairs=(*TASK.pairs, 64))
MOST = max(TASK.pairs)


def read_by(task: Task) -> list[int]:
    """Return how many keys are read when a model is tested: the powers of 2 below all of them.

    >>> read_by(TASK)
    [1, 2, 4, 8, 16, 32, 64]
    """
    return [2**n for n in range((3 * max(task.pairs) - 1).bit_length())]


@dataclass(frozen=True)
class Setting:
    """One arm: layers of state below layers of attention, and how many keys it may read.

    0 keys are all of them.
    """

    states: int
    attention: int
    keys: int = 0
    learning_rate: float = 0.0
    steps: int = 400


class Layer(nn.Module):
    """A state, or causal attention to the best keys, added to what it has read; 0 keys are all."""

    def __init__(self, attends: bool, keys: int) -> None:
        super().__init__()
        self.attends, self.keys = attends, keys
        self.norm = nn.RMSNorm(WIDTH)
        self.inputs = nn.Linear(WIDTH, 2 * KEY_WIDTH + VALUE_WIDTH, bias=False)
        self.gate = None if attends else nn.Linear(WIDTH, 1)
        self.output = nn.Linear(VALUE_WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Compute (b, n, e) from (b, n, e)."""
        read = self.norm(x)
        query, key, value = self.inputs(read).split((KEY_WIDTH, KEY_WIDTH, VALUE_WIDTH), -1)
        if self.gate is not None:
            mixed = mixed_by("delta", query, key, value, torch.sigmoid(self.gate(read)[..., 0]))
        elif self.keys:
            seen = causal_mask(x.shape[1], like=x)
            best = top_keys(scaled_dot_score(query, key).detach(), self.keys, seen)
            mixed = scaled_dot_product_attention(query, key, value, best)
        else:
            mixed = mixed_by("softmax", query, key, value, None)
        output: Tensor = x + self.output(mixed)
        return output


class Stack(nn.Module):
    """Every position reads its token and the one before; layers; logits of values."""

    def __init__(self, setting: Setting, task: Task) -> None:
        super().__init__()
        self.embedding = nn.Embedding(task.keys + task.values, WIDTH)
        self.reading = nn.Linear(2 * WIDTH, WIDTH)
        kinds = [False] * setting.states + [True] * setting.attention
        self.layers = nn.Sequential(*(Layer(attends, setting.keys) for attends in kinds))
        self.output = nn.Sequential(nn.RMSNorm(WIDTH), nn.Linear(WIDTH, task.values))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return logits of values (b, n, values) for tokens (b, n)."""
        now = self.embedding(tokens)
        before = F.pad(now[:, :-1], (0, 0, 1, 0))
        logits: Tensor = self.output(self.layers(self.reading(torch.cat((now, before), -1))))
        return logits


def fit(setting: Setting, task: Task, seed: int) -> tuple[Stack, list[float]]:
    """Train one arm; arms of one seed see the same texts."""
    return learn(lambda: Stack(setting, task), task, setting, seed)


@torch.no_grad()
def measured(model: Stack, task: Task, seed: int) -> dict[str, float]:
    """Measure right answers in %, by number of pairs and, with most of them, by keys read."""

    def right(pairs: int) -> float:
        tokens, answers, _ = task.draw(
            task.test_size, pairs, Generator().manual_seed(90_000 + seed)
        )
        return 100 * float((model(tokens)[:, 2 * pairs :].argmax(-1) == answers).double().mean())

    measures = {f"accuracy/{pairs}": right(pairs) for pairs in task.pairs}
    attending = [one for one in model.layers if isinstance(one, Layer) and one.attends]
    for keys in read_by(task) if attending else ():
        for layer in attending:
            layer.keys = keys
        measures[f"read/{keys}"] = right(max(task.pairs))
    return measures


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm: its loss and its right answers."""
    model, losses = fit(setting, task, seed)
    return {"final_loss": fmean(losses[-50:]), **measured(model, task, seed)}


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned."""
    return {
        "hybrid": Setting(3, 1),
        "states": Setting(4, 0, steps=1200),
        "attention": Setting(0, 1),
        "four": Setting(0, 1, keys=4),
        "two": Setting(0, 1, keys=2),
        "one": Setting(0, 1, keys=1),
    }


def reported() -> dict[str, Arm]:
    """Return the tuned arms, and two with longer texts, at the rates they had."""
    settings = tuned("hybrids", arms())
    longer = {f"{name}-long": settings[name] for name in ("hybrid", "attention")}
    return on(TASK, settings) | on(LONG, longer)


def numbers_kept(setting: Setting, tokens: int) -> int:
    """Return how many numbers all layers keep of so many tokens.

    >>> numbers_kept(Setting(3, 1), 64), numbers_kept(Setting(0, 4), 64)
    (1216, 4096)
    """
    return setting.states * KEY_WIDTH * VALUE_WIDTH + setting.attention * tokens * (
        KEY_WIDTH + VALUE_WIDTH
    )


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(keys=20, values=5, pairs=(4, 16), batch_size=4, test_size=6)
    trace: list[float] = []
    for arm in arms().values():
        model, losses = fit(replace(arm, learning_rate=0.01, steps=4), task, seed=7)
        trace += [*losses, fmean(measured(model, task, seed=7).values()) / 1000]
    return trace


STUDY = Experiment(
    name="hybrids", title="Recall by layers of state and attention, and by few keys",
    seeds=SEEDS, arms=reported, outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 50 updates"),
    config=lambda: {
        "task": TASK, "long": LONG, "width": WIDTH, "key_width": KEY_WIDTH,
        "value_width": VALUE_WIDTH, "warmup": WARMUP, "clip": CLIP, "read": read_by(TASK),
        "numbers": {name: numbers_kept(one, 2 * MOST) for name, one in arms().items()},
        "arms": {name: arm.setting for name, arm in reported().items()},
    },
    kinds={"*/final_loss": number("nats", 0), "*": share(TASK.test_size, own=True)},
    modules=(*SMALL, "companion.linear", "companion.indexed", "experiments.recall.study"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
