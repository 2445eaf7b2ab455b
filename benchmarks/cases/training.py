"""A training step of the Transformer, beside the same model around `torch.nn.Transformer`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.contest import WORSE_AT_MOST, Contest, Entrant, Field, Result, Values, error, hold
from benchmarks.machine import has_bfloat16
from benchmarks.peers.torchs_transformer import TorchsTransformer
from benchmarks.records import Goal, Row
from benchmarks.timing import Protocol
from companion.data.batching import Batch
from companion.models.transformer import Transformer, TransformerConfig

TITLE = "Training step of a Transformer"
PEER = "nn.Transformer"
OURS, NARROW = "Transformer", "Transformer, bfloat16"
BATCH, LENGTHS = 64, range(13, 20)
CONFIG = TransformerConfig(
    vocab_size=186, source_vocab=111, embed_dim=128, num_heads=4, hidden_dim=256,
    attention_bias=True,
)  # fmt: skip
QUICK_CONFIG = replace(CONFIG, vocab_size=13, source_vocab=11, embed_dim=8, hidden_dim=12)
SETTINGS: dict[str, object] = {
    "batch": BATCH, "lengths": [LENGTHS[0], LENGTHS[-1]], "vocabularies": [111, 186],
    "width": 128, "heads": 4, "hidden": 256, "layers": [2, 2], "optimizer": "Adam",
    "dtype": "float32, and bfloat16 by autocast",
}  # fmt: skip
GOAL, NARROW_GOAL = Goal(1.0), Goal(1.6)
AUTOCAST = partial(torch.autocast, "cpu", torch.bfloat16)

Context = Callable[[], AbstractContextManager[None]]
Model = Transformer | TorchsTransformer


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time a step with and without dropout, and where the processor has bfloat16 with that, too."""
    config = QUICK_CONFIG if quick else CONFIG
    batch_size = 3 if quick else BATCH
    for dropout_p in (0.0, 0.1):
        dropout = f"dropout {dropout_p}" if dropout_p else "no dropout"
        setting = f"{dropout}, {batch_size} sentences of {LENGTHS[0]} to {LENGTHS[-1]}"
        for name, context, goal in ((OURS, nullcontext, GOAL), (NARROW, AUTOCAST, NARROW_GOAL)):
            if name != OURS and not (quick or has_bfloat16()):
                note = "the processor has no bfloat16 instructions"
                yield Row(setting=setting, ours=name, peer=PEER, note=note)
                continue
            contest = Contest(
                setting,
                partial(prepare, config, batch_size, dropout_p, name, context),
                {PEER: goal},
                tell_errors=True,
            )
            yield from hold(contest, protocol)


def prepare(
    config: TransformerConfig, batch_size: int, dropout_p: float, name: str, context: Context
) -> Field:
    """Make both models of the same weights.

    What is held against the truth, loss and gradients without dropout, is computed before a step
    is taken; in bfloat16 ours may be as wrong as torch's model under autocast, times the usual.
    """
    torch.manual_seed(1)
    shape = replace(
        config, dropout_p=dropout_p, attention_dropout_p=dropout_p, feed_forward_dropout_p=dropout_p
    )
    batch = random_batch(batch_size, config)
    ours = Transformer(shape)
    peer = TorchsTransformer(ours)
    true = loss_and_gradients(copy.deepcopy(peer).double(), batch, nullcontext)
    rounded = loss_and_gradients(peer, batch, AUTOCAST)
    return Field(
        {
            name: training(ours, batch, context, true),
            PEER: training(peer, batch, nullcontext, true),
        },
        allowed=WORSE_AT_MOST * error(rounded, true) if name != OURS else None,
    )


def random_batch(size: int, config: TransformerConfig) -> Batch:
    """Return sentences of random words and of lengths that differ."""
    longest = LENGTHS[-1]
    source = torch.randint(config.source_size, (size, longest))
    target_in, target_out = torch.randint(config.vocab_size, (2, size, longest))
    lengths = torch.randint(LENGTHS[0], longest + 1, (2, size))
    mask = torch.arange(longest) < lengths[1][:, None]
    return Batch(source, lengths[0], target_in, target_out, mask)


def training(model: Model, batch: Batch, context: Context, true: Values) -> Entrant:
    """Return steps of training, and the loss and gradients before the first of them."""
    values = loss_and_gradients(model, batch, context)
    optimizer = torch.optim.Adam(model.train().parameters(), fused=True)

    def step() -> None:
        optimizer.zero_grad()
        with context():
            model.loss(batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return Entrant(step, true, lambda nothing: values)


def loss_and_gradients(model: Model, batch: Batch, context: Context) -> Values:
    """Return loss and gradients of both embeddings without dropout, and leave no gradients."""
    model.eval()
    with context():
        loss = model.loss(batch)
        weights = _embeddings(model)
        gradients = torch.autograd.grad(loss, weights)
    return loss.detach(), *gradients


def _embeddings(model: Model) -> list[Tensor]:
    tables: tuple[nn.Embedding, ...]
    if isinstance(model, Transformer):
        tables = model.source_embedding.words, model.target_embedding.words
    else:
        tables = model.source, model.target
    return [table.weight for table in tables]
