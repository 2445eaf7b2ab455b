"""The heads of a real language model: how they are read, found, and taken away.

The model is SmolLM2-135M-Instruct as its file has it, and nothing is trained. A head that is taken
away gives its mean output over other texts of the same kind. Which heads are taken together was
chosen on two other books and other random tokens: `python -m experiments real_heads --tune`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from companion.models.smollm import smollm
from companion.models.tokenizer import Tokenizer
from companion.models.transformer import Block, LanguageModel
from companion.models.transformer.decoder import through_blocks
from experiments.engine.record import processor, replace_file, versions
from experiments.engine.untrained import untrained
from experiments.induction.study import Task

TEXTS, CHOSEN = (Path(__file__).with_name(f"{name}.json") for name in ("texts", "chosen"))
SEEDS = tuple(range(1, 11))
"""One for each book that is reported."""
LENGTH, FIRST = 64, 8
"""Tokens of a passage and of a context, and how many of a passage are not scored."""
TASK, LEAST_ID = Task(symbols=40_000), 1_000
"""Random tokens that come again, as in the lesson, and the number of the first of them."""
TUNING_BLOCKS, TUNING_SEED = 8, 101
SIZES, ROUND = (15, 45, 90, 135), 45
"""How many of all heads are taken together, and how many a round of the greedy search takes."""
ROWS = 9

Measure = Callable[..., Tensor]
Heads = Sequence[tuple[int, int]]
"""Layers and heads, counted from 0."""


# What is read


def books(kind: str) -> list[str]:
    """Return the texts that are "reported", one a seed, or those for "tuning"."""
    return [one["text"] for one in json.loads(TEXTS.read_text(encoding="utf-8"))[kind]]


def drawn(seed: int, size: int) -> tuple[Tensor, Tensor]:
    """Draw blocks of random tokens that come again, and their lengths."""
    tokens, lengths = TASK.draw(Generator().manual_seed(seed), size)
    return tokens + LEAST_ID, lengths


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


# What the tuning chooses


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


def small() -> tuple[LanguageModel, tuple[Tensor, Tensor], Tensor, dict[str, Tensor]]:
    """Return a model that has learned nothing, and what it is given: blocks, a passage, means."""
    model, _ = untrained(heads=4)
    generator = Generator().manual_seed(7)
    blocks = Task(symbols=53, length=12, shortest=3, longest=5).draw(generator, 2)
    passage = torch.randint(53, (12,), generator=generator)
    read = {"text": passage[None], "blocks": blocks[0]}
    return model, blocks, passage, {kind: mean_outputs(model, one) for kind, one in read.items()}
