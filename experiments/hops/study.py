"""How many layers does it take to follow a note to a note? Self-attention with one head.

Eight people, each with a colour and a note that names one of them. Each is asked for a colour: of
the person whom its note names (one step), or of the person whom that person's note names (two
steps). One layer is compared with two, and with one that has as many weights as two. `--tune`
chooses a learning rate for every arm from one grid, on seeds of its own.
"""

import math
from dataclasses import dataclass, replace
from statistics import fmean

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.layers import FeedForward, MultiHeadAttention
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.descent import CLIP, WARMUP, descend
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(1, 21))
LEARNING_RATES = (0.0025, 0.005, 0.01, 0.02, 0.04)
PATIENCE = 4
"""How many times as long the patient arm trains."""


@dataclass(frozen=True)
class Room:
    """People with colours and notes, and how many are drawn."""

    people: int = 8
    colours: int = 4
    batch_size: int = 32
    test_size: int = 256

    @property
    def width(self) -> int:
        """Features of a person: its name, its colour and the name on its note, each one-hot."""
        return 2 * self.people + self.colours

    def batch(self, generator: Generator, size: int) -> tuple[Tensor, Tensor, Tensor]:
        """Draw features (b, n, e) of mean square 1, colours (b, n) and notes (b, n).

        A note may name its owner. The people stand in order: attention without positions cannot
        see it.
        """
        n = self.people
        colours = torch.randint(self.colours, (size, n), generator=generator)
        notes = torch.randint(n, (size, n), generator=generator)
        parts = [
            F.one_hot(torch.arange(n), n).expand(size, n, n),
            F.one_hot(colours, self.colours),
            F.one_hot(notes, n),
        ]
        return torch.cat(parts, dim=-1).float() * math.sqrt(self.width / 3), colours, notes


def answers(colours: Tensor, notes: Tensor, steps: int) -> Tensor:
    """Return the colours at which notes lead after some steps, (b, n).

    >>> colours, notes = torch.tensor([[7, 8, 9]]), torch.tensor([[1, 2, 2]])
    >>> answers(colours, notes, 1).tolist(), answers(colours, notes, 2).tolist()
    ([[8, 9, 9]], [[9, 9, 9]])
    """
    found = colours
    for _ in range(steps):
        found = found.take_along_dim(notes, -1)
    return found


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training: how far it is asked to look, and with what.

    `follow` is the number of steps from note to note, `hidden` the width of a feed-forward layer.
    """

    layers: int
    follow: int
    hidden: int = 64
    learning_rate: float = 0.0
    steps: int = 400


ROOM = Room()
WIDE = 168
"""Hidden width of one layer that has about as many weights as two layers of width 64."""


class Block(nn.Module):
    """Self-attention with one head and a feed-forward layer, each added to what it has read."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(width, 1)
        self.feed_forward = FeedForward(width, hidden)

    def forward(self, x: Tensor) -> Tensor:
        """Compute (b, n, e) from (b, n, e)."""
        x = x + self.attention(x)
        output: Tensor = x + self.feed_forward(x)
        return output


class Follower(nn.Module):
    """Blocks one after the other, and the logits of every person's answer."""

    def __init__(self, setting: Setting, room: Room) -> None:
        super().__init__()
        self.blocks = nn.Sequential(
            *(Block(room.width, setting.hidden) for _ in range(setting.layers))
        )
        self.output = nn.Linear(room.width, room.colours)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits (b, n, c) of features (b, n, e)."""
        logits: Tensor = self.output(self.blocks(features))
        return logits


def fit(setting: Setting, room: Room, seed: int) -> tuple[Follower, list[float]]:
    """Train on fresh rooms; return the model and the loss of every update."""

    def draw(generator: Generator) -> tuple[Tensor, Tensor]:
        features, colours, notes = room.batch(generator, room.batch_size)
        return features, answers(colours, notes, setting.follow)

    def loss(model: Follower, batch: tuple[Tensor, Tensor]) -> Tensor:
        features, wanted = batch
        return F.cross_entropy(model(features).flatten(0, 1), wanted.flatten())

    return descend(lambda: Follower(setting, room), draw, loss, setting, seed)


def tested(room: Room, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw the rooms that a seed is tested on: features, colours and notes."""
    return room.batch(Generator().manual_seed(90_000 + seed), room.test_size)


def outcome(setting: Setting, room: Room, seed: int) -> dict[str, float]:
    """Train one arm: its loss, how many questions in new rooms it answers, and where it looks."""
    model, losses = fit(setting, room, seed)
    features, colours, notes = tested(room, seed)
    with torch.no_grad():
        right = model(features).argmax(-1) == answers(colours, notes, setting.follow)
        found = looks(model, features, notes)
    accuracy = 100 * float(right.double().mean())
    return {"final_loss": fmean(losses[-20:]), "accuracy": accuracy, **found}


def looks(model: Follower, features: Tensor, notes: Tensor) -> dict[str, float]:
    """Return the mean weight of each layer on whom the notes name after one and two steps."""
    named = {1: notes, 2: notes.take_along_dim(notes, -1)}
    return {
        f"looks/{layer}/{step}": float(weights.take_along_dim(to[..., None], -1).double().mean())
        for layer, weights in enumerate(maps(model, features), start=1)
        for step, to in named.items()
    }


def maps(model: Follower, features: Tensor) -> list[Tensor]:
    """Return the weights of every layer, (b, n, n)."""
    found, x = [], features
    for block in model.blocks:
        found.append(block.attention(x, need_weights=True)[1][:, 0])  # type: ignore[operator]
        x = block(x)
    return found


def arms() -> dict[str, Setting]:
    """Return every arm that is tuned: by the number of steps asked for, and of layers."""
    return {
        "one/1": Setting(layers=1, follow=1),
        "two/1": Setting(layers=1, follow=2, hidden=WIDE),
        "two/2": Setting(layers=2, follow=2),
    }


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and the single layer that trains for longer, at the rate it had."""
    settings = tuned("hops", arms())
    single = settings["two/1"]
    return {**settings, "patient/1": replace(single, steps=PATIENCE * single.steps)}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of two arms, and what is measured of them."""
    room = Room(people=5, colours=3, batch_size=6, test_size=20)
    trace: list[float] = []
    for layers, follow, hidden in ((1, 1, 8), (2, 2, 12)):
        setting = Setting(layers, follow, hidden, learning_rate=0.01, steps=8)
        trace += fit(setting, room, seed=7)[1]
        measures = outcome(setting, room, seed=7)
        trace += [value for name, value in measures.items() if not name.startswith("accuracy")]
    return trace


STUDY = Experiment(
    name="hops", title="Self-attention that follows notes, by number of layers",
    seeds=SEEDS, arms=lambda: on(ROOM, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, ROOM, metric="loss of the last 20 updates", digits=".6g"),
    config=lambda: {"room": ROOM, "warmup": WARMUP, "clip": CLIP, "arms": reported()},
    kinds={
        "*/accuracy": share(ROOM.test_size, own=True), "*/final_loss": number("nats", 0),
        "*": number("", 0, 1),
    },
    modules=LAYERS,
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
