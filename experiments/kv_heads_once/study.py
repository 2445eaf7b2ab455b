"""Do fewer heads of keys and values cost anything where a text is hardly read twice?

In the study `kv_heads` all models read one text eleven times, and those with eight heads knew more
of it by heart, which helps with nothing new. Here the text is so long that as many updates read
each word less than twice, and models and rows are as they were there. Every seed draws a text of
its own, of which one sentence in 34 is kept to be tested on. `--tune` chooses a learning rate for
every arm from one grid, by the loss on such unread sentences, on seeds of its own. Half as many
updates, for the most heads and the fewest, show whether a difference still changes.
"""

from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean

import torch
from torch import Tensor

from bookkit.data.grammar import english_spanish
from companion.data.vocabulary import Vocabulary
from companion.models.transformer import LanguageModel
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import GRAMMAR, TEXTS, TRANSFORMERS
from experiments.engine.descent import CLIP, WARMUP
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import exact, number
from experiments.engine.trials import Trials, tuned
from experiments.kv_heads.study import (
    BLOCKS,
    HEADS,
    UPDATES,
    WIDTH,
    Setting,
    fit_to,
    loss_at_the_end,
    rows_of,
)

SEEDS = tuple(range(481, 501))
LEARNING_RATES = (0.0025, 0.005, 0.01, 0.02)


@dataclass(frozen=True)
class Task:
    """Rows that begin with a mark and go on with sentences, each with its end."""

    sentences: int = 33_000
    unread: int = 1000
    max_length: int = 12
    length: int = 48
    batch_size: int = 8
    rows: int = 192


TASK = Task()


@cache
def texts(task: Task, seed: int) -> tuple[Tensor, Tensor, Vocabulary]:
    """Return the sentences to read and the unread ones, each as one row of ids, and the words.

    All come from one draw, so that the unread ones are no easier and no harder than the others.
    """
    pairs = english_spanish(task.sentences + task.unread, seed=seed, max_length=task.max_length)
    words = Vocabulary.from_tokens(pair.source for pair in pairs)
    sentences = [[*words.encode(pair.source), words.eos_id] for pair in pairs]
    every = len(sentences) // task.unread
    known = [ids for n, ids in enumerate(sentences) if n % every]
    unread = sentences[::every]
    text, rest = (torch.tensor([i for ids in part for i in ids]) for part in (known, unread))
    return text, rest, words


def fit(setting: Setting, task: Task, seed: int) -> tuple[LanguageModel, list[float]]:
    """Train on the sentences to read; return the model and every update's loss."""
    text, _, words = texts(task, seed)
    return fit_to(text, words, setting, (task.batch_size, task.length), seed)


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm; measure its loss on unread sentences, and on as many of those to read."""
    model, losses = fit(setting, task, seed)
    text, unread, words = texts(task, seed)

    def loss_on(ids: Tensor) -> float:
        starts = torch.arange(task.rows) * len(ids) // task.rows
        rows = rows_of(ids, task.length, starts, words.bos_id)
        return loss_at_the_end(model, rows, task.length)

    return {
        "final_loss": fmean(losses[-50:]),
        "loss": loss_on(unread),
        "loss_to_read": loss_on(text),
        "passes": setting.steps * task.batch_size * task.length / len(text),
        "parameters": sum(weight.numel() for weight in model.parameters()),
    }


def arms() -> dict[str, Setting]:
    """Return the arms that are tuned, by heads of keys and values."""
    return {str(g): Setting(g) for g in (8, 4, 2, 1)}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, and two of them trained half as long at the rates that they had."""
    settings = tuned("kv_heads_once", arms())
    return settings | {
        f"{name}-half": replace(settings[name], steps=UPDATES // 2) for name in ("8", "1")
    }


# The record


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of two arms, and what is measured of them."""
    task = Task(sentences=80, unread=10, max_length=8, length=12, batch_size=4, rows=3)
    trace: list[float] = []
    for g in (8, 2):
        setting = Setting(g, 16, learning_rate=0.01, steps=6)
        found = outcome(setting, task, seed=7)
        trace += [*fit(setting, task, seed=7)[1], found["loss"], found["loss_to_read"]]
    return trace


def cost(runs: Runs, fewer: str, all_heads: str) -> list[float]:
    """Return by how much fewer heads predict unread sentences worse, seed by seed."""
    losses = (runs[f"{name}/loss"] for name in (fewer, all_heads))
    return [loss - least for loss, least in zip(*losses, strict=True)]


STUDY = Experiment(
    name="kv_heads_once",
    title="Fewer key and value heads, on a text that is hardly read twice",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, workers=1,
    trials=Trials(
        arms, LEARNING_RATES, TASK, measure="loss",
        metric="nats a word on unread sentences of the tuning seeds",
    ),
    config=lambda: {
        "task": TASK, "width": WIDTH, "heads": HEADS, "blocks": BLOCKS, "warmup": WARMUP,
        "clip": CLIP, "arms": reported(),
    },
    kinds={
        "*/parameters": exact("weights"), "*/passes": number("passes", 0),
        "*": number("nats a word", 0),
    },
    modules=("experiments.kv_heads.study", *TRANSFORMERS, *TEXTS, *GRAMMAR),
    claims=read_claims(__file__, cost), smoke=smoke,
)  # fmt: skip
