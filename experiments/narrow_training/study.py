"""What does a narrow number format cost a model that is trained with it? A directory to look up in.

Every name of a directory has a class, drawn anew for each update. One attention is asked for the
classes of some names. Its queries, keys, values and the steps of its softmax are rounded to a type,
forwards and backwards. The weights, the rest of the model and the optimizer stay in float32, as in
mixed precision. `--tune` chooses a learning rate for every arm from one grid, on seeds of its own.
"""

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import attention_with_lse
from experiments.engine.claims_file import read_claims
from experiments.engine.code import SMALL
from experiments.engine.descent import CLIP, WARMUP, FromStart, new
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned
from experiments.numerics.study import TYPES, stepwise

Type = Literal["float32", "bfloat16", "float16"]
Steps = Literal["wide", "rounded", "running", "textbook"]

SEEDS = tuple(range(1, 21))
LEARNING_RATES = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28)
SCALE = 1024.0
"""By how much a loss is multiplied, so that float16 can hold its gradients."""
LONGER = 4
"""How many times as long the longer arms train."""


@dataclass(frozen=True)
class Directory:
    """Names, which are all the numbers of so many bits, and how many are asked for at a time."""

    bits: int = 10
    classes: int = 4
    asked: int = 64
    tests: int = 16

    @property
    def names(self) -> Tensor:
        """The bits of every name as -1 and 1, (k, bits)."""
        numbers = torch.arange(2**self.bits)[:, None]
        return 2.0 * (numbers >> torch.arange(self.bits) & 1) - 1

    def draw(self, generator: Generator) -> tuple[Tensor, Tensor]:
        """Draw the class of every name, (k,), and which names are asked for, (q,)."""
        names = 2**self.bits
        classes = torch.randint(self.classes, (names,), generator=generator)
        return classes, torch.randint(names, (self.asked,), generator=generator)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training.

    `steps_in` says how the attention computes: "wide" keeps everything between its arguments and
    its output in float32, "rounded" rounds every step, "running" also adds the denominator up key
    by key, and "textbook" subtracts no maximum. The loss is multiplied by `loss_scale`, and the
    gradients are divided by it. A model that `skips` leaves out every update whose gradient is not
    finite; another one stops there.
    """

    kind: Type
    steps_in: Steps
    loss_scale: float = 1.0
    skips: bool = False
    width: int = 32
    learning_rate: float = 0.0
    steps: int = 200


DIRECTORY = Directory()
ANSWERS = DIRECTORY.tests * DIRECTORY.asked
"""How many answers of each model are judged."""


class Reader(nn.Module):
    """Attention with one head from names asked for to names listed, and the logits of a class.

    One matrix makes queries and keys of names, so that equal names have large scores early on.
    """

    def __init__(self, setting: Setting, directory: Directory) -> None:
        super().__init__()
        bits, d = directory.bits, setting.width
        self.setting, self.classes = setting, directory.classes
        self.register_buffer("names", directory.names)
        self.name = nn.Linear(bits, d, bias=False)
        self.value = nn.Linear(directory.classes, d, bias=False)
        self.output = nn.Linear(d, directory.classes)

    def forward(self, classes: Tensor, asked: Tensor) -> Tensor:
        """Return the logits (q, c), given classes (k,) and the names asked for (q,)."""
        names = self.names
        assert isinstance(names, Tensor)
        query = self.name(names[asked]) / math.sqrt(self.setting.width)
        listed = F.one_hot(classes, self.classes).float() * math.sqrt(self.classes)
        found = attention(query, self.name(names), self.value(listed), self.setting)
        logits: Tensor = self.output(found)
        return logits


def attention(query: Tensor, key: Tensor, value: Tensor, setting: Setting) -> Tensor:
    """Attend in the type and with the steps of a setting; take and return float32.

    A rounding on the way forwards rounds the gradient on its way back, in the same place.
    """
    q, k, v = (x.to(TYPES[setting.kind]) for x in (query, key, value))
    if setting.steps_in == "wide":
        return attention_with_lse(q, k, v, scale=1.0)[0].float()
    safe, running = setting.steps_in != "textbook", setting.steps_in == "running"
    return stepwise(q, k, v, safe=safe, running=running).float()


@dataclass(frozen=True)
class Course:
    """How a training went: the loss of every update that was made, and how many were left out.

    A model `broke` if a gradient was not finite and the training stopped.
    """

    losses: list[float]
    skipped: int
    broke: bool


def fit(setting: Setting, directory: Directory, seed: int) -> tuple[Reader, Course]:
    """Train on fresh directories; return the model as the last update left it, and its course."""
    model = new(lambda: Reader(setting, directory), seed)
    generator = Generator().manual_seed(seed)
    config = FromStart(setting.steps, setting.learning_rate, WARMUP, CLIP, seed=seed)
    optimizer = torch.optim.Adam(model.parameters())
    losses, skipped = [], 0
    for step in range(setting.steps):
        classes, asked = directory.draw(generator)
        loss = F.cross_entropy(model(classes, asked), classes[asked])
        optimizer.zero_grad()
        (setting.loss_scale * loss).backward()  # type: ignore[no-untyped-call]
        for weight in model.parameters():
            assert weight.grad is not None
            weight.grad /= setting.loss_scale
        norm = nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        if norm.isfinite():
            losses.append(loss.item())
            optimizer.param_groups[0]["lr"] = config.rate(step)
            optimizer.step()
        elif setting.skips:
            skipped += 1
        else:
            return model, Course(losses, skipped, broke=True)
    return model, Course(losses, skipped, broke=False)


@torch.no_grad()
def judged(model: Reader, tests: list[tuple[Tensor, Tensor]]) -> tuple[float, float]:
    """Return the share of right answers and the mean loss, in the type that the model is set to.

    An answer that is no number is wrong, and counts as a guess in the loss.
    """
    right, losses = [], []
    for classes, asked in tests:
        logits, wanted = model(classes, asked), classes[asked]
        told = logits.isfinite().all(-1)
        right.append(told & (logits.argmax(-1) == wanted))
        losses.append(F.cross_entropy(logits.where(told[:, None], 0), wanted).item())
    return 100 * float(torch.cat(right).double().mean()), fmean(losses)


def outcome(setting: Setting, directory: Directory, seed: int) -> dict[str, float]:
    """Train one arm: how many questions it answers, how soon, and how large its scores become.

    `in_float32` is the share of right answers if the trained weights are used in float32, and
    `half_way` the first update with less than half the loss of a guess, or the last one.
    """
    model, course = fit(setting, directory, seed)
    generator = Generator().manual_seed(90_000 + seed)
    tests = [directory.draw(generator) for _ in range(directory.tests)]
    right, loss = judged(model, tests)
    half = math.log(directory.classes) / 2
    reached = [step for step, value in enumerate(course.losses, start=1) if value < half]
    model.setting = replace(setting, kind="float32", steps_in="wide")
    return {
        "accuracy": right, "loss": loss, "in_float32": judged(model, tests)[0],
        "largest_score": largest_score(model),
        "half_way": float(reached[0] if reached else setting.steps),
        "skipped": 100 * course.skipped / setting.steps, "broke": 100.0 * course.broke,
    }  # fmt: skip


@torch.no_grad()
def largest_score(model: Reader) -> float:
    """Return the largest score of any name asked for and any name listed, in float32."""
    names = model.name(model.names)
    return float((names @ names.T).max()) / math.sqrt(model.setting.width)


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned, by type and by how the attention computes."""
    return {
        "float32": Setting("float32", "rounded"),
        "bfloat16/wide": Setting("bfloat16", "wide"),
        "bfloat16/rounded": Setting("bfloat16", "rounded"),
        "bfloat16/running": Setting("bfloat16", "running"),
        "bfloat16/textbook": Setting("bfloat16", "textbook"),
        "float16/wide": Setting("float16", "wide", SCALE),
        "float16/rounded": Setting("float16", "rounded", SCALE),
        "float16/unscaled": Setting("float16", "rounded"),
        "float16/textbook": Setting("float16", "textbook", SCALE),
        "float16/skipping": Setting("float16", "textbook", SCALE, skips=True),
    }


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and those that train for longer, at the rates that they had.

    The running sum is also trained at the rate that is best for float32.
    """
    settings = tuned("narrow_training", arms())
    running = settings["bfloat16/running"]
    longer = {
        f"{name}/longer": replace(settings[name], steps=LONGER * settings[name].steps)
        for name in ("bfloat16/running", "bfloat16/textbook", "float16/skipping")
    }
    usual = replace(running, learning_rate=settings["float32"].learning_rate)
    return {**settings, **longer, "bfloat16/running/usual": usual}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    directory = Directory(bits=4, classes=3, asked=8, tests=2)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, width=6, learning_rate=0.05, steps=6)
        trace += fit(setting, directory, seed=7)[1].losses
        measures = outcome(setting, directory, seed=7)
        trace += [measures[name] for name in ("loss", "largest_score")]
    return trace


STUDY = Experiment(
    name="narrow_training", title="Attention trained in narrow numbers",
    seeds=SEEDS, arms=lambda: on(DIRECTORY, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, DIRECTORY, measure="loss", digits=".6g"),
    config=lambda: {
        "directory": DIRECTORY, "warmup": WARMUP, "clip": CLIP, "arms": reported(),
    },
    kinds={
        "*/accuracy": share(ANSWERS, own=True), "*/in_float32": share(ANSWERS, own=True),
        "*/loss": number("nats", 0), "*/largest_score": number("", 0),
        "*/half_way": number("updates", 1), "*": number("%", 0, 100),
    },
    modules=(*SMALL, "experiments.numerics.study"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
