"""What do a wrong mask and forgotten padding do to attention, and who would notice?

Masks: a language model of one block is trained with the causal mask, with one that is open by a
position, and with one that is upside down; all are judged by the loss, and by what they generate.
By one of two rules the right letter is as easy to find as the leaked one, by the other it is
harder. The models with the leak are trained three times as long as well. Padding: how far
positions that nobody masks move the output for the words. `--tune` chooses a learning rate for
every mask from one grid, on seeds of its own.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import scaled_dot_product_attention
from companion.layers import FeedForward, MultiHeadAttention
from companion.masks import causal_mask, padding_mask
from companion.training import TrainingConfig
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.descent import WARMUP, descend
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned
from experiments.numerics.study import distance

Mask = Literal["causal", "leak", "inverted"]
Rule = Literal["same", "next"]

SEEDS = tuple(range(1, 21))
LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)
LONGER = 3
"""How many times as long the models with the leak are trained, to see whether that mends them."""


# Masks


@dataclass(frozen=True)
class Copying:
    """Sequences of letters: the first half is a draw, the second half follows from it.

    By the rule "same" it says the letters again, by "next" each letter's successor.
    """

    rule: Rule = "next"
    letters: int = 16
    half: int = 8
    batch_size: int = 32
    held_out: int = 1000

    def draw(self, rows: int, generator: Generator) -> Tensor:
        """Draw sequences (rows, 2 half) of letters."""
        first = torch.randint(self.letters, (rows, self.half), generator=generator)
        second = first if self.rule == "same" else (first + 1) % self.letters
        return torch.cat([first, second], dim=1)


@dataclass(frozen=True)
class Setting:
    """One arm of the study of masks, and its training."""

    rule: Rule
    mask: Mask
    learning_rate: float = 0.0
    steps: int = 400
    embed_dim: int = 64
    num_heads: int = 4


TASKS: dict[Rule, Copying] = {"same": Copying("same"), "next": Copying("next")}
MASKS: tuple[Mask, ...] = ("causal", "leak", "inverted")


def mask_of(kind: Mask, length: int) -> Tensor:
    """Return the mask (q, k) of an arm: right, open by one position, or upside down."""
    like = torch.empty(0)
    mask: Tensor = causal_mask(length, offset=1 if kind == "leak" else 0, like=like)
    return ~mask if kind == "inverted" else mask


class LanguageModel(nn.Module):
    """One block of a Transformer, with a norm before each part and learned positions."""

    def __init__(self, setting: Setting, task: Copying) -> None:
        super().__init__()
        e = setting.embed_dim
        self.mask = setting.mask
        self.letters = nn.Embedding(task.letters, e)
        self.positions = nn.Embedding(2 * task.half, e)
        self.attention_norm, self.norm = nn.LayerNorm(e), nn.LayerNorm(e)
        self.attention = MultiHeadAttention(e, setting.num_heads)
        self.feed_forward = FeedForward(e, 2 * e)
        self.readout = nn.Linear(e, task.letters)

    def forward(self, letters: Tensor) -> Tensor:
        """Return logits of the next letter, (b, q, letters), for letters (b, q)."""
        length = letters.shape[-1]
        x = self.letters(letters) + self.positions(torch.arange(length))
        mask = mask_of(self.mask, length)
        x = x + self.attention(self.attention_norm(x), attn_mask=mask)
        x = x + self.feed_forward(self.norm(x))
        logits: Tensor = self.readout(x)
        return logits


def loss_of(model: nn.Module, sequences: Tensor) -> Tensor:
    """Return the mean loss over every next letter, all of the right letters before it given."""
    logits = model(sequences[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), sequences[:, 1:].flatten())


class Constant(TrainingConfig):
    """A rate that stays what it is after the warm-up."""

    def rate(self, step: int) -> float:
        """Return the learning rate of update `step`, counted from 0."""
        return self.learning_rate * min(1, (step + 1) / self.warmup_steps)


def fit(setting: Setting, task: Copying, seed: int) -> tuple[LanguageModel, list[float]]:
    """Train on fresh sequences; arms of one seed start alike and see the same letters."""
    return descend(
        lambda: LanguageModel(setting, task),
        lambda generator: task.draw(task.batch_size, generator), loss_of, setting, seed,
        schedule=Constant, clip=None,
    )  # fmt: skip


@torch.no_grad()
def generate(model: nn.Module, prompt: Tensor, letters: int) -> Tensor:
    """Append the likeliest next letter, again and again: (b, q) -> (b, q + letters)."""
    for _ in range(letters):
        likeliest = model(prompt)[:, -1:].argmax(-1)
        prompt = torch.cat([prompt, likeliest], dim=1)
    return prompt


def outcome(setting: Setting, tasks: Mapping[Rule, Copying], seed: int) -> dict[str, float]:
    """Train one arm, and judge it by the loss and by the letters that it says."""
    task = tasks[setting.rule]
    model, losses = fit(setting, task, seed)
    sequences = task.draw(task.held_out, Generator().manual_seed(10_000 + seed))
    with torch.no_grad():
        held_out_loss = loss_of(model, sequences).item()
        forced = model(sequences[:, :-1]).argmax(-1) == sequences[:, 1:]
    said = generate(model, sequences[:, : task.half], task.half)
    copied = (said[:, task.half :] == sequences[:, task.half :]).double()
    return {
        "training_loss": fmean(losses[-20:]),
        "held_out_loss": held_out_loss,
        "teacher_forced": 100.0 * float(forced[:, task.half - 1 :].double().mean()),
        "generated": 100.0 * float(copied.mean()),
        "generated_before": 100.0 * float(copied[:, :-1].mean()),
        "generated_last": 100.0 * float(copied[:, -1].mean()),
    }


def arms() -> dict[str, Setting]:
    """Return the arms: every mask under both rules."""
    return {f"{rule}/{mask}": Setting(rule, mask) for rule, mask in product(TASKS, MASKS)}


def reported() -> dict[str, Setting]:
    """Return the arms with the learning rates that tuning chose; the longer ones take them over."""
    chosen = tuned("masks", arms())
    leaks = {rule: chosen[f"{rule}/leak"] for rule in TASKS}
    longer = {
        f"{rule}/leak/longer": replace(leak, steps=LONGER * leak.steps)
        for rule, leak in leaks.items()
    }
    return chosen | longer


# Padding


@dataclass(frozen=True)
class Padding:
    """Sentences of random words, read by attention with random projections."""

    sentences: int = 100
    words: int = 8
    embed_dim: int = 64
    pads: tuple[int, ...] = (1, 2, 4, 8, 16, 32)


PADDING = Padding()


def padding_moves(padding: Padding, seed: int) -> dict[str, float]:
    """Measure by how much unmasked padding moves the output at the words, in per cent.

    The padding is a vector of zeros, or one random vector, as an embedding that nobody trained.
    `masked` is the largest movement with a padding mask, over both.
    """
    generator = Generator().manual_seed(seed)
    b, n, e = padding.sentences, padding.words, padding.embed_dim
    words = torch.randn(b, n, e, generator=generator)
    weights = torch.randn(3, e, e, generator=generator) / math.sqrt(e)
    query, key, value = (words @ weight for weight in weights)
    alone = scaled_dot_product_attention(query, key, value)
    fillers = {"zeros": torch.zeros(e), "vector": torch.randn(e, generator=generator)}
    moves = {"masked": 0.0}
    for (name, filler), pads in product(fillers.items(), padding.pads):
        padded = torch.cat([words, filler.expand(b, pads, e)], dim=1)
        query, key, value = (padded @ weight for weight in weights)
        moved = scaled_dot_product_attention(query[:, :n], key, value)
        moves[f"{name}/{pads}"] = 100 * distance(moved, alone)
        mask = padding_mask(torch.tensor([n]), n + pads)
        masked = scaled_dot_product_attention(query[:, :n], key, value, mask)
        moves["masked"] = max(moves["masked"], 100 * distance(masked, alone))
    return moves


def beside(seed: int) -> dict[str, float]:
    """Measure padding, which needs no training."""
    return {f"padding/{what}": value for what, value in padding_moves(PADDING, seed).items()}


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    trace: list[float] = []
    for first in arms().values():
        task = Copying(first.rule, letters=5, half=3, batch_size=8, held_out=20)
        setting = replace(first, learning_rate=0.01, steps=8, embed_dim=12)
        trace += fit(setting, task, seed=7)[1]
        trace.append(outcome(setting, {first.rule: task}, seed=7)["held_out_loss"])
    return [
        *trace,
        *padding_moves(Padding(sentences=5, words=3, embed_dim=8, pads=(1, 7)), 7).values(),
    ]


STUDY = Experiment(
    name="masks", title="Wrong masks, and padding that nobody masks",
    seeds=SEEDS, arms=lambda: on(TASKS, reported()), outcome=outcome, beside=beside,
    trials=Trials(arms, LEARNING_RATES, TASKS, "held_out_loss", digits=".5f"),
    config=lambda: {
        "tasks": TASKS, "warmup": WARMUP, "arms": reported(), "padding": PADDING,
    },
    kinds={
        "*loss": number("nats", 0), "*/teacher_forced": share(TASKS["next"].held_out, own=True),
        "*/generated*": share(TASKS["next"].held_out, own=True), "*": number("%", 0),
    },
    modules=(*LAYERS, "experiments.numerics.study"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
