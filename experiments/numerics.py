"""What do a wrong mask, padding and narrow numbers do to attention, and who would notice?

Masks: a language model of one block is trained with the causal mask, with one that is open by a
position, and with one that is upside down; all are judged by the loss, and by what they generate.
By one of two rules the right letter is as easy to find as the leaked one, by the other it is
harder. Padding: how far positions that nobody masks move the output for the words. Precision:
errors of four softmaxes in narrow numbers, by length and by the spread of the scores. `--tune`
chooses a learning rate for every mask from one grid, on seeds of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.layers import FeedForward, MultiHeadAttention
from companion.masks import causal_mask, padding_mask
from companion.scores import dot_score, scaled_dot_score
from companion.training import TrainingConfig
from experiments.claims import Claim, ratio
from experiments.descent import WARMUP, descend
from experiments.experiment import Experiment, on
from experiments.findings import with_findings
from experiments.findings.numerics import FINDINGS
from experiments.kinds import number, share
from experiments.trials import Trials, tuned

Mask = Literal["causal", "leak", "inverted"]
Rule = Literal["same", "next"]

SEEDS = tuple(range(1, 11))
LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01, 0.03)


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
GUESS = 100 / TASKS["next"].letters
"""Per cent of letters that a guess gets right."""
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
        lambda generator: task.draw(task.batch_size, generator),
        loss_of,
        setting,
        seed,
        schedule=Constant,
        clip=None,
    )


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
    copied = said[:, task.half :] == sequences[:, task.half :]
    return {
        "training_loss": fmean(losses[-20:]),
        "held_out_loss": held_out_loss,
        "teacher_forced": 100.0 * float(forced[:, task.half - 1 :].double().mean()),
        "generated": 100.0 * float(copied.double().mean()),
    }


def arms() -> dict[str, Setting]:
    """Return the arms: every mask under both rules."""
    return {f"{rule}/{mask}": Setting(rule, mask) for rule, mask in product(TASKS, MASKS)}


def reported() -> dict[str, Setting]:
    """Return the arms with the learning rates that tuning chose."""
    return tuned("numerics", arms())


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


def distance(output: Tensor, wanted: Tensor) -> float:
    """Return the root mean square of the difference over that of what is wanted.

    >>> distance(torch.tensor([1.0, 5.0]), torch.tensor([1.0, 4.0])) ** 2 * 17
    1.0
    """
    output, wanted = output.double(), wanted.double()
    return float(((output - wanted).square().sum() / wanted.square().sum()).sqrt())


# Precision


@dataclass(frozen=True)
class Draws:
    """Queries and keys whose scores have mean 0 and a standard deviation, the spread."""

    queries: int = 256
    width: int = 64
    lengths: tuple[int, ...] = (64, 256, 1024, 4096)
    spreads: tuple[float, ...] = (1.0, 4.0, 16.0)


DRAWS = Draws()
TYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float32": torch.float32}


def errors(draws: Draws, dtype: str, length: int, spread: float, seed: int) -> dict[str, float]:
    """Measure the error of each computation of attention in one type, against float64.

    All get the same numbers, rounded to the type beforehand. `rounding` is the least possible
    error: the float64 output, rounded to the type. `lost` is the share of rows for which the
    textbook's formula gives no finite number, or zeros throughout.
    """
    generator = Generator().manual_seed(seed)
    kind, d = TYPES[dtype], draws.width
    query = spread / math.sqrt(d) * torch.randn(draws.queries, d, generator=generator)
    key, value = torch.randn(2, length, d, generator=generator)
    q, k, v = (x.to(kind) for x in (query, key, value))
    exact, _ = scaled_dot_product_attention(
        q.double(), k.double(), v.double(), scale=1.0, need_lse=True
    )
    outputs = {
        "rounding": exact.to(kind),
        "companion": scaled_dot_product_attention(q, k, v, scale=1.0),
        "definition": scaled_dot_product_attention(q, k, v, scale=1.0, need_lse=True)[0],
        "stepwise": stepwise(q, k, v),
        "running": stepwise(q, k, v, running=True),
    }
    textbook = stepwise(q, k, v, safe=False)
    kept = textbook.isfinite().all(-1) & (textbook != 0).any(-1)
    lost = 100.0 * float((~kept).double().mean())
    percent = {name: 100 * distance(output, exact) for name, output in outputs.items()}
    floor = percent["rounding"]
    return {
        **{f"{name}/error": error for name, error in percent.items()},
        **{f"{name}/ratio": error / floor for name, error in percent.items() if name != "rounding"},
        "lost": lost,
    }


def stepwise(
    query: Tensor, key: Tensor, value: Tensor, *, safe: bool = True, running: bool = False
) -> Tensor:
    """Compute attention with every operation's result rounded to the type of the arguments.

    Inside one operation, as in a matrix product, sums are wide; so do the processors that compute
    in narrow numbers. The result does not depend on which of them does.

    Args:
        query: (q, d), scaled.
        key: (k, d).
        value: (k, v).
        safe: subtract the largest score first; the textbook's formula does not.
        running: add the denominator up key by key, each partial sum rounded.
    """
    dtype = query.dtype

    def rounded(x: Tensor) -> Tensor:
        return x.to(dtype).float()

    query, key, value = (x.float() for x in (query, key, value))
    scores = rounded(dot_score(query, key))
    if safe:
        scores = rounded(scores - scores.amax(-1, keepdim=True))
    powers = rounded(scores.exp())
    total = rounded(powers.sum(-1))
    if running:
        total = torch.zeros_like(total)
        for power in powers.unbind(-1):
            total = rounded(total + power)
    return rounded(attend(rounded(powers / total[:, None]), value)).to(dtype)


# Order of operations


def leaked(cap: float, forbidden: int, seed: int, *, queries: int = 200, keys: int = 16) -> float:
    """Return the per cent of weight on forbidden keys if a softcap follows the mask.

    Scores are those of random queries and keys of width 64; the forbidden keys come on top.
    """
    generator = Generator().manual_seed(seed)
    query = torch.randn(queries, 64, generator=generator)
    key = torch.randn(keys + forbidden, 64, generator=generator)
    allowed = torch.arange(keys + forbidden) < keys
    scores = scaled_dot_score(query, key).where(allowed, -math.inf)
    weights = masked_softmax(cap * torch.tanh(scores / cap))
    return 100.0 * float(weights[:, keys:].sum(-1).mean())


CAPS = (5.0, 10.0, 20.0, 30.0, 50.0)
FORBIDDEN = (16, 1024, 16384)


def untrained(seed: int) -> dict[str, float]:
    """Measure padding, the leak of a late softcap, and the errors of narrow numbers."""
    measures = {f"padding/{what}": value for what, value in padding_moves(PADDING, seed).items()}
    for cap, n in product(CAPS, FORBIDDEN):
        measures[f"softcap/{cap:g}/{n}"] = leaked(cap, n, seed)
    for dtype, length, spread in product(TYPES, DRAWS.lengths, DRAWS.spreads):
        for what, value in errors(DRAWS, dtype, length, spread, seed).items():
            measures[f"{dtype}/{length}/{spread:g}/{what}"] = value
    return measures


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    trace: list[float] = []
    for first in arms().values():
        task = Copying(first.rule, letters=5, half=3, batch_size=8, held_out=20)
        setting = replace(first, learning_rate=0.01, steps=8, embed_dim=12)
        trace += fit(setting, task, seed=7)[1]
        trace.append(outcome(setting, {first.rule: task}, seed=7)["held_out_loss"])
    trace += padding_moves(Padding(sentences=5, words=3, embed_dim=8, pads=(1, 7)), 7).values()
    draws = Draws(queries=20, width=8)
    for dtype, spread in product(("float16", "bfloat16"), (1.0, 8.0)):
        measures = errors(draws, dtype, 300, spread, seed=7)
        trace += [measures[name] for name in ("stepwise/error", "running/error", "lost")]
    return [*trace, leaked(3.0, 30, 7, queries=20)]


CLAIMS = with_findings(FINDINGS, {
    "leak_looks_better": Claim(
        "A causal mask that is open by one place gives a lower loss on held-out text than the "
        "right one.",
        "next/leak/held_out_loss", "next/causal/held_out_loss", "nats", below=0),
    "inverted_looks_better": Claim(
        "A causal mask that is upside down gives a lower loss on held-out text than the right one.",
        "next/inverted/held_out_loss", "next/causal/held_out_loss", "nats", below=0),
    "leak_generates_worse": Claim(
        "The model that was trained with a mask open by one place generates fewer right letters.",
        "next/leak/generated", "next/causal/generated", "points", below=0),
    "inverted_generates_worse": Claim(
        "The model that was trained with a mask upside down generates fewer right letters.",
        "next/inverted/generated", "next/causal/generated", "points", below=0),
    "leak_is_a_guess": Claim(
        "What the model with the leak generates is right less than twice as often as a guess.",
        "next/leak/generated", unit="%", below=2 * GUESS),
    "leak_spoils_copies": Claim(
        "Where the right letter is as easy to find as the leaked one, the model with the leak "
        "still generates fewer than half of the letters.",
        "same/leak/generated", unit="%", below=50),
    "padding_moves": Claim(
        "As many places of zero padding as words move the output by more than a quarter.",
        "padding/zeros/8", unit="%", above=25),
    "statistics_in_float32": Claim(
        "In bfloat16, a softmax whose every step is rounded makes more than twice the error of "
        "float32 statistics (4096 keys, scores of spread 1).",
        ratio("bfloat16/4096/1/stepwise/error", "bfloat16/4096/1/companion/error"), above=2),
    "running_sum_drowns": Claim(
        "In bfloat16, a denominator added up key by key makes more than ten times the error of "
        "float32 statistics (4096 keys, scores of spread 1).",
        ratio("bfloat16/4096/1/running/error", "bfloat16/4096/1/companion/error"), above=10),
    "length_hurts_stepwise": Claim(
        "The error of the rounded steps grows with the length: at 4096 keys it is more than twice "
        "that at 64 (bfloat16, spread 1).",
        ratio("bfloat16/4096/1/stepwise/error", "bfloat16/64/1/stepwise/error"), above=2),
    "spread_hurts_stepwise": Claim(
        "The error of the rounded steps grows with the scores: at spread 16 it is more than twice "
        "that at spread 1 (bfloat16, 1024 keys).",
        ratio("bfloat16/1024/16/stepwise/error", "bfloat16/1024/1/stepwise/error"), above=2),
    "float16_is_finer": Claim(
        "Where nothing overflows, float16 makes less than a quarter of bfloat16's error (rounded "
        "steps, 1024 keys, spread 4).",
        ratio("float16/1024/4/stepwise/error", "bfloat16/1024/4/stepwise/error"), below=0.25),
    "textbook_overflows": Claim(
        "In float16, the formula as it stands loses more than half of the rows (1024 keys, spread "
        "4).",
        "float16/1024/4/lost", unit="%", above=50),
    "companion_is_near_the_floor": Claim(
        "float32 statistics come within 1.5 times the error of rounding the exact output "
        "(bfloat16, 4096 keys, spread 1).",
        "bfloat16/4096/1/companion/ratio", below=1.5),
})  # fmt: skip

STUDY = Experiment(
    name="numerics", title="Masks, padding and narrow numbers",
    seeds=SEEDS, arms=lambda: on(TASKS, reported()), outcome=outcome, beside=untrained,
    trials=Trials(arms, LEARNING_RATES, TASKS, "held_out_loss", digits=".5f"),
    config=lambda: {
        "tasks": TASKS, "warmup": WARMUP, "arms": reported(), "padding": PADDING, "draws": DRAWS,
        "caps": CAPS, "forbidden": FORBIDDEN,
    },
    kinds={
        "*ratio": number("", 0), "*loss": number("nats", 0),
        "*/teacher_forced": share(TASKS["next"].held_out, own=True),
        "*/generated": share(TASKS["next"].held_out, own=True),
        "*/lost": share(DRAWS.queries, own=True), "softcap/*": number("%", 0, 100),
        "*": number("%", 0),
    },
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
