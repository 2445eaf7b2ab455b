"""GPT's block against Llama's: which small language model predicts stories better?

Both have the same number of weights within a hundredth, the same stories, the same updates, and a
learning rate from the same grid. The stories' chances are known (`bookkit.data.stories`), so the
loss is reported as its excess over the entropy of the source. `--tune` chooses the rates on seeds
and stories of its own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any, Literal

import torch
from torch import Generator

from bookkit.data.stories import stories, surprisals
from companion.data.texts import TextBatches, text_ids
from companion.data.vocabulary import Vocabulary
from companion.decoding import sample
from companion.models.transformer import LanguageModel, TransformerConfig
from experiments.engine.claims_file import read_claims
from experiments.engine.code import GRAMMAR, TEXTS, TRANSFORMERS
from experiments.engine.descent import config_of, train_new
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number, share
from experiments.engine.trials import Trials, tuned

Style = Literal["gpt", "llama"]
STYLES: tuple[Style, ...] = ("gpt", "llama")
SEEDS = tuple(range(1, 21))
BUDGETS = 250, 1000
LEARNING_RATES = (0.0025, 0.005, 0.01, 0.02, 0.04)
MOST_WORDS = 64
"""Positions of GPT's table; the longest possible story, with its beginning and end, has fewer."""

SHAPES: dict[Style, dict[str, Any]] = {
    "gpt": {
        "positions": "learned", "max_len": MOST_WORDS, "norm": "layer", "activation": "gelu_tanh",
        "hidden_dim": 192, "attention_bias": True,
    },
    "llama": {
        "positions": "rotary", "norm": "rms", "activation": "silu", "gated": True,
        "hidden_dim": 158, "feed_forward_bias": False, "num_kv_heads": 2,
    },
}  # fmt: skip
"""What the two styles do not share; Llama's hidden width makes the weights equal in number."""


@dataclass(frozen=True)
class Task:
    """Which stories a model reads, and how many it writes afterwards."""

    train: int = 10_000
    train_seed: int = 81_001
    test: int = 500
    test_seed: int = 82_001
    samples: int = 200


@dataclass(frozen=True)
class Setting:
    """One model and its training."""

    style: Style
    learning_rate: float = 0.0
    steps: int = BUDGETS[-1]
    warmup_steps: int = 50
    batch_size: int = 32
    embed_dim: int = 48
    num_heads: int = 4
    num_layers: int = 2


TASK = Task()
CHOOSING = Task(test_seed=83_001, samples=0)
"""The task on which learning rates are chosen: other stories to test on."""


@cache
def corpus(count: int, seed: int) -> list[tuple[str, ...]]:
    """Return stories, which the runs of one process share."""
    return stories(count, seed=seed)


def shape(setting: Setting, vocab: Vocabulary) -> TransformerConfig:
    """Return the shape of a model."""
    return TransformerConfig(
        vocab_size=len(vocab), embed_dim=setting.embed_dim, num_heads=setting.num_heads,
        num_layers=setting.num_layers, embedding_scale=False, dropout_p=0.0,
        **SHAPES[setting.style],
    )  # fmt: skip


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, Vocabulary, list[float]]:
    """Train a model; return it, its vocabulary and the loss of every update."""
    texts = corpus(task.train, task.train_seed)
    vocab = Vocabulary.from_tokens(texts)
    batches = TextBatches(texts, vocab, batch_size=setting.batch_size, seed=seed)
    model, losses = train_new(
        lambda: LanguageModel(shape(setting, vocab)), batches,
        lambda model, batch: model.loss(*batch), config_of(setting, seed),
    )  # fmt: skip
    return model, vocab, losses


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one model: its loss over the source's, and whether what it writes are stories."""
    model, vocab, losses = fit(setting, task, seed)
    texts = corpus(task.test, task.test_seed)
    entropy = fmean(nats for text in texts for nats in surprisals(text))
    with torch.no_grad():
        loss = float(model.loss(*text_ids(texts, vocab)))
    found = {
        "final_loss": fmean(losses[-20:]),
        "excess/test": loss - entropy,
        "perplexity/test": math.exp(loss),
        "parameters": float(sum(weight.numel() for weight in model.parameters())),
    }
    if not task.samples:
        return found
    written = written_stories(model, vocab, task.samples, seed)
    return {**found, "possible/samples": 100 * fmean(map(is_possible, written))}


def written_stories(
    model: LanguageModel, vocab: Vocabulary, count: int, seed: int
) -> list[tuple[str, ...]]:
    """Let a model write stories, each word drawn from what it says; without the end."""
    first = torch.full((count, 1), vocab.bos_id)
    generator = Generator().manual_seed(seed)
    state = model.start(first, max_len=MOST_WORDS)
    written = sample(
        model.step, state, batch_size=count, bos_id=first[:, 0], eos_id=vocab.eos_id,
        max_len=MOST_WORDS, generator=generator,
    )  # fmt: skip
    return [vocab.decode(ids) for ids in written.sequences()]


def is_possible(story: Sequence[str]) -> bool:
    """Tell whether the story-teller could have told a story, from its first word to its end.

    >>> is_possible(stories(1, seed=3)[0]), is_possible(("a", "king"))
    (True, False)
    """
    try:
        surprisals(story)
    except ValueError:
        return False
    return True


def arms() -> dict[str, Setting]:
    """Return every style at every number of updates."""
    return {
        f"{style}/{steps}": Setting(style, steps=steps) for steps in BUDGETS for style in STYLES
    }


def reported() -> dict[str, Setting]:
    """Return the tuned arms."""
    return tuned("language_model", arms())


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of both styles, and what is measured of them."""
    task = Task(train=40, test=10, samples=2)
    trace: list[float] = []
    for style in STYLES:
        setting = Setting(style, 0.01, steps=4, warmup_steps=2, batch_size=4, embed_dim=16)
        trace += fit(setting, task, seed=7)[2]
        trace.append(outcome(setting, task, seed=7)["excess/test"])
    return trace


STUDY = Experiment(
    name="language_model", title="A small language model, GPT's block against Llama's",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(
        arms, LEARNING_RATES, CHOOSING, measure="excess/test",
        metric="nats a word above the source, on stories that are not reported", digits=".5f",
    ),
    kinds={
        "*/parameters": exact("weights"), "*/perplexity/*": number("", 1),
        "*/possible/*": share(TASK.samples, own=True), "*/excess/*": number("nats", floor=0),
        "*": number("nats"),
    },
    modules=(*TRANSFORMERS, *TEXTS, *GRAMMAR, "bookkit.data.stories", "companion.decoding"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
