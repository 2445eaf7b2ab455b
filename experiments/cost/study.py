"""What attention costs, on one core: time and memory against length, and training beside decoding.

A run measures everything; its seed draws the arrays. At one length, the layers and the parts of a
block are interleaved. Lengths come one after the other, and so do an update and the steps of
decoding by context and batch size: what else the machine does may strike them differently. Times
are CPU times of one thread. Bounds come from the same run as what is held against them.

The runs are rounds on one machine. Before another machine, or another day, is measured, the record
moves to `machines`, whose records stand beside the latest on the page.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from companion import cost as costs
from companion.attention import scaled_dot_product_attention
from companion.dispatch import definitions
from companion.layers import FeedForward
from companion.linear import elu_feature_map, linear_attention
from companion.models.transformer import Block, LanguageModel, TransformerConfig
from companion.models.transformer.language_model import PromptState
from companion.models.transformer.states import changes_of
from companion.tiled import tiled_attention, window_attention
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment, in_parallel
from experiments.engine.kinds import number

SEEDS = (1, 2, 3, 4, 5)
ROUNDS = 5
"""Readings in a run, two of an update; the least counts: what else the machine does only adds."""


@dataclass(frozen=True)
class Growth:
    """A layer of self-attention without a mask, and what stands beside it in a Transformer."""

    embed_dim: int = 256
    num_heads: int = 4
    window: int = 64  # keys on either side in the window
    # Tokens, each twice the one before
    lengths: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048, 4096)
    fitted_from: int = 512  # the least length from which exponents are fitted
    memory_lengths: tuple[int, ...] = (1536, 2048, 3072, 4096)  # tokens at which memory is measured

    @property
    def config(self) -> TransformerConfig:
        """The block, whose feed-forward layer is four times as wide as its embeddings."""
        return TransformerConfig(2, embed_dim=self.embed_dim, num_heads=self.num_heads)


@dataclass(frozen=True)
class Writing:
    """A language model that is trained, and that writes."""

    embed_dim: int = 512
    num_heads: int = 8
    num_layers: int = 4
    vocab_size: int = 2000
    # Sequences that are written side by side
    batch_sizes: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    # Tokens in the cache, by the most sequences that are tried with so many
    contexts: tuple[tuple[int, int], ...] = ((128, 64), (2048, 16))
    train_batch: int = 8  # sequences of a training step
    train_length: int = 128  # tokens of each

    @property
    def config(self) -> TransformerConfig:
        """The model's shape."""
        return TransformerConfig(
            self.vocab_size, embed_dim=self.embed_dim, num_heads=self.num_heads,
            num_layers=self.num_layers, positions="rotary", dropout_p=0.0,
        )  # fmt: skip


GROWTH = Growth()
WRITING = Writing()

Calls = dict[str, Callable[[], object]]


def textbook(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention as textbooks write it, with the whole matrix, (..., n, n)."""
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    return torch.softmax(scores, -1) @ value


def in_tiles(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Compute attention tile by tile, each by several calls of torch: the definition's loop."""
    with definitions():
        return tiled_attention(query, key, value)


def mixers(growth: Growth, n: int, seed: int) -> Calls:
    """Return calls that turn queries, keys and values (1, h, n, d) into an output, and a GRU."""
    generator = torch.Generator().manual_seed(seed)
    e, h, w = growth.embed_dim, growth.num_heads, growth.window
    query, key, value = torch.randn(3, 1, h, n, e // h, generator=generator)
    x = torch.randn(1, n, e, generator=generator)
    torch.manual_seed(seed)
    gru = nn.GRU(e, e, batch_first=True)
    return {
        "textbook": lambda: textbook(query, key, value),
        "fused": lambda: scaled_dot_product_attention(query, key, value),
        "tiled": lambda: in_tiles(query, key, value),
        "window": lambda: window_attention(query, key, value, left=w, right=w),
        "linear": lambda: linear_attention(
            query, key, value, feature_map=elu_feature_map, is_causal=False
        ),
        "recurrent": lambda: gru(x)[0],
    }


def parts(growth: Growth, n: int, seed: int) -> Calls:
    """Return calls of a Transformer's block: its weights' products, and all of it."""
    torch.manual_seed(seed)
    e = growth.embed_dim
    x = torch.randn(1, n, e)
    together, output = nn.Linear(e, 3 * e, bias=False), nn.Linear(e, e, bias=False)
    feed_forward = FeedForward(e, 4 * e, activation="relu").eval()
    block = Block(growth.config).eval()
    return {
        "projections": lambda: (together(x), output(x)),
        "feed_forward": lambda: feed_forward(x),
        "block": lambda: block(x),
    }


def flops_of(growth: Growth, n: int) -> dict[str, int]:
    """Return the operations of every call of `mixers` and `parts`, by formula."""
    e, h, w = growth.embed_dim, growth.num_heads, growth.window
    attention = costs.multi_head_flops(e, h, q_len=n)
    band = costs.tiled_pairs(n, left=w, right=w)
    full = attention.scores + attention.blend
    feed_forward = costs.feed_forward_flops(e, 4 * e, tokens=n)
    return {
        "textbook": full,
        "fused": full,
        "tiled": full,
        "window": costs.tiled_flops(h, band, head_dim=e // h).forward,
        "linear": costs.linear_attention_flops(
            e // h, e // h, length=n, num_heads=h, is_causal=False, normalised=True
        ),
        "recurrent": costs.recurrent_flops("gru", e, e, tokens=n),
        "projections": attention.projections,
        "feed_forward": feed_forward,
        "block": attention.total + feed_forward,
    }


def least(calls: Calls, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least CPU seconds of every call."""
    return {name: min(times) for name, times in costs.cpu_seconds(calls, rounds=rounds).items()}


def growth_of(growth: Growth, seed: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Measure time against length: milliseconds, what doubling does, exponents and crossings."""
    seconds: dict[str, dict[int, float]] = {}
    with torch.no_grad():
        for n in growth.lengths:
            calls = mixers(growth, n, seed) | parts(growth, n, seed)
            for name, value in least(calls, rounds).items():
                seconds.setdefault(name, {})[n] = value
    measures = {
        f"time/{name}/{n}": 1e3 * value
        for name, values in seconds.items()
        for n, value in values.items()
    }
    long = [n for n in growth.lengths if n >= growth.fitted_from]
    for name, values in seconds.items():
        measures[f"exponent/{name}"] = costs.fit_exponent(long, [values[n] for n in long]).exponent
        for n in growth.lengths[:-1]:
            measures[f"doubling/{name}/{n}"] = values[2 * n] / values[n]
        for n in growth.lengths:
            measures[f"rate/{name}/{n}"] = flops_of(growth, n)[name] / values[n] / 1e9
    counted = costs.crossover_length(growth.config, with_projections=False)
    for name in ("textbook", "fused"):
        crossing = crossed(growth.lengths, seconds[name], seconds["feed_forward"])
        measures[f"crossing/{name}"] = crossing
        measures[f"crossing/{name}/relative"] = crossing / counted
    return measures


def crossed(
    lengths: Sequence[int], rising: Mapping[int, float], other: Mapping[int, float]
) -> float:
    """Return the length from which one time is above another, between two that were measured.

    Both are power laws from one length to the next; the last length at which the first is not
    above the other begins the interval. Never above, it is the last length; always, the first.

    >>> round(crossed([1, 4, 16], {1: 1.0, 4: 16.0, 16: 256.0}, {1: 2.0, 4: 8.0, 16: 32.0}), 6)
    2.0
    """
    gaps = [math.log(rising[n] / other[n]) for n in lengths]
    below = [i for i, gap in enumerate(gaps) if gap <= 0]
    if not below:
        return float(lengths[0])
    last = below[-1]
    if last == len(lengths) - 1:
        return float(lengths[-1])
    share = gaps[last] / (gaps[last] - gaps[last + 1])
    return float(lengths[last] * (lengths[last + 1] / lengths[last]) ** share)


MEMORY = ("textbook", "fused", "tiled")


def memory_of(growth: Growth, seed: int) -> dict[str, float]:
    """Measure by how many megabytes a call raises the resident size, and the exponent of that."""
    measures: dict[str, float] = {}
    with torch.no_grad():
        for n in growth.memory_lengths:
            calls = mixers(growth, n, seed)
            for name in MEMORY:
                calls[name]()
                measures[f"peak/{name}/{n}"] = costs.peak_resident_bytes(calls[name]) / 2**20
    values = [measures[f"peak/textbook/{n}"] for n in growth.memory_lengths]
    measures["peak/textbook/exponent"] = costs.fit_exponent(growth.memory_lengths, values).exponent
    last = growth.memory_lengths[-1]
    matrix = costs.array_bytes(growth.num_heads, last, last, dtype=torch.float32) / 2**20
    for name in MEMORY:
        measures[f"peak/{name}/matrices"] = measures[f"peak/{name}/{last}"] / matrix
    return measures


def writer(writing: Writing, seed: int) -> LanguageModel:
    """Draw a model; nothing that is measured depends on what it has learned."""
    torch.manual_seed(seed)
    return LanguageModel(writing.config).eval()


def filled(model: LanguageModel, batch_size: int, context: int, steps: int) -> PromptState:
    """Return a state as if `context` tokens had been read, with keys and values at random."""
    config = model.config
    caches = model.decoder.make_caches(batch_size, context + steps)
    one = torch.randn(2, 1, config.groups, context, config.width_of_head)
    for cache in caches:
        cache.update(*one.expand(-1, batch_size, -1, -1, -1))
    last = torch.zeros(batch_size, dtype=torch.int64)
    return PromptState(last, caches, None, None, changes_of(caches))


class Writer:
    """Write on, a token of every sequence a call."""

    def __init__(self, model: LanguageModel, state: PromptState) -> None:
        self.model, self.state = model, state

    def __call__(self) -> None:
        """Take one step."""
        with torch.no_grad():
            self.state = self.model.step(self.state.last, self.state).state


def trainer(writing: Writing, seed: int) -> Callable[[], object]:
    """Return a call that is one update with AdamW."""
    model = writer(writing, seed).train()
    optimizer = torch.optim.AdamW(model.parameters())
    shape = writing.train_batch, writing.train_length + 1
    tokens = torch.randint(writing.vocab_size, shape)

    def update() -> None:
        optimizer.zero_grad()
        loss = model.loss(tokens)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return update


def training_cost(writing: Writing) -> int:
    """Return the operations of an update."""
    length, rows = writing.train_length, writing.train_batch
    forward = costs.count_flops(writing.config, "language_model", length=length, batch_size=rows)
    return costs.training_flops(forward.total)


def writing_of(
    writing: Writing, seed: int, roof: costs.Roofline, rounds: int = ROUNDS, steps: int = 200
) -> dict[str, float]:
    """Measure a training step and steps of decoding, and hold both against the roofline."""
    measures: dict[str, float] = {}
    tokens = writing.train_batch * writing.train_length
    flops = training_cost(writing)
    seconds = least({"train": trainer(writing, seed)}, min(rounds, 2))["train"]  # a long call
    measures["train/time"] = 1e3 * seconds / tokens
    measures["train/of_peak"] = 100 * flops / seconds / roof.flops
    model = writer(writing, seed)
    for context, most in writing.contexts:
        for b in (size for size in writing.batch_sizes if size <= most):
            call = Writer(model, filled(model, b, context, steps))
            seconds = least({"step": call}, rounds)["step"]
            cost = costs.step_cost(writing.config, cached=context, batch_size=b)
            name = f"decode/{context}/{b}"
            measures[f"{name}/time"] = 1e3 * seconds / b
            measures[f"{name}/rate"] = cost.flops / seconds / 1e9
            measures[f"{name}/of_peak"] = 100 * cost.flops / seconds / roof.flops
            measures[f"{name}/of_memory"] = 100 * cost.moved / seconds / roof.bandwidth
            measures[f"{name}/of_roof"] = 100 * roof.seconds(cost.flops, cost.moved) / seconds
        for b in (size for size in writing.batch_sizes if size <= most):
            times = measures[f"decode/{context}/{b}/time"], measures[f"decode/{context}/1/time"]
            measures[f"decode/{context}/{b}/share"] = times[0] / times[1]
    first, _ = writing.contexts[0]
    measures["train/to_decode"] = measures["train/time"] / measures[f"decode/{first}/1/time"]
    return measures


def outcome(seed: int) -> dict[str, float]:
    """Measure everything."""
    roof = costs.measure_roofline()
    return {
        "roof/peak": roof.flops / 1e9,
        "roof/bandwidth": roof.bandwidth / 1e9,
        "roof/ridge": roof.ridge,
        **growth_of(GROWTH, seed),
        **writing_of(WRITING, seed, roof),
        **in_parallel(memory_of, [(GROWTH, seed)], 1)[0],  # in a process without a past
    }


def smoke() -> list[float]:
    """Run the whole pipeline small, and return what it counts; how long it takes is not told."""
    growth = Growth(8, 2, 3, (8, 16, 32), 8, (16,))
    writing = Writing(8, 2, 1, 11, (1, 2), ((4, 2),), 2, 3)
    timed = growth_of(growth, 7, rounds=1)
    timed |= writing_of(writing, 7, costs.Roofline(1e9, 1e9), rounds=1, steps=2000)
    times = [value for name, value in timed.items() if "time" in name]
    trace = [float(len(timed)), float(len(times)), float(all(0 < x < math.inf for x in times))]
    with torch.no_grad():
        for name, call in (mixers(growth, 32, 7) | parts(growth, 32, 7)).items():
            trace += [float(flops_of(growth, 32)[name]), float(costs.measure_flops(call))]
            with costs.LiveBytes() as count:
                made: Any = call()
            trace.append(float(count.peak))
            if isinstance(made, Tensor):
                trace.append(float(made.abs().mean()))
            del made
    model = writer(writing, 7)
    step = Writer(model, filled(model, 2, 4, 10))
    trace += [float(x) for x in costs.step_cost(writing.config, cached=4, batch_size=2)]
    trace.append(float(costs.measure_flops(step)))
    trace += [float(training_cost(writing)), float(costs.measure_flops(trainer(writing, 7)))]
    return trace


STUDY = Experiment(
    name="cost", title="What attention costs",
    seeds=SEEDS, beside=outcome, timed=True,
    config=lambda: {
        "growth": GROWTH, "writing": WRITING, "rounds": ROUNDS,
        "counted_crossing": costs.crossover_length(GROWTH.config, with_projections=False),
    },
    kinds={
        "*exponent*": number("", timed=True),
        **{
            name: number(unit, 0, timed=True)
            for name, unit in {
                "*/matrices": "", "*/relative": "", "time/*": "ms", "*/time": "ms",
                "rate/*": "GFLOP/s", "*/rate": "GFLOP/s", "*/of_*": "%", "roof/peak": "GFLOP/s",
                "roof/bandwidth": "GB/s", "roof/ridge": "FLOP/byte", "crossing/*": "tokens",
                "peak/*": "MB", "*": "",
            }.items()
        },
    },
    modules=(*TRANSFORMERS, "companion.cost", "companion.linear", "companion.tiled"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
