"""Heads of a real language model: which can go, and what their weights explain.

Each seed is one book: a passage of it, and twenty words to guess, so that intervals are over texts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice, product
from statistics import fmean, median
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from companion.attention import attend, attention_with_weights
from companion.heads import repeat_kv
from companion.interpret import erased, flipped, other_places, permuted_weights, top_places
from companion.models.tokenizer import Tokenizer
from companion.models.transformer import LanguageModel
from companion.models.transformer.decoder import through_blocks
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment, Measures, numbers, on
from experiments.engine.kinds import number, share
from experiments.real_heads.heads import (
    FIRST,
    LENGTH,
    SEEDS,
    SIZES,
    TEXTS,
    Heads,
    Measure,
    books,
    changed,
    chosen,
    every,
    loaded,
    orders,
    predicted,
    small,
    tune,
)

ITEMS, LETTERS, BEFORE = 20, 5, 8
"""Words of a book, their least letters, and how far before the end they stood already."""
ORDERS = "by cost", "greedily"
SPARE, STEP = 0.01, 3
"""What a head may cost to be spared, how far apart layers are whose heads are taken by threes."""


class Item(NamedTuple):
    """A context (n,), the word after it, where that stood before, and as many other places."""

    context: Tensor
    word: int
    copies: list[int]
    others: list[int]


@dataclass(frozen=True)
class Given:
    """What one seed is asked: a passage (n,), and items."""

    model: LanguageModel
    passage: Tensor
    items: list[Item]
    means: Tensor  # (layers, h, d)
    chosen: Mapping[str, Heads]
    generator: Generator


def words(tokenizer: Tokenizer, text: str, generator: Generator) -> Iterator[Item]:
    """Yield the words of a text that stood in the tokens before, each a token of its own."""
    ids = tokenizer.encode(text)
    said = [tokenizer.decode([one]) for one in ids]
    for at in range(LENGTH, len(ids) - 1):
        word = said[at].removeprefix(" ")
        whole = word != said[at] and word.isalpha() and not said[at + 1][:1].isalpha()
        context = ids[at - LENGTH : at]
        copies = [place for place in range(1, LENGTH - BEFORE) if context[place] == ids[at]]
        if whole and len(word) >= LETTERS and copies:
            free = sorted({*range(1, LENGTH - 1)} - {*copies})
            order = torch.randperm(len(free), generator=generator)[: len(copies)].tolist()
            yield Item(torch.tensor(context), ids[at], copies, [free[n] for n in order])


# Which heads can go


def costs(given: Given, groups: Mapping[str, Heads]) -> dict[str, float]:
    """Return by how much the loss of a passage rises without each group of heads."""
    with_all = {"none": [], **groups}
    found = predicted(given.model, given.passage, with_all, given.means)
    return {name: found[name][0] - found["none"][0] for name in groups}


def alone(given: Given) -> Measures:
    """Take every head away alone, and many together in the orders that the tuning found."""
    single = costs(given, every(given.model))
    groups = {
        f"{order}/{size}": given.chosen[order][:size] for order, size in product(ORDERS, SIZES)
    }
    found = {"spare": 100 * fmean(cost < SPARE for cost in single.values())}
    found |= {"median": median(single.values()), "most": max(single.values())}
    return single | found | costs(given, groups)


def shared(given: Given) -> Measures:
    """Take the heads that share keys away together, and as many of a layer that share none."""
    h, g = given.model.config.num_heads, given.model.config.groups
    kinds = {"together": torch.arange(h).view(g, -1), "apart": torch.arange(h).view(-1, g).T}
    found = {}
    for kind, rows in kinds.items():
        places = product(range(0, given.model.config.num_layers, STEP), rows.tolist())
        groups = {f"{layer} {row}": [(layer, head) for head in row] for layer, row in places}
        found[kind] = fmean(costs(given, groups).values())
    return found


# What weights explain

Change = Callable[[Tensor, Tensor, Tensor, Item, Generator], Tensor]
"""From weights (h, k) of the last token, values (h, k, d) and W_output (h, d, e) to others."""


def _sized(weights: Tensor, value: Tensor, output: Tensor, *_: Any) -> Tensor:
    """Erase where weight times value is the longest vector (Kobayashi et al., 2020)."""
    return erased(weights, top_places(weights * (value @ output).norm(dim=-1)))


def _swapped(weights: Tensor, *rest: Any) -> Tensor:
    """Let the largest weight and another one change places."""
    top, other = top_places(weights)[:, None], other_places(weights, generator=rest[-1])[:, None]
    largest, small = weights.gather(-1, top), weights.gather(-1, other)
    return weights.scatter(-1, top, small).scatter(-1, other, largest)


def _cut(weights: Tensor, places: Iterable[int]) -> Tensor:
    """Let no head look at some places."""
    for place in places:
        weights = erased(weights, torch.full(weights.shape[:1], place))
    return weights


CHANGES: dict[str, Change] = {
    "none": lambda weights, *_: weights,
    "top": lambda weights, *_: erased(weights, top_places(weights)),
    "other": lambda weights, *rest: erased(weights, other_places(weights, generator=rest[-1])),
    "sized": _sized,
    "swapped": _swapped,
    "permuted": lambda weights, *rest: permuted_weights(weights, generator=rest[-1]),
    "first": lambda weights, *_: _cut(weights, [0]),
    "copies": lambda weights, *rest: _cut(weights, rest[-2].copies),
    "elsewhere": lambda weights, *rest: _cut(weights, rest[-2].others),
}
"""What is done to the weights of the last token, in every head of every layer."""


@torch.no_grad()
def answers(model: LanguageModel, item: Item, generator: Generator) -> Tensor:
    """Return the logits (changes, vocabulary) of the next word, with each change.

    The tokens before the last are read once, as they are.
    """
    narrow = model.start(item.context[None], max_len=1).caches or ()
    rows, length = len(CHANGES), len(item.context)
    wide = model.decoder.make_caches(rows, length)
    for one, many in zip(narrow, wide, strict=True):
        nothing = torch.zeros(1, one.num_kv_heads, 0, one.head_dim)
        many.update(*(held.expand(rows, -1, -1, -1) for held in one.update(nothing, nothing)))

    def change(_: int, layer: Any, __: Measure) -> Measure:
        output = layer.output_proj.weight.T.unflatten(0, (layer.num_heads, -1))

        def attention(
            query: Tensor, key: Tensor, value: Tensor, *more: Any, **options: Any
        ) -> Tensor:
            _, weights = attention_with_weights(query, key, value, *more, **options)
            value = repeat_kv(value, query)
            each = zip(CHANGES.values(), weights[:, :, 0], value, strict=True)
            new = [put(own, held, output, item, generator) for put, own, held in each]
            return attend(torch.stack(new)[:, :, None], value)

        return attention

    last = model.embedding(item.context[-1:].expand(rows, 1), offset=length - 1)
    with changed(model, change):
        hidden = through_blocks(last, model.decoder.blocks, caches=wide).hidden
    assert model.decoder.norm is not None
    return model.output(model.decoder.norm(hidden[:, 0]), model.embedding.words)


def explained(given: Given) -> Measures:
    """Change the weights of the last token of every context; see what the model says instead."""
    logits = torch.stack([answers(given.model, item, given.generator) for item in given.items], 1)
    wanted = torch.tensor([item.word for item in given.items])
    found: dict[str, float] = {}
    for name, own in zip(CHANGES, logits, strict=True):
        found[f"{name}/loss"] = float(cross_entropy(own, wanted))
        found[f"{name}/flips"] = 100 * float(flipped(own, logits[0]).double().mean())
    found["right"] = 100 * float((logits[0].argmax(-1) == wanted).double().mean())
    return {name: value for name, value in found.items() if name != "none/flips"}


# A run

PARTS = {"alone": alone, "shared": shared, "explained": explained}


def outcome(part: str, _: None, seed: int) -> Measures:
    """Ask one part of the questions of one book."""
    model, tokenizer, means, _passages = loaded()
    text, generator = books("reported")[seed - 1], Generator().manual_seed(seed)
    items = list(islice(words(tokenizer, text, generator), ITEMS))
    passage = torch.tensor(tokenizer.encode(text)[:LENGTH])
    given = Given(model, passage, items, means["text"], chosen(), generator)
    return PARTS[part](given)


def smoke() -> list[float]:
    """Run all of it on a model that has learned nothing."""
    model, _, passage, means = small()
    ranks = orders(model, [passage], means["text"])
    items = [Item(passage, 5, [2, 4], [3, 7])]
    given = Given(model, passage, items, means["text"], ranks, Generator().manual_seed(7))
    found = {name: value for part in PARTS.values() for name, value in part(given).items()}
    shares = "right", "flips", "spare"  # which a tie would change
    return [value for name, value in numbers(found).items() if not name.endswith(shares)]


STUDY = Experiment(
    name="real_heads",
    title="Heads of a real language model, taken away and changed",
    seeds=SEEDS, over="texts", arms=lambda: on(None, {name: name for name in PARTS}),
    outcome=outcome, tuning=tune, workers=1,
    config=lambda: {
        "length": LENGTH, "first": FIRST, "items": ITEMS, "letters": LETTERS, "before": BEFORE,
        "spare": SPARE, "step": STEP, "chosen": {kind: chosen()[kind] for kind in ORDERS},
    },
    kinds={
        "alone/spare": number("% of the heads", 0, 100), "*/loss": number("nats", 0),
        "explained/*": share(ITEMS, own=True), "*": number("nats"),
    },
    modules=(
        *TRANSFORMERS, "companion.interpret", "companion.models.smollm",
        "experiments.real_heads.heads",
    ),
    data={
        "credit": "books of Project Gutenberg, named in texts.json",
        "licence": "public domain in the United States",
        "sha256": sha256(TEXTS.read_bytes()).hexdigest(),
    },
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
