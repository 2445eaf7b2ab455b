"""Translators of whole sentences in word pieces: a Transformer, and recurrent ones of its size."""

from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from companion.data.batching import PooledBatches
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import Transformer, TransformerConfig
from companion.training import TrainingConfig, train
from companion.translation import Translator
from experiments.engine.code import TEXTS, TRANSFORMERS, hashes
from experiments.engine.experiment import RUNS, as_key, digest
from experiments.sentences.pieces import Split, in_pieces, learn_pieces, split, vocabulary_of

Kind = Literal["transformer", "dot", "additive", "none"]
MODULES = (
    *TRANSFORMERS, *TEXTS, "companion.models.seq2seq", "bookkit.data.pieces",
    "experiments.sentences.pieces", "experiments.sentences.translators",
)  # fmt: skip
"""Those that decide what a translator learns."""
WARMUP = 400


@dataclass(frozen=True)
class Setting:
    """One translator and its training; pairs are the first ones of the training, None for all."""

    kind: Kind
    steps: int
    pairs: int | None = None
    learning_rate: float = 2e-3
    batch_size: int = 128
    pieces: int = 4000
    width: int = 160
    dropout_p: float = 0.1


class Trained(NamedTuple):
    """A network, the same as a translator, what cuts text into pieces, and every update's loss."""

    network: Transformer | Seq2Seq
    translator: Translator
    pieces: Tokenizer
    losses: list[float]


def transformer(setting: Setting, size: int) -> Transformer:
    """Return three blocks that read and three that write, with one table of pieces for all."""
    return Transformer(
        TransformerConfig(
            size, embed_dim=setting.width, num_heads=setting.width // 32,
            hidden_dim=3 * setting.width, num_layers=3, positions="rotary", tied="all",
            dropout_p=setting.dropout_p, alignment_layer=-2,
        )
    )  # fmt: skip


def network(setting: Setting, size: int) -> Transformer | Seq2Seq:
    """Return an untrained model; a recurrent one has about as many weights as the Transformer."""
    if setting.kind == "transformer":
        return transformer(setting, size)
    wanted = _weights(transformer(setting, size))
    config = Seq2SeqConfig(
        size, size, embed_dim=setting.width, attention=setting.kind, dropout_p=setting.dropout_p
    )
    with torch.device("meta"):
        width = min(
            range(64, 513, 8),
            key=lambda hidden: abs(_weights(Seq2Seq(replace(config, hidden_dim=hidden))) - wanted),
        )
    return Seq2Seq(replace(config, hidden_dim=width))


def _weights(model: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@cache
def pieces_of(path: str, size: int) -> Tokenizer:
    """Learn pieces from all pairs of training, in both languages together."""
    given = split(path).train
    return learn_pieces([text for pair in given for text in (*pair.source, *pair.target)], size)


def untrained(setting: Setting, given: Split, pieces: Tokenizer, seed: int) -> Trained:
    """Draw the weights of a translator."""
    vocab = vocabulary_of(pieces)
    torch.manual_seed(seed)
    model = network(setting, len(vocab))
    return Trained(model, Translator(model, vocab, vocab), pieces, [])


def fit(
    setting: Setting, given: Split, pieces: Tokenizer, seed: int, checkpoint: Path | None = None
) -> Trained:
    """Train on the first pairs of a split."""
    new = untrained(setting, given, pieces, seed)
    vocab = new.translator.source_vocab
    batches = PooledBatches(
        in_pieces(pieces, given.train[: setting.pairs]), vocab, vocab,
        batch_size=setting.batch_size, seed=seed,
    )  # fmt: skip
    smoothing = {"label_smoothing": 0.1} if setting.kind == "transformer" else {}
    losses = train(
        new.network, batches, lambda model, batch: model.loss(batch, **smoothing),
        TrainingConfig(setting.steps, setting.learning_rate, WARMUP, seed=seed),
        checkpoint=checkpoint, checkpoint_every=200, progress=False,
    )  # fmt: skip
    return new._replace(losses=losses)


def trained(setting: Setting, path: str, seed: int) -> Trained:
    """Return a translator that the same code has trained, from its file if there is one."""
    given, pieces = split(path), pieces_of(path, setting.pieces)
    key = as_key(
        code=hashes(MODULES), setting=asdict(setting), seed=seed,
        data=sha256(Path(path).read_bytes()).hexdigest(),
    )  # fmt: skip
    done = RUNS / "sentences" / f"trained-{digest(key)}.safetensors"
    done.parent.mkdir(parents=True, exist_ok=True)
    if not done.exists():
        checkpoint = done.with_name(f"checkpoint-{digest(key)}.safetensors")
        new = fit(setting, given, pieces, seed, checkpoint)
        weights = {k: v.clone() for k, v in new.network.state_dict().items()}
        save_file(weights | {"losses": torch.tensor(new.losses)}, done)
        checkpoint.unlink()
    stored = load_file(done)
    losses = stored.pop("losses").tolist()
    old = untrained(setting, given, pieces, seed)
    old.network.load_state_dict(stored)
    old.network.eval()
    return old._replace(losses=losses)
