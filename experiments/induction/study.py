"""When does a model learn to copy what came before? Two layers of attention, and one.

A block of random symbols is repeated. Attention alone, no feed-forward layer: a head that looks at
the previous position and one that uses it, in the layer above, can predict every repetition; heads
of one layer cannot work together. Their scores are measured while they train. Then single heads are
taken away: the output of a head is replaced by its mean over the test set. `--tune` chooses a
learning rate for every arm, on seeds of its own.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import torch
from torch import Generator, Tensor

from companion.layers import MultiHeadAttention
from companion.masks import causal_mask
from companion.models.transformer import Block, LanguageModel, TransformerConfig
from companion.training import TrainingConfig, train
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment, Measures, by_item, numbers, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(1, 21))
LEARNING_RATES = {1: (8e-3, 16e-3, 32e-3, 64e-3), 2: (4e-3, 8e-3, 16e-3, 32e-3)}
"""What is tried, by the number of layers."""
TEST_SEED = 80_001
WITHIN = 100
"""Updates over which the largest gain is looked for."""
SHARE = 0.2
"""A head takes part if it has this weight on the position that is asked for."""


@dataclass(frozen=True)
class Task:
    """Blocks of several lengths, each repeated to the end: one offset does not fit all."""

    symbols: int = 64
    length: int = 64
    shortest: int = 10
    longest: int = 32
    batch_size: int = 32
    test_size: int = 128
    watched: int = 32

    def draw(self, generator: Generator, size: int) -> tuple[Tensor, Tensor]:
        """Draw sequences (b, n) and the lengths of their blocks (b,)."""
        lengths = torch.randint(self.shortest, self.longest + 1, (size,), generator=generator)
        blocks = torch.randint(self.symbols, (size, self.longest), generator=generator)
        positions = torch.arange(self.length) % lengths[:, None]
        return blocks.take_along_dim(positions, 1), lengths

    def test(self) -> tuple[Tensor, Tensor]:
        """Draw the test set, the same for every seed."""
        return self.draw(Generator().manual_seed(TEST_SEED), self.test_size)


@dataclass(frozen=True)
class Batches:
    """Endless training data; the batch of a step depends on seed and step."""

    task: Task
    seed: int

    def __getitem__(self, step: int) -> Tensor:
        generator = Generator().manual_seed(1_000_000 * self.seed + step)
        return self.task.draw(generator, self.task.batch_size)[0]


@dataclass(frozen=True)
class Setting:
    """One model and its training."""

    num_layers: int
    steps: int = 1000
    learning_rate: float = 0.0
    every: int = 25
    width: int = 64
    num_heads: int = 4


TASK = Task()


def arms() -> dict[str, Setting]:
    """Return every arm: two layers, one layer, and one layer trained for twice as long."""
    return {"two": Setting(2), "one": Setting(1), "one-long": Setting(1, 2000)}


def rates(setting: Setting) -> Sequence[float]:
    """Return the learning rates that are tried."""
    return LEARNING_RATES[setting.num_layers]


def reported() -> dict[str, Setting]:
    """Return the tuned arms."""
    return tuned("induction", arms())


def attention_only(setting: Setting, task: Task) -> LanguageModel:
    """Return a language model whose feed-forward layers add nothing, and never will."""
    config = TransformerConfig(
        task.symbols, embed_dim=setting.width, num_heads=setting.num_heads,
        num_layers=setting.num_layers, hidden_dim=1, feed_forward_bias=False,
        positions="rotary", rotary_base=100.0,  # the sequences are short
        embedding_scale=False, tied="none", dropout_p=0.0,
    )  # fmt: skip
    model = LanguageModel(config)
    for name, parameter in model.named_parameters():
        if ".feed_forward." in name:
            torch.nn.init.zeros_(parameter)
            parameter.requires_grad_(False)
    return model


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, dict[str, float]]:
    """Train a model, and measure it before the first update, every so many, and at the end."""
    torch.manual_seed(seed)
    model = attention_only(setting, task)
    sequences, lengths = (part[: task.watched] for part in task.test())
    measures: dict[str, float] = {}

    def look(step: int) -> None:
        for name, value in looked_at(model, sequences, lengths).items():
            measures[f"{name}/{step:04d}"] = value

    def loss(model: LanguageModel, batch: tuple[int, Tensor]) -> Tensor:
        step, tokens = batch
        if step % setting.every == 0:
            look(step)
        return model.loss(tokens)

    config = TrainingConfig(setting.steps, setting.learning_rate, min(50, setting.steps), seed=seed)
    losses = train(model, _Numbered(Batches(task, seed)), loss, config, progress=False)
    look(setting.steps)
    return model, measures | {"final_loss": fmean(losses[-20:])}


@dataclass(frozen=True)
class _Numbered:
    """Batches with the number of their step."""

    batches: Batches

    def __getitem__(self, step: int) -> tuple[int, Tensor]:
        return step, self.batches[step]


# Where heads look


@torch.no_grad()
def looked_at(model: LanguageModel, sequences: Tensor, lengths: Tensor) -> dict[str, float]:
    """Measure accuracy in percent, and the best heads' mean weight where it would be of use.

    Returns:
        "accuracy"; "previous", the weight of a first-layer head on the previous position; and
        "induction", that of a last-layer head on the positions after all earlier occurrences of its
        symbol that the repetition makes. Both are those of the head that has most of it.
    """
    scores = head_scores(model, sequences, lengths)
    hits = right(model, sequences, lengths)
    return {
        "accuracy": percent(hits),
        "previous": max(scores["previous"]),
        "induction": max(scores["induction"]),
    }


@torch.no_grad()
def head_scores(model: LanguageModel, sequences: Tensor, lengths: Tensor) -> dict[str, list[float]]:
    """Return the mean weight of every head where it would be of use, from the second copy on.

    Returns:
        "previous" of the first layer's heads, on the previous position; of the last layer's heads
        "latest", on the position after the symbol's last copy, and "induction", on those after all
        its earlier copies together.
    """
    _, weights = model(sequences, need_weights=True)
    n = sequences.shape[1]
    distance = (torch.arange(n)[:, None] - torch.arange(n)).expand(len(sequences), n, n)
    block = lengths[:, None, None]
    after = (distance >= 0) & ((distance + 1) % block == 0)
    known = torch.arange(n) >= lengths[:, None]
    return {
        "previous": _mean_weight(weights[0], distance == 1, known),
        "latest": _mean_weight(weights[-1], distance == block - 1, known),
        "induction": _mean_weight(weights[-1], after, known),
    }


def _mean_weight(weights: Tensor, at: Tensor, known: Tensor) -> list[float]:
    """Return the mean weight of every head (b, h, n, n) at some keys (b, n, n) of some queries."""
    there = (weights.double() * at[:, None]).sum(-1).transpose(0, 1)
    return [float(head[known].mean()) for head in there]


# What a model predicts


def right(model: LanguageModel, sequences: Tensor, lengths: Tensor) -> list[tuple[float, float]]:
    """Return of every sequence how many symbols are predicted, and of how many.

    Those count that the repetition determines: from the second symbol of the second copy on.
    """
    return _hits(model(sequences), sequences, lengths)


def _hits(logits: Tensor, sequences: Tensor, lengths: Tensor) -> list[tuple[float, float]]:
    known = (torch.arange(sequences.shape[1]) >= lengths[:, None])[:, :-1]
    hits = (logits[:, :-1].argmax(-1) == sequences[:, 1:]) & known
    pairs = zip(hits.sum(1).tolist(), known.sum(1).tolist(), strict=True)
    return [(float(hit), float(count)) for hit, count in pairs]


def percent(hits: Sequence[tuple[float, float]]) -> float:
    """Return the share of symbols that are predicted, in percent.

    >>> percent([(1.0, 2.0), (2.0, 2.0)])
    75.0
    """
    return 100 * sum(hit for hit, _ in hits) / sum(count for _, count in hits)


# What is taken away


def _attention(model: LanguageModel, layer: int) -> MultiHeadAttention:
    block = model.decoder.blocks[layer]
    assert isinstance(block, Block)
    return block.self_attention


@contextmanager
def _changed(attention: MultiHeadAttention, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Let what the heads of a layer give, (b, h, n, d), pass through a function for a while."""
    usual = attention.attention_fn

    def changed(*arguments: Any, **options: Any) -> Tensor:
        return change(usual(*arguments, **options))

    attention.attention_fn = changed
    try:
        yield
    finally:
        attention.attention_fn = usual


@torch.no_grad()
def without_heads(
    model: LanguageModel, sequences: Tensor, lengths: Tensor, layer: int, heads: Collection[int]
) -> list[tuple[float, float]]:
    """Return what is predicted when some heads of a layer always give their mean output."""

    def mean_instead(output: Tensor) -> Tensor:
        mean = output.mean((0, 2), keepdim=True).expand_as(output)
        taken = torch.tensor([head in heads for head in range(output.shape[1])])
        return torch.where(taken[:, None, None], mean, output)

    with _changed(_attention(model, layer), mean_instead):
        return right(model, sequences, lengths)


@torch.no_grad()
def without_positions(
    model: LanguageModel, sequences: Tensor, lengths: Tensor, layer: int, what: str
) -> list[tuple[float, float]]:
    """Return what is predicted when one layer may not look at some positions of every query.

    Args:
        what: "previous" forbids the previous position; "after" those after every earlier
            occurrence.
    """
    n = sequences.shape[1]
    distance = torch.arange(n)[:, None] - torch.arange(n)
    if what == "previous":
        forbidden = (distance == 1)[None, None]
    else:
        copies = (distance + 1) % lengths[:, None, None] == 0
        forbidden = (copies & (distance > 0))[:, None]
    x = model.embedding(sequences)
    for index, block in enumerate(model.decoder.blocks):
        mask = causal_mask(n, like=x)
        x = block(x, attn_mask=mask & ~forbidden if index == layer else mask).x
    assert model.decoder.norm is not None
    logits = model.output(model.decoder.norm(x), model.embedding.words)
    return _hits(logits, sequences, lengths)


def taken_away(
    model: LanguageModel, sequences: Tensor, lengths: Tensor
) -> dict[str, list[tuple[float, float]]]:
    """Return what is predicted without single heads, several heads and single positions.

    The heads of a layer are numbered by their score, the best first: those of the first layer by
    "previous", those of the last by "induction"; "1-2" are the two best together. One layer is
    both the first and the last, and its heads are numbered by "previous".
    """
    scores = head_scores(model, sequences, lengths)
    found: dict[str, list[tuple[float, float]]] = {}
    for layer, name in enumerate(("previous", "induction")[: len(model.decoder.blocks)]):
        ranks = ranked(scores[name])
        groups = {str(rank): [head] for rank, head in enumerate(ranks, 1)}
        groups |= {f"1-{count}": ranks[:count] for count in range(2, len(ranks) + 1)}
        for group, heads in groups.items():
            hits = without_heads(model, sequences, lengths, layer, heads)
            found[f"without/layer{layer + 1}/{group}/test"] = hits
        for what in ("previous", "after"):
            hits = without_positions(model, sequences, lengths, layer, what)
            found[f"forbidden/{what}/layer{layer + 1}/test"] = hits
    return found


def ranked(scores: Sequence[float]) -> list[int]:
    """Return the numbers of the heads, that with the largest score first.

    >>> ranked([0.1, 0.7, 0.2])
    [1, 2, 0]
    """
    return sorted(range(len(scores)), key=lambda head: -scores[head])


# A run


def trial(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one model, for its loss alone."""
    return {"final_loss": fit(replace(setting, every=setting.steps), task, seed)[1]["final_loss"]}


def outcome(setting: Setting, task: Task, seed: int) -> Measures:
    """Train one model, watch it, and take away its heads."""
    model, curves = fit(setting, task, seed)
    measures: dict[str, Any] = {**curves, **turning_points(curves, setting)}
    scores = head_scores(model, *task.test())
    for name, values in scores.items():
        best = sorted(values, reverse=True)
        measures |= {f"head/{name}/{rank}": value for rank, value in enumerate(best, 1)}
        measures[f"heads/{name}"] = float(sum(value >= SHARE for value in values))
    with torch.no_grad():
        asked = {"right/test": right(model, *task.test())} | taken_away(model, *task.test())
    for name, hits in asked.items():
        measures |= {name: percent(hits), by_item(name): hits}
    return measures


def turning_points(measures: dict[str, float], setting: Setting) -> dict[str, float]:
    """Return when the curves of a run rise: the largest gain, and where each is halfway."""
    steps = range(0, setting.steps + 1, setting.every)
    curves = {
        name: {step: measures[f"{name}/{step:04d}"] for step in steps}
        for name in ("accuracy", "previous", "induction")
    }
    at = curves["accuracy"]
    gains = {n: at[n + WITHIN] - at[n] for n in steps if n + WITHIN <= setting.steps} or {0: 0.0}
    steepest = max(gains, key=gains.__getitem__)
    found = {"largest_gain": gains[steepest], "largest_gain_at": float(steepest + WITHIN // 2)}
    for name, curve in curves.items():
        half = curve[setting.steps] / 2
        found[f"half/{name}"] = float(next(step for step in steps if curve[step] >= half))
    return found


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    task = Task(symbols=7, length=12, shortest=3, longest=5, batch_size=4, test_size=6)
    trace: list[float] = []
    for layers in (1, 2):
        setting = Setting(layers, 6, 4e-3, every=3, width=16, num_heads=2)
        trace += numbers(outcome(setting, task, seed=7)).values()
    return trace


def steepest(runs: Runs) -> list[float]:
    """Return the largest gain of two layers within `WITHIN` updates, in % of what they end with."""
    both = zip(runs["two/largest_gain"], runs["two/right/test"], strict=True)
    return [100 * gain / end for gain, end in both]


STUDY = Experiment(
    name="induction", title="Copying what came before, by number of attention layers",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, rates, TASK, metric="loss of the last 20 updates", outcome=trial),
    workers=1,
    config=lambda: {"task": TASK, "arms": reported(), "within": WITHIN, "share": SHARE},
    kinds={
        "*/half/*": number("updates", 0), "*/largest_gain_at": number("updates", 0),
        "*/final_loss": number("nats", 0), "*/accuracy/*": share(TASK.watched, asked="watched"),
        "*/test": share(TASK.test_size), "*/heads/*": number("heads", 0, 4),
        "*/largest_gain": number("points", -100, 100), "*": number("", 0, 1),
    },
    modules=TRANSFORMERS,
    claims=read_claims(__file__, steepest), smoke=smoke,
)  # fmt: skip
