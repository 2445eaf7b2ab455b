"""What a language model writes, by how a word is chosen; and what a wider search finds.

A small model reads English sentences of the grammar. Temperature, top-k and top-p then decide how
it writes: the grammar itself judges each sentence. Greedy decoding and beams of several widths go
on from two words, beside an exact search.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from bookkit.data.grammar import english_spanish
from bookkit.data.grammar.reading import read
from companion.data.batching import Batch, PooledBatches
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.decoding import Decoded, beam, greedy, sample
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.training import TrainingConfig
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import GRAMMAR, TEXTS, TRANSFORMERS
from experiments.engine.descent import train_new
from experiments.engine.experiment import Answers, Experiment, by_item, numbers
from experiments.engine.kinds import number, share

SEEDS = tuple(range(11, 31))
TEMPERATURES = (0.25, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 1.0, 1.25)
TOP_PS = (0.5, 0.75, 0.9)
TOP_KS = (2, 5, 10)
WIDTHS = (1, 2, 5, 20)
PENALTIES = (0.0, 0.6, 1.0)
SAME = 1e-3
"""Nats: two searches end with equally probable sentences if they differ by less."""


@dataclass(frozen=True)
class Setting:
    """The language model and its training."""

    learning_rate: float = 0.01
    steps: int = 300
    batch_size: int = 64
    embed_dim: int = 64
    num_heads: int = 4
    num_layers: int = 2


@dataclass(frozen=True)
class Task:
    """What the model reads, how much it writes, and which beginnings are gone on from.

    The beginnings are the first words of sentences that no model has read.
    """

    sentences: int = 6000
    max_length: int = 10
    samples: int = 1000
    beginnings: int = 150
    begin_with: int = 2
    limit: int = 30
    unread_seed: int = 70_101


@dataclass(frozen=True)
class Choice:
    """How a word is drawn."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None


TASK = Task()


class Written(NamedTuple):
    """A trained model, its words, the sentences that it has read, and its training losses."""

    model: LanguageModel
    vocab: Vocabulary
    seen: frozenset[tuple[str, ...]]
    losses: list[float]


def fit(setting: Setting, task: Task, seed: int) -> Written:
    """Train a language model on sentences of its own."""
    pairs = english_spanish(
        task.sentences, seed=seed, max_length=task.max_length, exclude=unread(task)
    )
    sentences = [pair.source for pair in pairs]
    vocab = Vocabulary.from_tokens([*sentences, *(pair.source for pair in unread(task))])
    batches = PooledBatches(
        [Pair(words, words) for words in sentences],
        vocab, vocab, batch_size=setting.batch_size, seed=seed,
    )  # fmt: skip
    config = TrainingConfig(setting.steps, setting.learning_rate, min(50, setting.steps), seed=seed)
    shape = model_config(setting, len(vocab))
    model, losses = train_new(lambda: LanguageModel(shape), batches, next_word_loss, config)
    return Written(model, vocab, frozenset(sentences), losses)


def model_config(setting: Setting, vocab_size: int) -> TransformerConfig:
    """Return the model's configuration."""
    return TransformerConfig(
        vocab_size, embed_dim=setting.embed_dim, num_heads=setting.num_heads,
        num_layers=setting.num_layers, hidden_dim=2 * setting.embed_dim, positions="rotary",
        dropout_p=0.0,
    )  # fmt: skip


def unread(task: Task) -> list[Pair]:
    """Return sentences that no model reads, four for every beginning that is wanted."""
    return english_spanish(
        4 * task.beginnings, seed=task.unread_seed, min_length=task.begin_with + 2,
        max_length=task.max_length,
    )  # fmt: skip


def next_word_loss(model: LanguageModel, batch: Batch) -> Tensor:
    """Return the loss of every word and of the end, after the beginning."""
    tokens = torch.cat((batch.target_in[:, :1], batch.target_out), 1)
    return model.loss(tokens, batch.target_mask.sum(1) + 1)


# Writing


def choices() -> dict[str, Choice]:
    """Return every rule for drawing a word that is reported."""
    return {
        **{f"temperature/{t}": Choice(temperature=t) for t in TEMPERATURES},
        **{f"top_p/{p}": Choice(top_p=p) for p in TOP_PS},
        **{f"top_k/{k}": Choice(top_k=k) for k in TOP_KS},
    }


def drawn(written: Written, choice: Choice, task: Task, seed: int) -> dict[str, float]:
    """Let the model write, and judge: shares in percent."""
    model, vocab = written.model, written.vocab
    state = model.start(torch.full((task.samples, 1), vocab.bos_id), max_len=task.limit)
    decoded = sample(
        model.step, state, batch_size=task.samples, bos_id=state.last, eos_id=vocab.eos_id,
        max_len=task.limit, generator=Generator().manual_seed(seed), **asdict(choice),
    )  # fmt: skip
    sentences = spelled(decoded, vocab)
    sound = {words for words in set(sentences) if read(words) is not None}
    right = [words in sound for words in sentences]
    return {
        "grammatical": 100 * fmean(right),
        "distinct": 100 * len(set(sentences)) / len(sentences),
        "new": 100 * len(sound - written.seen) / len(sentences),
        "words": fmean(len(words) for words in sentences),
    }


def spelled(decoded: Decoded, vocab: Vocabulary) -> list[tuple[str, ...]]:
    """Return the words of every sentence; `<cut>` stands at the end of one that did not end."""
    rows = zip(decoded.sequences(), decoded.finished.tolist(), strict=True)
    return [(*(vocab.tokens[i] for i in ids), *(() if end else ("<cut>",))) for ids, end in rows]


# Searching


def searched(written: Written, task: Task) -> dict[str, float | Answers]:
    """Go on from every beginning by greedy decoding, beams and exact search."""
    model, vocab = written.model, written.vocab
    begins = dict.fromkeys(pair.source[: task.begin_with] for pair in unread(task))
    prompts = [[vocab.bos_id, *vocab.encode(words)] for words in [*begins][: task.beginnings]]
    searches = {}
    for width in WIDTHS:
        searches[f"beam/{width}"] = gone_on(model, vocab, prompts, task.limit, width, 0.0)
    for penalty in PENALTIES[1:]:
        searches[f"penalty/{penalty}"] = gone_on(model, vocab, prompts, task.limit, 5, penalty)
    best = [
        most_probable(model, prompt, vocab.eos_id, task.limit, at_least=bound)
        for prompt, bound in zip(prompts, searches[f"beam/{WIDTHS[-1]}"].log_probs, strict=True)
    ]
    searches["exact"] = Continuations([words for words, _ in best], [total for _, total in best])
    greedily = searches["beam/1"].log_probs
    measures: dict[str, float | Answers] = {}
    for name, (ids, totals) in searches.items():
        sentences = [
            tuple(vocab.tokens[i] for i in (*prompt[1:], *more))
            for prompt, more in zip(prompts, ids, strict=True)
        ]
        pairs = list(zip(totals, greedily, strict=True))
        sound = [float(read(words) is not None) for words in sentences]
        lost = [top - total for (_, top), total in zip(best, totals, strict=True)]
        measures |= {
            f"{name}/log_prob": fmean(totals),
            f"{name}/above_greedy": 100 * fmean(total > first + SAME for total, first in pairs),
            f"{name}/below_greedy": 100 * fmean(total < first - SAME for total, first in pairs),
            f"{name}/is_best": 100 * fmean(loss < SAME for loss in lost),
            f"{name}/words": fmean(len(more) for more in ids),
            f"{name}/grammatical": 100 * fmean(sound),
            by_item(f"{name}/grammatical"): [(hit, 1.0) for hit in sound],
        }
    return measures


class Continuations(NamedTuple):
    """What was written after every beginning, without its end, and its log-probability."""

    ids: list[list[int]]
    log_probs: list[float]


def gone_on(
    model: LanguageModel,
    vocab: Vocabulary,
    prompts: Sequence[Sequence[int]],
    limit: int,
    width: int,
    penalty: float,
) -> Continuations:
    """Go on from prompts of one length, greedily if the width is 1."""
    state = model.start(torch.tensor(prompts), max_len=limit, beam_size=width)
    if width == 1:
        decoded = greedy(
            model.step, state,
            batch_size=len(prompts), bos_id=state.last, eos_id=vocab.eos_id, max_len=limit,
        )  # fmt: skip
    else:
        decoded = beam(
            model.step, state, reorder=model.reorder,
            batch_size=len(prompts), bos_id=state.last, eos_id=vocab.eos_id, max_len=limit,
            beam_size=width, length_penalty=penalty,
        )  # fmt: skip
    totals = decoded.log_probs.double().sum(1).where(decoded.finished, -math.inf)
    return Continuations(decoded.sequences(), totals.tolist())


@torch.no_grad()
def most_probable(
    model: LanguageModel, prompt: Sequence[int], eos_id: int, limit: int, *, at_least: float
) -> tuple[list[int], float]:
    """Find the most probable continuation there is (Stahlberg and Byrne, 2019).

    Log-probabilities only fall: a beginning that is less probable than a sentence that is known
    need not be followed. All others are.

    Args:
        limit: most tokens, the end included.
        at_least: log-probability of some continuation.

    Returns:
        The continuation without its end, and its log-probability.
    """
    rows = torch.tensor([prompt])
    totals, best, continuation = torch.zeros(1), at_least - SAME / 2, list[int]()
    for _ in range(limit):
        logits = torch.cat([model(part)[:, -1] for part in torch.split(rows, 2048)])
        given = totals[:, None] + logits.log_softmax(-1)
        end, row = given[:, eos_id].max(0)
        if end > best:
            best, continuation = float(end), rows[row, len(prompt) :].tolist()
        given[:, eos_id] = -math.inf
        parents, words = (given > best).nonzero(as_tuple=True)
        if not len(parents):
            break
        rows = torch.cat((rows[parents], words[:, None]), 1)
        totals = given[parents, words]
    return continuation, best


def outcome(
    seed: int, setting: Setting = Setting(), task: Task = TASK
) -> dict[str, float | Answers]:
    """Train one model, and measure what it writes and what searches find in it."""
    written = fit(setting, task, seed)
    measures: dict[str, float | Answers] = {"final_loss": fmean(written.losses[-20:])}
    for name, choice in choices().items():
        shares = drawn(written, choice, task, seed)
        measures |= {f"{name}/{what}": value for what, value in shares.items()}
    return {**measures, **searched(written, task)}


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates, then all that is measured."""
    task = Task(sentences=150, max_length=6, samples=12, beginnings=3, limit=8)
    setting = Setting(steps=8, batch_size=16, embed_dim=16)
    measures = numbers(outcome(7, setting, task))
    # A model that has hardly begun may never end a sentence, whose log-probability is then -inf.
    ended = [value for value in measures.values() if math.isfinite(value)]
    return [*fit(setting, task, seed=7).losses, *ended]


def ahead_of_temperature(runs: Runs, cut: str) -> list[float]:
    """Return by how much a cut is more grammatical than the temperature that is as varied.

    That is the temperature at which, on average over the runs, as many sentences are distinct.
    Between neighbours among those that were tried, both shares are taken to be linear. A run whose
    cut is more varied than its temperature is credited for it, and one that is less is charged,
    at the rate at which the two temperatures trade sound sentences for distinct ones.
    """
    distinct, sound = (
        np.array([runs[f"temperature/{t}/{what}"] for t in TEMPERATURES])
        for what in ("distinct", "grammatical")
    )
    varied, means = fmean(runs[f"{cut}/distinct"]), distinct.mean(1)
    if (np.diff(means) <= 0).any():
        raise ValueError(f"distinct: got {means}, wanted it to rise with the temperature")
    if not means[0] <= varied <= means[-1]:
        raise ValueError(f"{cut}: got {varied}, wanted it among {means}")
    above = max(1, int(np.searchsorted(means, varied)))
    share = (varied - means[above - 1]) / (means[above] - means[above - 1])
    gap_distinct, gap_sound = (
        np.array(runs[f"{cut}/{what}"]) - (1 - share) * values[above - 1] - share * values[above]
        for what, values in (("distinct", distinct), ("grammatical", sound))
    )
    rate = (sound[above] - sound[above - 1]).mean() / (means[above] - means[above - 1])
    return [float(gap) for gap in gap_sound - rate * gap_distinct]


STUDY = Experiment(
    name="decoding", title="What a small language model writes, and what searches find in it",
    seeds=SEEDS, beside=outcome, workers=1,
    config=lambda: {
        "setting": Setting(), "task": TASK, "choices": choices(), "widths": WIDTHS,
        "penalties": PENALTIES,
    },
    kinds={
        "final_loss": number("nats", 0), "*/log_prob": number("nats", high=0),
        "*/words": number("words", 0), "*/distinct": number("%", 0, 100),
        "*/new": number("%", 0, 100),
        # Every model writes its own sentences; all go on from the same beginnings.
        "te*/grammatical": share(TASK.samples, own=True),
        "top*/grammatical": share(TASK.samples, own=True),
        "*": share(TASK.beginnings),
    },
    modules=(*TRANSFORMERS, *TEXTS, *GRAMMAR, "companion.decoding"),
    claims=read_claims(__file__, ahead_of_temperature), smoke=smoke,
)  # fmt: skip
