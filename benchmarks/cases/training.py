"""A training step: of the Transformer beside torch's, of recurrent translators beside loops."""

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import Literal

import torch
from torch import Tensor, nn

from benchmarks.cases import Case
from benchmarks.contest import WORSE_AT_MOST, Contest, Entrant, Field, Result, Values, error, hold
from benchmarks.machine import has_bfloat16
from benchmarks.peers.recurrent import PlainTranslator
from benchmarks.peers.torchs_transformer import TorchsTransformer
from benchmarks.records import Goal, Row
from benchmarks.timing import Protocol
from companion.data.batching import Batch
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import Transformer, TransformerConfig

Context = Callable[[], AbstractContextManager[None]]
Model = Transformer | TorchsTransformer | Seq2Seq | PlainTranslator

BATCH, QUICK_BATCH = 64, 3
AUTOCAST = partial(torch.autocast, "cpu", torch.bfloat16)

# Transformers
PEER, OURS, NARROW = "nn.Transformer", "Transformer", "Transformer, bfloat16"
LENGTHS = range(13, 20)
CONFIG = TransformerConfig(
    vocab_size=186, source_vocab=111, embed_dim=128, num_heads=4, hidden_dim=256,
    attention_bias=True,
)  # fmt: skip
QUICK_CONFIG = replace(CONFIG, vocab_size=13, source_vocab=11, embed_dim=8, hidden_dim=12)
GOAL, NARROW_GOAL = Goal(1.0), Goal(1.6)

# Recurrent translators
Attention = Literal["additive", "dot", "general"]
VOCAB, STEPS, QUICK_STEPS = 200, 60, 5
RECURRENT = Seq2SeqConfig(VOCAB, VOCAB, 256, 256, dropout_p=0.0)
QUICK_RECURRENT = Seq2SeqConfig(11, 11, 8, 12, dropout_p=0.0)
PLAIN, EVERY_STEP = "plain loop", "keys projected every step"
# 2.3 was wanted of a loop whose backward pass was written by hand, which is no longer there.
PEERS: dict[Attention, dict[str, Goal | None]] = {
    "additive": {PLAIN: None, EVERY_STEP: Goal(2.0)},
    "dot": {PLAIN: Goal(1.3)},
    "general": {PLAIN: Goal(1.3)},
}


def transformers(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time a step with and without dropout, and where the processor has bfloat16 with that, too."""
    config, batch_size = (QUICK_CONFIG, QUICK_BATCH) if quick else (CONFIG, BATCH)
    for dropout_p in (0.0, 0.1):
        dropout = f"dropout {dropout_p}" if dropout_p else "no dropout"
        setting = f"{dropout}, {batch_size} sentences of {LENGTHS[0]} to {LENGTHS[-1]}"
        for name, context, goal in ((OURS, nullcontext, GOAL), (NARROW, AUTOCAST, NARROW_GOAL)):
            if name != OURS and not (quick or has_bfloat16()):
                note = "the processor has no bfloat16 instructions"
                yield Row(setting=setting, ours=name, peer=PEER, note=note)
                continue
            prepared = partial(of_torchs, config, batch_size, dropout_p, name, context)
            yield from hold(Contest(setting, prepared, {PEER: goal}, tell_errors=True), protocol)


def recurrent(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time a step of three translators, each beside plain loops with its weights."""
    batch_size, steps = (QUICK_BATCH, QUICK_STEPS) if quick else (BATCH, STEPS)
    for attention, peers in PEERS.items():
        config = replace(QUICK_RECURRENT if quick else RECURRENT, attention=attention)
        setting = f"{attention}, {batch_size} sentences of {steps}"
        prepared = partial(of_loops, attention, config, batch_size, steps)
        yield from hold(Contest(setting, prepared, peers), protocol)


def of_torchs(
    config: TransformerConfig, batch_size: int, dropout_p: float, name: str, context: Context
) -> Field:
    """Make both models of the same weights.

    In bfloat16 ours may be as wrong as torch's model under autocast, times the usual.
    """
    torch.manual_seed(1)
    shape = replace(
        config, dropout_p=dropout_p, attention_dropout_p=dropout_p, feed_forward_dropout_p=dropout_p
    )
    batch = random_batch(batch_size, LENGTHS, config.source_size, config.vocab_size)
    ours = Transformer(shape)
    peer = TorchsTransformer(ours)
    true = loss_and_gradients(copy.deepcopy(peer).double(), batch)
    rounded = loss_and_gradients(peer, batch, AUTOCAST)
    entrants = {
        name: training(ours, batch, true, context, fused=True),
        PEER: training(peer, batch, true, fused=True),
    }
    allowed = WORSE_AT_MOST * error(rounded, true) if name != OURS else None
    return Field(entrants, allowed=allowed)


def of_loops(attention: Attention, config: Seq2SeqConfig, batch_size: int, steps: int) -> Field:
    """Make the translators, all of the same weights."""
    torch.manual_seed(1)
    batch = random_batch(
        batch_size, range(steps, steps + 1), config.source_vocab, config.target_vocab
    )
    ours = Seq2Seq(config)
    models: dict[str, Model] = {attention: ours}
    for name in PEERS[attention]:
        models[name] = PlainTranslator(ours, projects_at_every_step=name == EVERY_STEP)
    true = loss_and_gradients(copy.deepcopy(ours).double(), batch, loss=loss_by_words)
    return Field({name: training(model, batch, true) for name, model in models.items()})


def random_batch(size: int, lengths: range, source_vocab: int, target_vocab: int) -> Batch:
    """Return sentences of random words, of lengths that differ where they may."""
    longest = lengths[-1]
    source = torch.randint(source_vocab, (size, longest))
    target_in, target_out = torch.randint(target_vocab, (2, size, longest))
    words = torch.randint(lengths[0], longest + 1, (2, size))
    mask = torch.arange(longest) < words[1][:, None]
    return Batch(source, words[0], target_in, target_out, mask)


def training(
    model: Model, batch: Batch, true: Values, context: Context = nullcontext, *, fused: bool = False
) -> Entrant:
    """Return steps of training.

    Held against the truth are loss and gradients without dropout, before a step is taken.
    """
    values = loss_and_gradients(model, batch, context)
    optimizer = torch.optim.Adam(model.train().parameters(), fused=fused)

    def step() -> None:
        optimizer.zero_grad()
        with context():
            model.loss(batch).backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return Entrant(step, true, lambda nothing: values)


def loss_and_gradients(
    model: Model,
    batch: Batch,
    context: Context = nullcontext,
    loss: Callable[..., Tensor] | None = None,
) -> Values:
    """Return loss and gradients of both embeddings, which take in those of all between."""
    model.eval()
    with context():
        value = model.loss(batch) if loss is None else loss(model, batch)
        gradients = torch.autograd.grad(value, [table.weight for table in _embeddings(model)])
    return value.detach(), *gradients


def _embeddings(model: Model) -> tuple[nn.Embedding, nn.Embedding]:
    if isinstance(model, Transformer):
        return model.source_embedding.words, model.target_embedding.words
    return model.source_embedding, model.target_embedding


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


CASES = {
    "recurrent": Case(
        "Training step of a recurrent translator",
        {
            "batch": BATCH, "steps": STEPS, "hidden": RECURRENT.hidden_dim,
            "embed": RECURRENT.embed_dim, "vocabulary": VOCAB, "optimizer": "Adam",
            "dtype": "float32",
        },
        recurrent,
    ),
    "training": Case(
        "Training step of a Transformer",
        {
            "batch": BATCH, "lengths": [LENGTHS[0], LENGTHS[-1]], "vocabularies": [111, 186],
            "width": 128, "heads": 4, "hidden": 256, "layers": [2, 2], "optimizer": "Adam",
            "dtype": "float32, and bfloat16 by autocast",
        },
        transformers,
    ),
}  # fmt: skip
