"""Does a real language model find five facts in a long text, and by which lead of which heads?

Each seed is a passage of a book with five invented facts, so that intervals are over texts. The
model is SmolLM2-135M-Instruct as its file of 4.5 bits a weight has it, and nothing is trained. It
reads the whole text; then it is asked for each fact in turn, and from the question on its heads may
be allowed their k best keys alone. The heads that are reported were chosen on two other books:
`python -m experiments needle --tune`.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from companion.attention import scaled_dot_product_attention
from companion.heads import repeat_kv
from companion.models.smollm import smollm
from companion.models.tokenizer import Tokenizer
from companion.models.transformer import LanguageModel
from companion.scores import scaled_dot_score
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number
from experiments.engine.record import processor, replace_file, versions
from experiments.real_heads.heads import Heads, best, books, small
from experiments.texts import passages

CHOSEN = Path(__file__).with_name("chosen.json")
LENGTHS = (128, 512, 2048)
"""Tokens before the question."""
READ = 512
"""At how many tokens heads are chosen, and the longest text of five facts of one form."""
KEPT = (1, 4, 16, 64, 256)
"""How many keys a head may read where it may not read all."""
REPORTED = 8
"""Heads whose weights are reported."""
FORMS = (
    ("The password of {} is {}.", "What is the password of {}? The password of {} is"),
    ("The boat of {} is called {}.", "What is the boat of {} called? The boat of {} is called"),
    ("The dog of {} was named {}.", "What was the dog of {} named? The dog of {} was named"),
    ("The shop of {} sells only {}.", "What does the shop of {} sell? The shop of {} sells only"),
    ("The secret of {} was a {}.", "What was the secret of {}? The secret of {} was a"),
)
"""A fact, and its question; a question takes the name twice."""
PLACES = range(len(FORMS))
"""Five facts, from the beginning of the text to its end, a quarter of the text apart."""
NAMES = [
    "Anna", "Oliver", "Sophie", "Peter", "Laura", "Martin", "Emma", "Daniel", "Helen", "Victor",
    "Julia", "Felix", "Clara", "Oscar", "Alice", "Hugo", "Nina", "Simon", "Maria", "Paul",
]  # fmt: skip
WORDS = [
    "copper", "violin", "pepper", "marble", "tiger", "lemon", "candle", "rocket", "basket",
    "coral", "lantern", "pigeon", "velvet", "anchor", "button", "carrot", "dragon", "feather",
    "garlic", "hammer", "island", "jacket", "kettle", "ladder", "magnet", "orange", "pencil",
    "rabbit", "saddle", "tunnel", "umbrella", "walnut", "zebra", "cactus", "diamond", "engine",
    "falcon", "guitar", "honey", "ivory", "jungle", "kitten", "lizard", "mirror", "oyster",
    "parrot", "quartz", "ribbon", "silver", "turtle", "whale",
]  # fmt: skip
"""Each is one token; the answers are among them."""

Attention = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
Found = Iterator[tuple[str, float]]
"""What is measured, by names."""


class Fact(NamedTuple):
    """A fact as tokens: its sentence, its question, and the answer."""

    says: Sequence[int]
    asks: Sequence[int]
    answer: int


class Planted(NamedTuple):
    """A text with facts, and where the answer of each of them is."""

    tokens: Sequence[int]
    answers: Sequence[int]


def planted(hay: Sequence[int], ends: Sequence[int], facts: Sequence[Fact], length: int) -> Planted:
    """Plant facts between the sentences of a text, evenly from its beginning to its end.

    Args:
        ends: after how many tokens sentences end.
        length: tokens of hay and facts together.

    >>> planted([7] * 9, [3, 6], [Fact([1, 2], [], 1), Fact([3, 4], [], 3)], 10)
    Planted(tokens=[1, 2, 7, 7, 7, 7, 7, 7, 3, 4], answers=[0, 8])
    """
    room = length - sum(len(fact.says) for fact in facts)
    cuts = [0, *(end for end in ends if end < room), room]
    tokens: list[int] = []
    answers, done = [], 0
    for place, fact in enumerate(facts):
        wanted = place * room / (len(facts) - 1)
        at = min(cuts, key=lambda cut: abs(cut - wanted))
        tokens += [*hay[done:at], *fact.says]
        answers.append(len(tokens) - 2)  # before the full stop
        done = at
    return Planted([*tokens, *hay[done:room]], answers)


def k_best(k: int) -> Attention:
    """Return attention to the k best keys of each head and query, as `top_keys` allows them."""

    def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        scores: Tensor = scaled_dot_score(query, repeat_kv(key, query))
        scores = scores.masked_fill(~mask, -torch.inf)
        least = scores.topk(min(k, scores.shape[-1])).values[..., -1:]
        return scaled_dot_product_attention(
            query, key, value, mask & (scores >= least), enable_gqa=True
        )

    return attention


class Answer(NamedTuple):
    """What a question gave: the loss of the right word, whether it is likeliest, and weights."""

    loss: float
    right: bool
    weights: Tensor  # (layers, h, n) of the last token of the question; empty if nobody asked


def answered(
    model: LanguageModel, text: Planted, facts: Sequence[Fact], pool: Tensor, kept: Sequence[int]
) -> dict[int, list[Answer]]:
    """Read a text once and ask for every fact, with all keys (0) and with the k best.

    Args:
        pool: the words that may be answers, as ids.
    """
    length = len(text.tokens)
    longest = max(len(fact.asks) for fact in facts)
    state = model.start(torch.tensor([[*text.tokens, 0]]), max_len=longest + 1)
    assert state.caches is not None
    models = {0: model} | {k: model.with_attention(k_best(k), repeat_kv=False) for k in kept}
    found: dict[int, list[Answer]] = {k: [] for k in models}
    for k, reader in models.items():
        blocks = range(model.config.num_layers) if k == 0 else ()
        for fact in facts:
            for one in state.caches:
                one.cut(length)
            asks = reader.embedding(torch.tensor([fact.asks]), offset=length)
            hidden, weights, _ = reader.decoder(asks, caches=state.caches, weights_of=blocks)
            logits = reader.output(hidden[:, -1], reader.embedding.words)[0, pool]
            at = int((pool == fact.answer).nonzero())
            last = [one[0, :, -1] for one in weights if one is not None]
            found[k].append(
                Answer(
                    -float(log_softmax(logits, -1)[at]),
                    int(logits.argmax()) == at,
                    torch.stack(last) if last else torch.empty(0),
                )
            )
    return found


def lead(weight: Tensor, first: Tensor, keys: int) -> Tensor:
    """Return by how much one key leads the hay, all keys but itself and the first.

    The hay's score is the logarithm of the mean of the exponentials of its scores, so that the
    formula of the lesson holds for it whatever the single scores are.

    >>> lead(torch.tensor(0.5), torch.tensor(0.0), 151).round(decimals=2)  # of 149 others
    tensor(5.)
    """
    return weight.log() - ((1 - weight - first) / (keys - 2)).log()


def about_heads(heads: Heads, answers: Sequence[Answer], places: Sequence[int]) -> Found:
    """Yield what heads do: their weights on the answer, the first token and the other answers."""
    for rank, (layer, head) in enumerate(heads, 1):
        rows = [one.weights[layer, head] for one in answers]
        mine = [row[place] for row, place in zip(rows, places, strict=True)]
        firsts = [row[0] for row in rows]
        others = [row[places].sum() - one for row, one in zip(rows, mine, strict=True)]
        both = zip(mine, firsts, rows, strict=True)
        leads = [lead(one, first, len(row)) for one, first, row in both]
        named = {"weight": mine, "first": firsts, "others": others, "lead": leads}
        for name, values in named.items():
            yield f"head/{rank}/{name}", float(torch.stack(values).mean())


def about_answers(answers: Sequence[Answer]) -> Found:
    """Yield right answers and losses, in all and by place."""
    yield "right", 100 * fmean(one.right for one in answers)
    yield "loss", fmean(one.loss for one in answers)
    for place, one in enumerate(answers):
        yield f"place/{place}/right", 100.0 * one.right
        yield f"place/{place}/loss", one.loss


def about_index(heads: Heads, answers: Sequence[Answer], places: Sequence[int]) -> Found:
    """Yield what k best keys hold: of the best head the right one, of all heads their weight."""
    layer, head = heads[0]
    ranks = [
        int((one.weights[layer, head] > one.weights[layer, head, place]).sum())
        for one, place in zip(answers, places, strict=True)
    ]
    best_first = [one.weights.sort(descending=True).values.cumsum(-1) for one in answers]
    for k in KEPT:
        yield f"index/{k}/found", 100 * fmean(rank < k for rank in ranks)
        held = [float(one[..., min(k, one.shape[-1]) - 1].mean()) for one in best_first]
        yield f"index/{k}/weight", fmean(held)


def facts_for(text: str, tokenizer: Tokenizer, seed: int, *, alike: bool) -> list[Fact]:
    """Draw five facts whose names and words the text does not have."""
    draw, lowered = Random(seed), text.lower()
    names = draw.sample([one for one in NAMES if one.lower() not in lowered], len(PLACES))
    words = draw.sample([one for one in WORDS if one not in lowered], len(PLACES))
    forms = [FORMS[0]] * len(PLACES) if alike else draw.sample(FORMS, len(PLACES))
    return [
        Fact(
            tokenizer.encode(f" {says.format(name, word)}"),
            tokenizer.encode(f"\n\n{asks.format(name, name)}"),
            tokenizer.encode(f" {word}")[0],
        )
        for name, word, (says, asks) in zip(names, words, forms, strict=True)
    ]


def measured(
    model: LanguageModel, hay: Sequence[int], ends: Sequence[int], heads: Heads, pool: Tensor,
    facts: Callable[[bool], list[Fact]], lengths: Sequence[int],
) -> Found:  # fmt: skip
    """Yield all that is measured of one text, short and long, with facts of five forms and of one.

    Args:
        facts: gives them; True for facts that are alike.
    """
    for alike, name in ((False, "different"), (True, "alike")):
        mine = facts(alike)
        for length in lengths[:-1] if alike else lengths:
            longest = length == lengths[-1]
            text = planted(hay, ends, mine, length)
            answers = answered(model, text, mine, pool, KEPT if longest else ())
            parts = [about_answers(answers[0]), about_heads(heads, answers[0], text.answers)]
            if longest:
                parts.append(about_index(heads, answers[0], text.answers))
            yield from ((f"{name}/{length}/{one}", value) for part in parts for one, value in part)
            for k in KEPT if longest else ():
                yield f"kept/{k}/right", 100 * fmean(one.right for one in answers[k])


@cache
def texts() -> list[str]:
    """Return the passages, one a seed, and a few more."""
    return [*books("reported"), *(one.text for one in passages())]


def ends_of(tokens: Sequence[int], tokenizer: Tokenizer) -> list[int]:
    """Return after how many tokens sentences end."""
    pieces = (tokenizer.decode([token]).rstrip() for token in tokens)
    return [at for at, piece in enumerate(pieces, 1) if piece.endswith((".", "!", "?"))]


def words(tokenizer: Tokenizer) -> Tensor:
    """Return the ids of all words that may be answers."""
    return torch.tensor([one for word in WORDS for one in tokenizer.encode(f" {word}")])


def chosen() -> Heads:
    """Return the heads that the tuning chose, the best first."""
    heads = json.loads(CHOSEN.read_text(encoding="utf-8"))["heads"]
    return [(layer, head) for layer, head in heads]


@torch.no_grad()
def run(seed: int) -> dict[str, float]:
    """Plant facts in one passage and ask for them."""
    model, tokenizer = smollm()
    text = texts()[seed - 1]
    hay = tokenizer.encode(text)
    return dict(
        measured(
            model, hay, ends_of(hay, tokenizer), chosen(), words(tokenizer),
            lambda alike: facts_for(text, tokenizer, seed, alike=alike), LENGTHS,
        )
    )  # fmt: skip


@torch.no_grad()
def tune(_: int) -> None:
    """Choose the heads that put the most weight on the answer, in two other books."""
    torch.set_num_threads(1)
    model, tokenizer = smollm()
    weights = []
    for seed, text in enumerate(books("tuning"), 101):
        hay, facts = tokenizer.encode(text), facts_for(text, tokenizer, seed, alike=False)
        placed = planted(hay, ends_of(hay, tokenizer), facts, READ)
        answers = answered(model, placed, facts, words(tokenizer), ())[0]
        weights += [one.weights[..., at] for one, at in zip(answers, placed.answers, strict=True)]
    mean = torch.stack(weights).mean(0)
    heads = best(mean, REPORTED)
    made = {
        "seeds": [101, 102], "processor": processor(), "versions": versions(), "heads": heads,
        "weights": [round(float(mean[one]), 3) for one in heads],
    }  # fmt: skip
    replace_file(json.dumps(made) + "\n", CHOSEN)


@torch.no_grad()
def smoke() -> list[float]:
    """Measure all with a model that has learned nothing."""
    model, *_ = small()
    draw = Random(7)
    hay = [draw.randrange(10, 53) for _ in range(60)]
    facts = [Fact([n, 5 + n, 9], [9, n, 9], 5 + n) for n in PLACES]
    found = measured(
        model, hay, range(4, 60, 4), [(0, 1), (1, 2)], torch.arange(5, 53), lambda _: facts,
        (24, 48),
    )  # fmt: skip
    return [value for name, value in found if not name.endswith(("right", "found"))]


def at_the_ends(runs: Runs, what: str) -> list[float]:
    """Return what was measured of the first and the last fact of the longest text, on average."""
    ends = (runs[f"different/{LENGTHS[-1]}/place/{at}/{what}"] for at in (PLACES[0], PLACES[-1]))
    return [fmean(both) for both in zip(*ends, strict=True)]


STUDY = Experiment(
    name="needle",
    title="Facts in a long text that a real language model reads",
    seeds=tuple(range(1, 13)), over="texts", beside=run, tuning=tune, workers=1,
    config=lambda: {
        "lengths": LENGTHS, "kept": KEPT, "forms": FORMS, "names": NAMES, "words": WORDS,
        "heads": chosen(),
    },
    kinds={
        "*/weight": number("", 0, 1), "*/first": number("", 0, 1), "*/others": number("", 0, 1),
        "*/right": number("%", 0, 100), "*/found": number("%", 0, 100),
        "*/lead": number(""), "*": number("nats", 0),
    },
    modules=(
        *TRANSFORMERS, "companion.models.smollm", "experiments.real_heads.heads",
        "experiments.texts",
    ),
    data={
        "credit": "books of Project Gutenberg, named in experiments/real_heads/texts.json and "
        "experiments/texts/texts.yaml",
        "licence": "public domain in the United States",
    },
    claims=read_claims(__file__, at_the_ends), smoke=smoke,
)  # fmt: skip
