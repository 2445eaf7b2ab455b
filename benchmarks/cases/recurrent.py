"""A training step of recurrent translators, beside one that projects its keys at every step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from benchmarks.contest import Contest, Entrant, Field, Found, Values, hold
from benchmarks.peers.reprojecting import ReprojectingTranslator
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig

Attention = Literal["additive", "dot", "general"]
Model = Seq2Seq | ReprojectingTranslator

TITLE = "Training step of a recurrent translator"
VOCAB = 200
PEER = "keys projected every step"
BATCH, STEPS, CONFIG = 64, 60, Seq2SeqConfig(VOCAB, VOCAB, 256, 256, dropout_p=0.0)
QUICK_BATCH, QUICK_STEPS, QUICK_CONFIG = 3, 5, Seq2SeqConfig(11, 11, 8, 12, dropout_p=0.0)
SETTINGS: dict[str, object] = {
    "batch": BATCH, "steps": STEPS, "hidden": CONFIG.hidden_dim, "embed": CONFIG.embed_dim,
    "vocabulary": VOCAB, "optimizer": "Adam", "dtype": "float32",
}  # fmt: skip
GOALS: dict[Attention, Goal] = {"additive": Goal(2.3), "dot": Goal(4.3), "general": Goal(4.3)}


def run(quick: bool, protocol: Protocol) -> Iterator[Found]:
    """Time a step of three translators, each beside the same peer."""
    for attention, goal in GOALS.items():
        size = (QUICK_BATCH, QUICK_STEPS) if quick else (BATCH, STEPS)
        setting = f"{attention}, {size[0]} sentences of {size[1]}"
        prepared = partial(prepare, attention, *size, QUICK_CONFIG if quick else CONFIG)
        yield from hold(Contest(setting, prepared, {PEER: goal}), protocol)


def prepare(attention: Attention, batch_size: int, steps: int, config: Seq2SeqConfig) -> Field:
    """Make the translators; Luong's have a twin that goes word by word, to check their values."""
    torch.manual_seed(1)
    batch = random_batch(batch_size, steps, config.target_vocab)
    additive = Seq2Seq(replace(config, attention="additive"))
    peer = ReprojectingTranslator(additive)
    ours = additive if attention == "additive" else Seq2Seq(replace(config, attention=attention))
    peer_truth, true = truth(additive, batch), truth(ours, batch)
    entrants: dict[str, Entrant] = {attention: training(ours, ours.loss, batch, true)}
    if attention != "additive":
        twin = copy.deepcopy(ours)
        entrants["word by word"] = training(twin, partial(loss_by_words, twin), batch, true)
    entrants[PEER] = training(peer, peer.loss, batch, peer_truth)
    return Field(entrants)


def random_batch(batch_size: int, steps: int, vocab: int) -> Batch:
    """Return sentences of random words, all of one length."""
    source, target_in, target_out = torch.randint(vocab, (3, batch_size, steps))
    lengths = torch.full((batch_size,), steps)
    return Batch(source, lengths, target_in, target_out, torch.ones_like(source, dtype=torch.bool))


def training(model: Model, loss: Callable[[Batch], Tensor], batch: Batch, true: Values) -> Entrant:
    """Return steps of training; the first gives what the truth is about."""
    optimizer = torch.optim.Adam(model.parameters())

    def step() -> Values:
        optimizer.zero_grad()
        found = loss(batch)
        found.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        return found.detach(), *(gradients_of(model))

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
