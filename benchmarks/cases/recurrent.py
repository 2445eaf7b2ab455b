"""A training step of recurrent translators, beside plain loops of the same score."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from benchmarks.contest import Contest, Entrant, Field, Result, Values, hold
from benchmarks.peers.recurrent import PlainTranslator
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig

Attention = Literal["additive", "dot", "general"]
Model = Seq2Seq | PlainTranslator

TITLE = "Training step of a recurrent translator"
VOCAB = 200
PLAIN, EVERY_STEP = "plain loop", "keys projected every step"
# 2.3 was wanted of a loop whose backward pass was written by hand, which is no longer there.
PEERS: dict[Attention, dict[str, Goal | None]] = {
    "additive": {PLAIN: None, EVERY_STEP: Goal(2.0)},
    "dot": {PLAIN: Goal(1.3)},
    "general": {PLAIN: Goal(1.3)},
}
BATCH, STEPS, CONFIG = 64, 60, Seq2SeqConfig(VOCAB, VOCAB, 256, 256, dropout_p=0.0)
QUICK_BATCH, QUICK_STEPS, QUICK_CONFIG = 3, 5, Seq2SeqConfig(11, 11, 8, 12, dropout_p=0.0)
SETTINGS: dict[str, object] = {
    "batch": BATCH, "steps": STEPS, "hidden": CONFIG.hidden_dim, "embed": CONFIG.embed_dim,
    "vocabulary": VOCAB, "optimizer": "Adam", "dtype": "float32",
}  # fmt: skip


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time a step of three translators, each beside plain loops with its weights."""
    for attention, peers in PEERS.items():
        size = (QUICK_BATCH, QUICK_STEPS) if quick else (BATCH, STEPS)
        setting = f"{attention}, {size[0]} sentences of {size[1]}"
        prepared = partial(prepare, attention, *size, QUICK_CONFIG if quick else CONFIG)
        yield from hold(Contest(setting, prepared, peers), protocol)


def prepare(attention: Attention, batch_size: int, steps: int, config: Seq2SeqConfig) -> Field:
    """Make the translators, all of the same weights."""
    torch.manual_seed(1)
    batch = random_batch(batch_size, steps, config.target_vocab)
    ours = Seq2Seq(replace(config, attention=attention))
    true = truth(ours, batch)
    models: dict[str, Model] = {attention: ours}
    for name in PEERS[attention]:
        models[name] = PlainTranslator(ours, projects_at_every_step=name == EVERY_STEP)
    return Field({name: training(model, batch, true) for name, model in models.items()})


def random_batch(batch_size: int, steps: int, vocab: int) -> Batch:
    """Return sentences of random words, all of one length."""
    source, target_in, target_out = torch.randint(vocab, (3, batch_size, steps))
    lengths = torch.full((batch_size,), steps)
    return Batch(source, lengths, target_in, target_out, torch.ones_like(source, dtype=torch.bool))


def training(model: Model, batch: Batch, true: Values) -> Entrant:
    """Return steps of training; the first gives what the truth is about."""
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> Values:
        optimizer.zero_grad()
        loss = model.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return loss.detach(), *gradients_of(model)

    return Entrant(step, true)


def gradients_of(model: Model) -> Values:
    """Return the gradients of both embeddings: they take in those of everything between."""
    weights = model.source_embedding.weight, model.target_embedding.weight
    return tuple(weight.grad for weight in weights)


def loss_by_words(model: Seq2Seq, batch: Batch) -> Tensor:
    """Compute the loss of a `Seq2Seq` word by word, as it goes when it translates."""
    state = model.start(batch.source, batch.source_lengths)
    logits = []
    for tokens in batch.target_in.unbind(1):
        output = model.step(tokens, state)
        state = output.state
        logits.append(output.logits)
    return nn.functional.cross_entropy(
        torch.stack(logits, 1)[batch.target_mask], batch.target_out[batch.target_mask]
    )


def truth(model: Seq2Seq, batch: Batch) -> Values:
    """Return loss and gradients in float64, word by word."""
    twin = copy.deepcopy(model).double()
    loss = loss_by_words(twin, batch)
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.detach(), *gradients_of(twin)
