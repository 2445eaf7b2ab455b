"""Which of two names? Names that are all alike to a model, that are numbered, or that are spelled.

Reports of matches as in `summarization`, but four in ten end level, and one more sentence says
who lost. A pointer-generator reads every name as the same unknown word. Another one reads the names
of a report as name1, name2 and so on. A small Transformer reads and writes word pieces, which can
spell any name. They are asked about names that they have never seen, and about twins: two reports
that differ in the loser's name alone.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Literal

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor

from bookkit.data.reports import (
    ends_level,
    made_up_names,
    match_reports,
    mistaken_facts,
    numbered,
    twin,
)
from companion.data.batching import Batch, PooledBatches
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.models.pointer import PointerGenerator
from companion.models.seq2seq import Seq2SeqConfig
from companion.models.transformer import Transformer, TransformerConfig
from companion.training import TrainingConfig, train
from companion.translation import Translator
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS, TEXTS, TRANSFORMERS
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import NumberKind, exact, number, share
from experiments.summarization.study import MISTAKES, vocabulary

Kind = Literal["pointer", "numbered", "pieces"]
Network = PointerGenerator | Transformer
SEEDS = (21, 22, 23, 24, 25)
WARMUP = 50
TEST_SEED = 90_001


@dataclass(frozen=True)
class Setting:
    """One arm and its training; layers, heads and pieces are those of the Transformer."""

    kind: Kind
    learning_rate: float = 0.0
    steps: int = 600
    batch_size: int = 32
    width: int = 32
    layers: int = 2
    heads: int = 4
    pieces: int = 300


@dataclass(frozen=True)
class Task:
    """How many reports and names there are. Test names are never those of training."""

    reports: int = 16_000
    names: int = 10_000
    tests: int = 500
    test_names: int = 300
    penalties: float = 0.4

    def training(self, seed: int) -> list[Pair]:
        """Draw the reports of a seed; the names are the same for all."""
        return self._drawn(self.reports, seed, made_up_names(self.names, seed=0))

    def testing(self) -> dict[str, list[Pair]]:
        """Draw reports with names never seen, others with names of training, and twins."""
        unseen = self._drawn(
            self.tests, TEST_SEED, made_up_names(self.test_names, seed=0, split="test")
        )
        level = [pair for pair in unseen if ends_level(pair)]
        return {
            "unseen": unseen,
            "seen": self._drawn(self.tests, TEST_SEED, made_up_names(self.names, seed=0)),
            "twins": [one for pair in level for one in (pair, twin(pair))],
        }

    def _drawn(self, count: int, seed: int, names: Sequence[str]) -> list[Pair]:
        return match_reports(count, seed=seed, names=names, penalties=self.penalties)


TASK = Task()
FRESH = replace(TASK, reports=4800 * 32)  # for pieces, which read none twice


class Summarizer:
    """A network, what it reads of a report, and the words that its summaries stand for."""

    def __init__(self, setting: Setting, task: Task, seed: int) -> None:
        given = task.training(seed)
        names = made_up_names(task.names, seed=0)
        self.words = vocabulary("pointer", given, names)
        self.kind, copying = setting.kind, setting.kind != "pieces"
        if self.kind == "pieces":
            self.pieces = learn_pieces([" ".join(pair.source) for pair in given], setting.pieces)
        pairs = [self._read(pair)[0] for pair in given]
        vocab = self._vocabulary(pairs, names)
        torch.manual_seed(seed)
        self.network = network_of(setting, len(vocab))
        self.batches = PooledBatches(
            pairs, vocab, vocab, batch_size=setting.batch_size, seed=seed, copying=copying
        )
        self.translator = Translator(self.network, vocab, vocab, copying=copying)

    def _vocabulary(self, pairs: Sequence[Pair], names: Sequence[str]) -> Vocabulary:
        if self.kind != "pieces":
            return vocabulary("pointer", pairs, names)
        ids = self.pieces.get_vocab()
        return Vocabulary(sorted(ids, key=ids.__getitem__))

    def _read(self, pair: Pair) -> tuple[Pair, dict[str, str]]:
        """Return a pair as the network reads it, and what numbers stand for."""
        if self.kind == "pieces":
            report, summary = (
                tuple(self.pieces.encode(" ".join(words)).tokens)
                for words in (pair.source, pair.target)
            )
            return Pair(report, summary), {}
        return numbered(pair, self.words) if self.kind == "numbered" else (pair, {})

    def written(self, pairs: Sequence[Pair]) -> list[tuple[str, ...]]:
        """Sum up reports by greedy decoding; what comes back is in words."""
        read = [self._read(pair) for pair in pairs]
        found = []
        said = self.translator.translate([pair.source for pair, _ in read], max_len=40)
        for one, (_, names) in zip(said, read, strict=True):
            words = [names.get(word, word) for word in one.tokens]
            if self.kind == "pieces":
                words = self.pieces.decoder.decode(words).split()
            found.append(tuple(words))
        return found


def network_of(setting: Setting, size: int) -> Network:
    """Draw a pointer-generator, or for pieces an encoder-decoder Transformer."""
    if setting.kind == "pieces":
        return Transformer(TransformerConfig(
            size, embed_dim=setting.width, num_heads=setting.heads, num_layers=setting.layers,
            hidden_dim=2 * setting.width, positions="rotary", rotary_base=1000.0, tied="all",
            dropout_p=0.0,
        ))  # fmt: skip
    return PointerGenerator(Seq2SeqConfig(
        size, size, embed_dim=setting.width // 2, hidden_dim=setting.width,
        attention="general", query="present", dropout_p=0.0,
    ))  # fmt: skip


def learn_pieces(texts: Sequence[str], size: int) -> Tokenizer:
    """Learn byte-pair encoding of words (Sennrich et al., 2016), of so many pieces."""
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer, pieces.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=size, show_progress=False)
    pieces.train_from_iterator(texts, trainer)
    return pieces


def quality(said: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return how many summaries are right, in percent, by how their reports end, and mistakes."""
    wrong = [mistaken_facts(one, pair) for one, pair in zip(said, pairs, strict=True)]
    found = {"exact": percent(not one for one in wrong)}
    for name, is_level in (("level", True), ("decided", False)):
        kept = zip(wrong, pairs, strict=True)
        found[f"exact_{name}"] = percent(not one for one, p in kept if ends_level(p) is is_level)
    return found | {fact: percent(fact in one for one in wrong) for fact in MISTAKES}


def of_twins(said: Sequence[Sequence[str]], pairs: Sequence[Pair]) -> dict[str, float]:
    """Return of how many pairs of twins both summaries are right, one is, and the losers are."""
    right = [tuple(one) == pair.target for one, pair in zip(said, pairs, strict=True)]
    both = list(zip(right[::2], right[1::2], strict=True))
    losers = (one[2:3] == pair.target[2:3] for one, pair in zip(said, pairs, strict=True))
    same = (one[:3] == other[:3] for one, other in zip(said[::2], said[1::2], strict=True))
    return {
        "both": percent(all(pair) for pair in both),
        "one": percent(sum(pair) == 1 for pair in both),
        "losers": percent(losers),
        "same": percent(same),
    }


def percent(hits: Iterable[bool]) -> float:
    """Return the share of what is true, in percent; 0 of nothing."""
    kept = [*hits]
    return 100 * sum(kept) / max(len(kept), 1)


def fit(
    setting: Setting, task: Task, seed: int
) -> tuple[Summarizer, list[float], dict[str, float]]:
    """Train an arm; return it, its losses, and the share of right summaries on the way."""
    model = Summarizer(setting, task, seed)
    config = TrainingConfig(setting.steps, setting.learning_rate, WARMUP, seed=seed)
    watched = task.testing()["unseen"]
    after, on_the_way = setting.steps * 3 // 4, dict[str, float]()

    def loss(network: Network, batch: tuple[int, Batch]) -> Tensor:
        step, given = batch
        if step == after:
            network.eval()
            on_the_way["three_quarters/exact"] = quality(model.written(watched), watched)["exact"]
            network.train()
        return network.loss(given)

    losses = train(model.network, _Numbered(model.batches), loss, config, progress=False)
    return model, losses, on_the_way


@dataclass(frozen=True)
class _Numbered:
    """Batches with the number of their step."""

    batches: PooledBatches

    def __getitem__(self, step: int) -> tuple[int, Batch]:
        return step, self.batches[step]


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train one arm and measure it on new names, on names of training, and on twins."""
    began = time.process_time()
    model, losses, measures = fit(setting, task, seed)
    measures["seconds"] = time.process_time() - began
    measures["parameters"] = sum(weight.numel() for weight in model.network.parameters())
    measures["final_loss"] = fmean(losses[-20:])
    tests = task.testing()
    twins = tests.pop("twins")
    for where, pairs in tests.items():
        found = quality(model.written(pairs), pairs)
        measures |= {f"{where}/{what}": value for what, value in found.items()}
    found = of_twins(model.written(twins), twins)
    return measures | {f"twins/{what}": value for what, value in found.items()}


def arms() -> dict[str, Setting]:
    """Return every arm."""
    return {
        "pointer": Setting("pointer", 0.02, 1000),
        "numbered": Setting("numbered", 0.02, 1000),
        "pieces": Setting("pieces", 4e-3, 4800, width=64),
    }


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Task(reports=60, names=20, tests=12, test_names=12)
    trace: list[float] = []
    for arm in arms().values():
        setting = replace(arm, learning_rate=0.01, steps=4, batch_size=4, width=16, pieces=90)
        model, losses, _ = fit(setting, task, seed=7)
        twins = task.testing()["twins"]
        trace += [*losses, *of_twins(model.written(twins), twins).values()]
    return trace


@cache
def level(where: str) -> int:
    """Return how many of the reports end level."""
    return sum(map(ends_level, TASK.testing()[where]))


def of_reports(name: str) -> NumberKind:
    """Return the kind of a share of the reports that end level, of the others, or of twins."""
    _, where, what = name.split("/")
    if where == "twins":
        return share(level(where) // (1 if what == "losers" else 2))
    return share(level(where) if what == "exact_level" else TASK.tests - level(where))


STUDY = Experiment(
    name="names", title="Which of two names? Grey names, numbered ones, and names in pieces",
    seeds=SEEDS, arms=lambda: on(TASK, arms()) | on(FRESH, {"pieces": arms()["pieces"]}),
    outcome=outcome, workers=1,
    config=lambda: {"task": TASK, "fresh": FRESH.reports, "arms": arms(), "warmup": WARMUP},
    kinds={
        "*/seconds": number("s", 0, timed=True), "*/parameters": exact("weights"),
        "*/final_loss": number("nats", 0), "*/exact_*": of_reports, "*/twins/*": of_reports,
        "*": share(TASK.tests),
    },
    modules=(
        *LAYERS, *TEXTS, *TRANSFORMERS, "bookkit.data.reports", "companion.decoding",
        "companion.models.pointer", "companion.models.seq2seq", "companion.translation",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
