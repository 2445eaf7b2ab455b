"""A language model of real sentences, letter by letter, against models that count.

The sentences are those of this book (`companion.data.sentences`). Nobody knows the entropy of such
a text, so the loss is compared with that of counting models, which look at up to five letters
before. `--tune` chooses the rates for each number of updates, on seeds and sentences of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

import torch
from torch import Generator

from companion.data.sentences import LONGEST, Letters, sentences
from companion.data.texts import TextBatches, counted_loss, text_ids
from companion.data.vocabulary import Vocabulary
from companion.decoding import sample
from companion.models.transformer import LanguageModel, TransformerConfig
from experiments.claims import Claim, Runs
from experiments.descent import config_of, train_new
from experiments.experiment import Experiment, on
from experiments.findings import with_findings
from experiments.findings.sentences import FINDINGS
from experiments.kinds import exact, number
from experiments.settings import REPORT_SEEDS
from experiments.trials import Trials, tuned

BUDGETS = 250, 1000
LEARNING_RATES = (0.0025, 0.005, 0.01, 0.02)
ORDERS = 1, 2, 3, 4, 5, 6
"""Of the counting models: 1 counts letters alone, 6 looks at five letters before."""


@dataclass(frozen=True)
class Task:
    """Which sentences are held out, and how many the model writes afterwards.

    Attributes:
        choosing: whether a tenth of the training sentences takes the place of the test sentences.
        most: sentences to train with, at most.
        samples: sentences that the model writes; 0 for none.
    """

    choosing: bool = False
    most: int = 10_000
    samples: int = 200


@dataclass(frozen=True)
class Setting:
    """One model and its training."""

    learning_rate: float = 0.0
    steps: int = BUDGETS[-1]
    warmup_steps: int = 50
    batch_size: int = 16
    embed_dim: int = 64
    hidden_dim: int = 176
    num_heads: int = 4
    num_kv_heads: int = 2
    num_layers: int = 2


TASK = Task()
CHOOSING = Task(choosing=True, samples=0)
"""The task on which learning rates are chosen: other sentences to test on."""


@cache
def corpus(task: Task) -> tuple[list[Letters], list[Letters], Vocabulary]:
    """Return sentences to train with, sentences to test with, and their letters."""
    train, test = sentences()
    vocab = Vocabulary.from_tokens([*train, *test])
    if task.choosing:
        train, test = train[len(test) :], train[: len(test)]
    return train[: task.most], test, vocab


def shape(setting: Setting, vocab: Vocabulary) -> TransformerConfig:
    """Return the shape of a model: blocks of Llama's kind."""
    return TransformerConfig(
        vocab_size=len(vocab),
        embed_dim=setting.embed_dim,
        hidden_dim=setting.hidden_dim,
        num_heads=setting.num_heads,
        num_kv_heads=setting.num_kv_heads,
        num_layers=setting.num_layers,
        positions="rotary",
        norm="rms",
        activation="silu",
        gated=True,
        feed_forward_bias=False,
        embedding_scale=False,
        dropout_p=0.0,
    )


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, list[float]]:
    """Train a model; return it and the loss of every update."""
    train, _, vocab = corpus(task)
    batches = TextBatches(train, vocab, batch_size=setting.batch_size, seed=seed)
    return train_new(
        lambda: LanguageModel(shape(setting, vocab)),
        batches,
        lambda model, batch: model.loss(*batch),
        config_of(setting, seed),
    )


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one model: its loss on sentences that it has not read, and what words it writes."""
    model, losses = fit(setting, task, seed)
    train, test, vocab = corpus(task)
    with torch.no_grad():
        loss = float(model.loss(*text_ids(test, vocab)))
    found = {
        "final_loss": fmean(losses[-20:]),
        "loss/test": loss,
        "perplexity/test": math.exp(loss),
        "parameters": float(sum(weight.numel() for weight in model.parameters())),
    }
    if not task.samples:
        return found
    known = {word for text in train for word in words(text)}
    said = [word for text in written(model, vocab, task.samples, seed) for word in words(text)]
    return {**found, "words/samples": 100 * fmean(word in known for word in said)}


def words(text: Iterable[str]) -> list[str]:
    """Return the words of a sentence.

    >>> words("don't look, it's well-known.")
    ["don't", 'look', "it's", 'well', 'known']
    """
    return re.findall(r"[a-z]+(?:'[a-z]+)*", "".join(text))


def written(model: LanguageModel, vocab: Vocabulary, count: int, seed: int) -> list[Letters]:
    """Let a model write sentences, each letter drawn from what it says."""
    first = torch.full((count, 1), vocab.bos_id)
    drawn = sample(
        model.step, model.start(first, max_len=LONGEST), batch_size=count, bos_id=first[:, 0],
        eos_id=vocab.eos_id, max_len=LONGEST, generator=Generator().manual_seed(seed),
    )  # fmt: skip
    return [vocab.decode(ids) for ids in drawn.sequences()]


def counters(seed: int) -> dict[str, float]:
    """Return the losses of the counting models, which are the same for every seed."""
    del seed
    train, test, _ = corpus(TASK)
    return {f"counted/{order}": counted_loss(train, test, order=order) for order in ORDERS}


def best_counter(runs: Runs) -> list[float]:
    """Return the loss of the counting model that predicts the test sentences best."""
    return [min(losses) for losses in zip(*(runs[f"counted/{one}"] for one in ORDERS), strict=True)]


def arms() -> dict[str, Setting]:
    """Return the model after each number of updates."""
    return {f"{steps}": Setting(steps=steps) for steps in BUDGETS}


def reported() -> dict[str, Setting]:
    """Return the tuned arms."""
    return tuned("sentences", arms())


def smoke() -> Sequence[float]:
    """Run the whole pipeline small: a few updates, and what is measured of the model."""
    task = Task(most=60, samples=2)
    setting = Setting(0.01, steps=4, warmup_steps=2, batch_size=4, embed_dim=16, hidden_dim=24)
    return [*fit(setting, task, seed=7)[1], outcome(setting, task, seed=7)["loss/test"]]


SHORT, LONG = (f"{steps}/loss/test" for steps in BUDGETS)

CLAIMS = with_findings(FINDINGS, {
    "passes_triples": Claim(
        "After 250 updates the model predicts new sentences better than counting triples of "
        "letters.",
        "counted/3", SHORT, "nats a letter", above=0),
    "passes_all_counters": Claim(
        "After 1,000 updates the model predicts new sentences better than the best of the counting "
        "models.",
        best_counter, LONG, "nats a letter", above=0),
    "spells": Claim(
        "Of the words that the model writes after 1,000 updates, more than 70 in 100 are words "
        "that it has read.",
        f"{BUDGETS[-1]}/words/samples", unit="%", above=70),
})  # fmt: skip

STUDY = Experiment(
    name="sentences", title="A language model of this book's sentences, letter by letter",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, beside=counters,
    trials=Trials(
        arms, LEARNING_RATES, CHOOSING, measure="loss/test",
        metric="nats a letter, on sentences that are not reported",
    ),
    kinds={
        "*/parameters": exact("weights"), "*/perplexity/*": number("", 1),
        "*/words/*": number("%", 0, 100), "counted/*": exact("nats"), "*": number("nats"),
    },
    claims=CLAIMS, smoke=smoke,
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__)
