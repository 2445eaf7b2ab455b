"""Heads of a real language model: which copy, which can go, and what their weights explain.

Each seed is one book: a passage of it, random tokens that come again, and twenty words to guess,
so that intervals are over texts and tokens. The model is SmolLM2-135M-Instruct as its file has it,
and nothing is trained. A head that is taken away gives its mean output over other texts of the
same kind. Which heads are taken together was chosen on two other books and other random tokens:
`--tune` does that.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from companion.attention import attend, attention_with_weights
from companion.heads import repeat_kv
from companion.interpret import erased, flipped, other_places, permuted_weights, top_places
from companion.models.smollm import smollm
from companion.models.tokenizer import Tokenizer
from companion.models.transformer import Block, LanguageModel, TransformerConfig
from companion.models.transformer.decoder import through_blocks
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment, Measures, numbers, on
from experiments.engine.kinds import number, share
from experiments.engine.record import processor, replace_file, versions
from experiments.induction.study import Task

TEXTS, CHOSEN = (Path(__file__).with_name(f"{name}.json") for name in ("texts", "chosen"))
BOOKS = 10
LENGTH, FIRST = 64, 8
"""Tokens of a passage and of a context, and how many of a passage are not scored."""
TASK, LEAST_ID = Task(symbols=40_000), 1_000
"""Random tokens that come again, as in the lesson, and the number of the first of them."""
BLOCKS, TUNING_BLOCKS, TUNING_SEED = 2, 8, 101
TOGETHER = {"copying": (2, 3, 4, 8, 16, 32), "previous": (1, 3, 16)}
"""How many of the best heads are taken together."""
SIZES, ROUND = (15, 45, 90, 135), 45
"""How many of all heads are taken together, and how many a round of the greedy search takes."""
ITEMS, LETTERS, BEFORE = 20, 5, 8
"""Words of a book, their least letters, and how far before the end they stood already."""
SPARE, STEP, ROWS = 0.01, 3, 9
"""What a head may cost to be spared, how far apart layers are whose heads are taken by threes."""

Measure = Callable[..., Tensor]
Heads = Sequence[tuple[int, int]]
"""Layers and heads, counted from 0."""


class Item(NamedTuple):
    """A context (n,), the word after it, where that stood before, and as many other places."""

    context: Tensor
    word: int
    copies: list[int]
    others: list[int]


@dataclass(frozen=True)
class Given:
    """What one seed is asked: a passage (n,), blocks (b, n) with their lengths, and items."""

    model: LanguageModel
    passage: Tensor
    blocks: tuple[Tensor, Tensor]
    items: list[Item]
    means: Mapping[str, Tensor]  # of "text" and "blocks", (layers, h, d)
    chosen: Mapping[str, Heads]
    generator: Generator


# What is read


def books(kind: str) -> list[str]:
    """Return the texts that are "reported", one a seed, or those for "tuning"."""
    return [one["text"] for one in json.loads(TEXTS.read_text(encoding="utf-8"))[kind]]


def drawn(seed: int, size: int) -> tuple[Tensor, Tensor]:
    """Draw blocks of random tokens that come again, and their lengths."""
    tokens, lengths = TASK.draw(Generator().manual_seed(seed), size)
    return tokens + LEAST_ID, lengths


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


# What is taken away


@contextmanager
def changed(model: LanguageModel, change: Callable[[int, Any, Measure], Measure]) -> Iterator[None]:
    """Let every layer attend by what a function makes of its number, itself and its attention."""
    layers = [block.self_attention for block in model.decoder.blocks if isinstance(block, Block)]
    usual = [layer.attention_fn for layer in layers]
    for index, layer in enumerate(layers):
        layer.attention_fn = change(index, layer, usual[index])
    try:
        yield
    finally:
        for layer, function in zip(layers, usual, strict=True):
            layer.attention_fn = function


@torch.no_grad()
def mean_outputs(model: LanguageModel, tokens: Tensor) -> Tensor:
    """Return the mean output of every head, (layers, h, d)."""
    found: list[Tensor] = []

    def keep(_: int, __: Any, usual: Measure) -> Measure:
        def attention(*given: Any, **options: Any) -> Tensor:
            found.append(usual(*given, **options))
            return found[-1]

        return attention

    with changed(model, keep):
        model(tokens)
    return torch.stack([output.mean((0, 2)) for output in found])


def without(model: LanguageModel, rows: Sequence[Heads], means: Tensor) -> Any:
    """Let some heads give their mean output, in each row of a batch others of them."""
    taken = torch.zeros(len(rows), *means.shape[:2], dtype=torch.bool)
    for row, heads in enumerate(rows):
        for layer, head in heads:
            taken[row, layer, head] = True

    def replace(index: int, _: Any, usual: Measure) -> Measure:
        def attention(*given: Any, **options: Any) -> Tensor:
            output = usual(*given, **options)
            return torch.where(taken[:, index, :, None, None], means[index][:, None], output)

        return attention if taken[:, index].any() else usual

    return changed(model, replace)


@torch.no_grad()
def predicted(
    model: LanguageModel,
    tokens: Tensor,
    groups: Mapping[str, Heads],
    means: Tensor,
    first: int = FIRST,
    base: Heads = (),
) -> dict[str, tuple[float, float]]:
    """Return loss and right predictions, in %, without each group of heads, and without `base`.

    Groups whose first layer is the same are computed together, from that layer on.

    Args:
        tokens: (n,).
        means: from `mean_outputs`.
        first: the first token that is scored.
    """
    assert model.decoder.norm is not None
    x, blocks = model.embedding(tokens[None]), model.decoder.blocks
    starts = {name: min((layer for layer, _ in heads), default=0) for name, heads in groups.items()}
    found = {}
    for index in range(len(blocks)):
        mine = [name for name in groups if starts[name] == index]
        for names in (mine[start : start + ROWS] for start in range(0, len(mine), ROWS)):
            with without(model, [[*groups[name], *base] for name in names], means):
                rows = through_blocks(x.expand(len(names), -1, -1), blocks[index:]).hidden
            scored = model.decoder.norm(rows[:, first - 1 : -1])
            for name, logits in zip(
                names, model.output(scored, model.embedding.words), strict=True
            ):
                right = (logits.argmax(-1) == tokens[first:]).double().mean()
                found[name] = float(cross_entropy(logits, tokens[first:])), 100 * float(right)
        with without(model, [base], means):
            x = through_blocks(x, blocks[index : index + 1]).hidden
    return found


def costs(given: Given, groups: Mapping[str, Heads]) -> dict[str, float]:
    """Return by how much the loss of a passage rises without each group of heads."""
    with_all = {"none": [], **groups}
    found = predicted(given.model, given.passage, with_all, given.means["text"])
    return {name: found[name][0] - found["none"][0] for name in groups}


def every(model: LanguageModel) -> dict[str, Heads]:
    """Return each head as a group of its own."""
    pairs = product(range(model.config.num_layers), range(model.config.num_heads))
    return {f"{layer}.{head}": [(layer, head)] for layer, head in pairs}


# Which heads copy


@torch.no_grad()
def looks(model: LanguageModel, tokens: Tensor, lengths: Tensor) -> dict[str, Tensor]:
    """Return the mean weights of all heads, (layers, h), that the lesson ranks them by.

    They are those on the previous position and, for "copying", on the positions after all earlier
    copies of a token, from the second copy of a block on.
    """
    _, weights = model(tokens, need_weights=True)
    places = torch.arange(tokens.shape[1])
    distance = places[:, None] - places
    after = (distance >= 0) & ((distance + 1) % lengths[:, None, None] == 0)
    known = places >= lengths[:, None]
    return {
        name: torch.stack([(one * at).sum(-1).transpose(1, 2)[known].mean(0) for one in weights])
        for name, at in (("previous", distance == 1), ("copying", after[:, None]))
    }


def best(scores: Tensor, count: int = 32) -> Heads:
    """Return the heads with the largest scores, (layers, h), the largest first."""
    order = scores.flatten().argsort(descending=True)[:count].tolist()
    return [divmod(place, scores.shape[1]) for place in order]


def copying(given: Given) -> Measures:
    """Take copying heads away, one by one and together, from repetitions and from text."""
    ask, copiers = given.model, given.chosen["copying"]
    groups = {"none": [], **{f"alone/{rank}": [one] for rank, one in enumerate(copiers[:8], 1)}}
    for kind, counts in TOGETHER.items():
        groups |= {f"{kind}/{count}": given.chosen[kind][:count] for count in counts}
    layers = {layer for layer, _ in copiers[:16]}
    beside = [one for (one,) in every(ask).values() if one[0] in layers and one not in copiers]
    order = torch.randperm(len(beside), generator=given.generator)[:16].tolist()
    groups["others/16"] = [beside[place] for place in order]
    scores = looks(ask, *given.blocks)["copying"]
    found = {f"weight/{n}": float(scores[one]) for n, one in enumerate(copiers[:16], 1)}
    found["heads"] = float((scores >= 0.2).sum())
    text = predicted(ask, given.passage, groups, given.means["text"])
    again = [
        predicted(ask, row, groups, given.means["blocks"], length + 1)
        for row, length in zip(given.blocks[0], given.blocks[1].tolist(), strict=True)
    ]
    for name in groups:
        loss, right = map(fmean, zip(*(one[name] for one in again), strict=True))
        found |= {f"{name}/repetition": loss, f"{name}/right": right, f"{name}/text": text[name][0]}
    return found


# Which heads can go


def alone(given: Given) -> Measures:
    """Take every head away alone, and many together in the orders that the tuning found."""
    single = costs(given, every(given.model))
    groups = {
        f"{order}/{size}": given.chosen[order][:size]
        for order, size in product(("by cost", "greedily"), SIZES)
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

PARTS = {"copying": copying, "alone": alone, "shared": shared, "explained": explained}


@cache
def loaded() -> tuple[LanguageModel, Tokenizer, Mapping[str, Tensor], list[Tensor]]:
    """Return the model, its tokenizer, the mean outputs of its heads, and the tuning passages."""
    model, tokenizer = smollm()
    passages = [torch.tensor(tokenizer.encode(text)[:LENGTH]) for text in books("tuning")]
    read = {"text": torch.stack(passages), "blocks": drawn(TUNING_SEED, TUNING_BLOCKS)[0]}
    means = {kind: mean_outputs(model, tokens) for kind, tokens in read.items()}
    return model, tokenizer, means, passages


def chosen() -> dict[str, Heads]:
    """Return the heads that the tuning chose, the first first."""
    found = json.loads(CHOSEN.read_text(encoding="utf-8"))["heads"]
    return {name: [(layer, head) for layer, head in heads] for name, heads in found.items()}


def outcome(part: str, _: None, seed: int) -> Measures:
    """Ask one part of the questions of one book."""
    model, tokenizer, means, _passages = loaded()
    text, generator = books("reported")[seed - 1], Generator().manual_seed(seed)
    items = list(islice(words(tokenizer, text, generator), ITEMS))
    passage = torch.tensor(tokenizer.encode(text)[:LENGTH])
    given = Given(model, passage, drawn(seed, BLOCKS), items, means, chosen(), generator)
    return PARTS[part](given)


def orders(model: LanguageModel, passages: Sequence[Tensor], means: Tensor) -> dict[str, Heads]:
    """Return heads by what each costs alone, and in rounds in which those before are gone."""
    ranks: list[list[tuple[int, int]]] = []
    gone: list[tuple[int, int]] = []
    while len(gone) < SIZES[-1] and len(gone) < len(every(model)):
        left = {name: heads for name, heads in every(model).items() if heads[0] not in gone}
        each = [predicted(model, passage, left, means, base=gone) for passage in passages]
        mean = {name: fmean(one[name][0] for one in each) for name in left}
        ranks.append([left[name][0] for name in sorted(left, key=mean.__getitem__)])
        gone += ranks[-1][:ROUND]
    return {"by cost": ranks[0][: SIZES[-1]], "greedily": gone[: SIZES[-1]]}


def tune(_: int) -> None:
    """Choose heads on two other books and on other random tokens."""
    torch.set_num_threads(1)
    model, _tokenizer, means, passages = loaded()
    scores = looks(model, *drawn(TUNING_SEED, TUNING_BLOCKS))
    heads = {name: best(one) for name, one in scores.items()}
    heads |= orders(model, passages, means["text"])
    made = {"seed": TUNING_SEED, "processor": processor(), "versions": versions(), "heads": heads}
    replace_file(json.dumps(made) + "\n", CHOSEN)


def smoke() -> list[float]:
    """Run all of it on a model that has learned nothing."""
    config = TransformerConfig(
        vocab_size=53, embed_dim=24, num_heads=4, num_kv_heads=2, num_layers=2,
        positions="rotary", norm="rms", activation="silu", gated=True, embedding_scale=False,
    )  # fmt: skip
    generator = Generator().manual_seed(7)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = LanguageModel(config).eval()
    blocks = Task(symbols=53, length=12, shortest=3, longest=5).draw(generator, 2)
    passage = torch.randint(53, (12,), generator=generator)
    means = {"text": mean_outputs(model, passage[None]), "blocks": mean_outputs(model, blocks[0])}
    heads = {name: best(one) for name, one in looks(model, *blocks).items()}
    heads |= orders(model, [passage], means["text"])
    items = [Item(passage, 5, [2, 4], [3, 7])]
    given = Given(model, passage, blocks, items, means, heads, generator)
    found = {name: value for part in PARTS.values() for name, value in part(given).items()}
    shares = "right", "flips", "spare", "heads"  # which a tie would change
    return [value for name, value in numbers(found).items() if not name.endswith(shares)]


STUDY = Experiment(
    name="real_heads",
    title="Heads of a real language model, taken away and changed",
    seeds=tuple(range(1, BOOKS + 1)), arms=lambda: on(None, {name: name for name in PARTS}),
    outcome=outcome, tuning=tune, workers=1,
    config=lambda: {
        "length": LENGTH, "first": FIRST, "task": TASK, "blocks": BLOCKS, "items": ITEMS,
        "letters": LETTERS, "before": BEFORE, "spare": SPARE, "step": STEP, "chosen": chosen(),
    },
    kinds={
        "copying/weight/*": number("", 0, 1), "copying/heads": number("heads", 0, 270),
        "copying/*/right": number("%", 0, 100), "*/loss": number("nats", 0),
        "copying/*": number("nats", 0), "alone/spare": number("% of the heads", 0, 100),
        "explained/*": share(ITEMS, own=True), "*": number("nats"),
    },
    modules=(
        *TRANSFORMERS, "companion.interpret", "companion.models.smollm",
        "experiments.induction.study",
    ),
    data={
        "credit": "twelve books of Project Gutenberg, named in texts.json",
        "licence": "public domain in the United States",
        "sha256": sha256(TEXTS.read_bytes()).hexdigest(),
    },
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
