"""Does a word's memory have to know its neighbours for attention to look beside the right word?

The page on alignment explains why Bahdanau's order aligns worse: a decoder that does not know the
word just written can look one word off, because the memory of a word also tells of the words beside
it. Here the small translators of the pages are trained in both orders, with that memory and with
one that knows nothing but its own word and its place. All four have the same decoder, which starts
from the same reading of the whole sentence. `--tune` tries the same rates for all four.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from companion.data.batching import collate
from companion.models.seq2seq import Encoded, Seq2Seq, Seq2SeqConfig
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.settings import LIVE_SETTINGS, LIVE_TASK
from experiments.engine.translators import (
    GrammarTask,
    Setting,
    fit,
    kinds,
    outcome,
    smoke_trace,
)
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(641, 661))
TASK = LIVE_TASK
VALIDATION = replace(TASK, bins=(), test_seed=80_001, apart_from=TASK)
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)
PLACES = 64


class WithoutContext(Seq2Seq):
    """A translator whose memory of a word knows this word and its place, and no other word."""

    def __init__(self, config: Seq2SeqConfig) -> None:
        super().__init__(config)
        self.place = nn.Embedding(PLACES, config.embed_dim)
        self.alone = nn.Linear(config.embed_dim, config.hidden_dim)

    def encode(self, source: Tensor, lengths: Tensor) -> Encoded:
        """Read the source; the memory is made of each word alone."""
        assert self.attention is not None
        encoded: Encoded = super().encode(source, lengths)
        words = self.source_embedding(source) + self.place.weight[: source.shape[1]]
        memory = torch.tanh(self.alone(self.dropout(words)))
        return encoded._replace(memory=memory, keys=self.attention.project(memory))


@dataclass(frozen=True)
class MemorySetting(Setting):
    """A translator whose memory has context or none, and its training."""

    context: bool = True

    def build(self, vocabularies: tuple[int, int]) -> Seq2Seq:
        """Return an untrained model."""
        return (Seq2Seq if self.context else WithoutContext)(self.config(vocabularies))


def arms() -> dict[str, MemorySetting]:
    """Return both orders with both memories, before they are tuned."""
    base = MemorySetting(**vars(LIVE_SETTINGS["additive"]))
    return {
        f"{memory}/{query}": replace(base, query=query, context=memory == "context")
        for memory in ("context", "alone")
        for query in ("previous", "present")
    }


def validation_loss(setting: MemorySetting, task: GrammarTask, seed: int) -> dict[str, float]:
    """Train on a seed; return the loss on sentences that no training reads."""
    corpus = task.corpus(seed)
    model = fit(setting, corpus, seed).translator.model
    batch = collate(corpus.tests["test"], corpus.source_vocab, corpus.target_vocab)
    with torch.no_grad():
        return {"validation_loss": float(model.loss(batch))}


def gap(runs: Runs, memory: str) -> list[float]:
    """Return by how much the alignment error is larger where the previous state looks."""
    both = runs[f"{memory}/previous/alignment_error"], runs[f"{memory}/present/alignment_error"]
    return [previous - present for previous, present in zip(*both, strict=True)]


def recorded(runs: Runs) -> Runs:
    """Keep the alignment errors, the shares of sentences that are right, and the weights."""
    kept = ("alignment_error", "exact_match/test", "parameters")
    return {name: runs[name] for name in runs if name.endswith(kept)}


def reported() -> dict[str, MemorySetting]:
    """Return the tuned arms."""
    return tuned("memory_context", arms())


STUDY = Experiment(
    name="memory_context", title="Both orders of looking, with two kinds of memory",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, recorded=recorded,
    trials=Trials(arms, LEARNING_RATES, VALIDATION, "validation_loss", outcome=validation_loss),
    config=lambda: {"task": TASK, "validation": VALIDATION, "arms": reported()},
    kinds=kinds(TASK), modules=TRANSLATORS,
    claims=read_claims(__file__, gap), smoke=lambda: smoke_trace(arms().values()), workers=1,
)  # fmt: skip
