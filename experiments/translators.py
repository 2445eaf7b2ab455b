"""What the studies of translators share: the grammar's corpus, training, and evaluation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, Protocol, TypeVar

import torch
from torch import Tensor

from companion.alignment import Links, argmax_links, diagonal_links
from companion.data.batching import Batch, PooledBatches, collate
from companion.data.grammar import english_spanish
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.metrics import alignment_error_rate, bleu, exact_match, link_accuracy
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.training import TrainingConfig, train
from companion.translation import Translator

Outcome = TypeVar("Outcome")
Kind = Literal["none", "additive", "dot", "general", "concat"]
Runs = dict[str, list[float]]
"""One list of runs, in the order of the seeds, for every measure."""

KINDS: tuple[Kind, ...] = ("none", "additive", "dot")
BINS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 25), (26, 30), (31, 35), (36, 40))
STRIDE = 100
"""Updates over which a point of a loss curve is averaged."""
RUNS = Path("runs")
"""Checkpoints of finished and interrupted trainings; a study that is run again goes on there."""


@dataclass(frozen=True)
class Setting:
    """One translator and its training; the same for every seed."""

    attention: Kind
    learning_rate: float = 2e-3
    dropout_p: float = 0.1
    steps: int = 1500
    warmup_steps: int = 100
    embed_dim: int = 64
    hidden_dim: int = 128
    batch_size: int = 64
    query: Literal["previous", "present"] | None = None

    def config(self, vocabularies: tuple[int, int]) -> Seq2SeqConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return Seq2SeqConfig(
            *vocabularies,
            embed_dim=self.embed_dim,
            hidden_dim=self.hidden_dim,
            attention=self.attention,
            query=self.query,
            dropout_p=self.dropout_p,
        )

    def build(self, vocabularies: tuple[int, int]) -> Seq2Seq:
        """Return an untrained model."""
        return Seq2Seq(self.config(vocabularies))

    def loss(self, model: Seq2Seq, batch: Batch) -> Tensor:
        """Return what training makes smaller."""
        return model.loss(batch)

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
        """Hold attention against the gold links."""
        return {} if self.attention == "none" else alignment(trained, pairs)

    def shrunk(self) -> Setting:
        """Return the setting of a smoke run."""
        return replace(self, steps=6, warmup_steps=2, hidden_dim=16, embed_dim=8, batch_size=16)


class AnySetting(Protocol):
    """What is trained, an RNN as `Setting` or a Transformer, and how."""

    @property
    def attention(self) -> str:
        """The kind of attention, by which settings are tuned."""

    @property
    def learning_rate(self) -> float:
        """The highest rate."""

    @property
    def steps(self) -> int:
        """Number of updates."""

    @property
    def warmup_steps(self) -> int:
        """Updates over which the rate grows."""

    @property
    def batch_size(self) -> int:
        """Sentences an update."""

    def build(self, vocabularies: tuple[int, int]) -> Any:
        """Return an untrained model, for source and target vocabularies of a size."""

    def loss(self, model: Any, batch: Batch) -> Tensor:
        """Return what training makes smaller."""

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
        """Hold attention against the gold links, where there is any."""

    def shrunk(self) -> AnySetting:
        """Return the setting of a smoke run."""


@dataclass(frozen=True)
class Corpus:
    """Training pairs, named test sets and the two vocabularies."""

    train: list[Pair]
    tests: dict[str, list[Pair]]
    source_vocab: Vocabulary
    target_vocab: Vocabulary

    @property
    def vocabularies(self) -> tuple[int, int]:
        """Number of source and of target ids."""
        return len(self.source_vocab), len(self.target_vocab)


class Task(Protocol):
    """Where a corpus comes from."""

    @property
    def has_gold_links(self) -> bool:
        """Whether the test pairs carry word links and classes."""

    def corpus(self, seed: int) -> Corpus:
        """Return the corpus of a seed."""


@dataclass(frozen=True)
class GrammarTask:
    """How a corpus is drawn from the grammar.

    The test sets are the same for every seed; the training pairs are drawn anew by each. No
    test sentence of `apart_from` stands in this task's test sets or training pairs.
    """

    train_pairs: int = 20_000
    max_length: int = 30
    test_pairs: int = 1000
    bin_pairs: int = 200
    bins: tuple[tuple[int, int], ...] = BINS
    test_seed: int = 90_001
    has_gold_links: bool = True
    apart_from: GrammarTask | None = None

    def corpus(self, seed: int) -> Corpus:
        """Draw test sets and, without their sentences, training pairs."""
        tests = self.tests()
        excluded = [pair for pairs in tests.values() for pair in pairs] + self._others()
        pairs = english_spanish(
            self.train_pairs, seed=seed, max_length=self.max_length, exclude=excluded
        )
        everything = [*pairs, *excluded]
        return Corpus(
            pairs,
            tests,
            Vocabulary.from_tokens(pair.source for pair in everything),
            Vocabulary.from_tokens(pair.target for pair in everything),
        )

    def tests(self) -> dict[str, list[Pair]]:
        """Draw the test sets: within the training lengths, new combinations, and by length."""
        draws: dict[str, dict[str, Any]] = {
            "test": {"count": self.test_pairs, "max_length": self.max_length},
            "held_out": {
                "count": self.test_pairs // 2,
                "max_length": self.max_length,
                "combinations": "held_out",
            },
        }
        for low, high in self.bins:
            draws[bin_name(low, high)] = {
                "count": self.bin_pairs,
                "min_length": low,
                "max_length": high,
            }
        others = self._others()
        return {
            name: english_spanish(seed=self.test_seed + number, exclude=others, **draw)
            for number, (name, draw) in enumerate(draws.items())
        }

    def _others(self) -> list[Pair]:
        if self.apart_from is None:
            return []
        return [pair for pairs in self.apart_from.tests().values() for pair in pairs]


def bin_name(low: int, high: int) -> str:
    """Name a range of lengths so that names sort by length."""
    return f"{low:02d}-{high:02d}"


@dataclass(frozen=True)
class Trained:
    """A trained translator and the loss of every update."""

    translator: Translator
    losses: list[float]

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(parameter.numel() for parameter in self.translator.model.parameters())


def training_batches(setting: AnySetting, corpus: Corpus, seed: int) -> PooledBatches:
    """Return the batches of a corpus, in the order of a seed."""
    return PooledBatches(
        corpus.train,
        corpus.source_vocab,
        corpus.target_vocab,
        batch_size=setting.batch_size,
        seed=seed,
    )


def fit(setting: AnySetting, corpus: Corpus, seed: int, checkpoint: Path | None = None) -> Trained:
    """Train one translator on a corpus."""
    torch.manual_seed(seed)
    model = setting.build(corpus.vocabularies)
    batches = training_batches(setting, corpus, seed)
    config = TrainingConfig(
        setting.steps, setting.learning_rate, min(setting.warmup_steps, setting.steps), seed=seed
    )
    losses = train(model, batches, setting.loss, config, checkpoint=checkpoint, progress=False)
    return Trained(Translator(model, corpus.source_vocab, corpus.target_vocab), losses)


def quality(trained: Trained, tests: dict[str, list[Pair]]) -> dict[str, float]:
    """Translate every test set: exact match and BLEU in percent, and sentences cut short."""
    found: dict[str, float] = {}
    for name, pairs in tests.items():
        written = trained.translator.translate([pair.source for pair in pairs])
        tokens = [translation.tokens for translation in written]
        references = [pair.target for pair in pairs]
        found[f"exact_match/{name}"] = exact_match(tokens, references)
        found[f"bleu/{name}"] = bleu(tokens, references)
    return found


def alignment(trained: Trained, pairs: Sequence[Pair]) -> dict[str, float]:
    """Compare the largest weight of every target word with the gold links."""
    weights = trained.translator.forced_weights(pairs)
    links = [argmax_links(matrix) for matrix in weights]
    return link_measures(links, pairs)


def link_measures(links: Sequence[Links], pairs: Sequence[Pair]) -> dict[str, float]:
    """Alignment error, accuracy by word class, and where wrong determiners point."""
    found = {"alignment_error": alignment_error_rate(links, pairs)}
    for name, (accuracy, _) in link_accuracy(links, pairs).items():
        found[f"link_accuracy/{name}"] = accuracy
    wrong, at_noun = determiner_errors(links, pairs)
    found["determiner_errors/at_their_noun"] = 100.0 * at_noun / max(1, wrong)
    return found


def determiner_errors(links: Sequence[Links], pairs: Sequence[Pair]) -> tuple[int, int]:
    """Count determiners linked against the gold, and those of them linked to their noun.

    A determiner's noun is the next noun of the Spanish sentence.
    """
    wrong = at_noun = 0
    for predicted, pair in zip(links, pairs, strict=True):
        gold = pair.sure | pair.possible
        for i, j in predicted - gold:
            if pair.classes[i] == "determiner":
                wrong += 1
                at_noun += (_next_noun(pair, i), j) in gold
    return wrong, at_noun


def _next_noun(pair: Pair, place: int) -> int:
    return next((i for i in range(place, len(pair.classes)) if pair.classes[i] == "noun"), -1)


def as_key(**parts: object) -> dict[str, object]:
    """Return what tells one run from another, as JSON reads it back."""
    return dict(json.loads(json.dumps(parts, default=vars)))


def cached(
    name: str, key: dict[str, object], compute: Callable[[], dict[str, float]]
) -> dict[str, float]:
    """Return the outcome of a run that was done before with the same key, else compute it."""
    path = RUNS / f"{name}.json"
    if path.exists():
        saved = json.loads(path.read_text(encoding="utf8"))
        if saved["key"] == key:
            return dict(saved["outcome"])
    outcome = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"key": key, "outcome": outcome}), encoding="utf8")
    partial.replace(path)
    return outcome


def run(name: str, setting: AnySetting, task: Task, seed: int) -> dict[str, float]:
    """Train and evaluate one translator: every number that a study may want."""
    key = as_key(setting=setting, task=task, seed=seed)
    digest = zlib.crc32(json.dumps(key, sort_keys=True).encode())

    def compute() -> dict[str, float]:
        corpus = task.corpus(seed)
        checkpoint = RUNS / f"{name}-{seed}-{digest:08x}.safetensors"
        checkpoint.parent.mkdir(parents=True, exist_ok=True)
        trained = fit(setting, corpus, seed, checkpoint)
        found = quality(trained, corpus.tests)
        if task.has_gold_links:
            found |= setting.links(trained, corpus.tests["test"])
        found |= {
            "parameters": trained.parameters,
            "final_loss": fmean(trained.losses[-50:]),
            **{
                f"loss/{done:04d}": fmean(trained.losses[done - STRIDE : done])
                for done in range(STRIDE, len(trained.losses) + 1, STRIDE)
            },
        }
        checkpoint.unlink()
        return found

    return cached(f"{name}-{seed}", key, compute)


def in_parallel(
    work: Callable[..., Outcome], jobs: Iterable[tuple[object, ...]], workers: int
) -> list[Outcome]:
    """Do jobs in fresh processes of one thread each; the order of the outcomes is theirs."""
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=torch.set_num_threads, initargs=(1,)
    ) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        return [future.result() for future in futures]


def unit_of(what: str) -> str:
    """Return the unit of a measure of `run`, which the part before the stroke tells."""
    units = {"bleu": "BLEU", "parameters": "weights", "final_loss": "nats", "loss": "nats"}
    return units.get(what.split("/")[0], "%")


def runs_by_measure(outcomes: Sequence[dict[str, float]]) -> Runs:
    """Turn one dictionary a seed into one list of runs a measure."""
    return {name: [outcome[name] for outcome in outcomes] for name in outcomes[0]}


def runs_by_arm(names: Collection[str], outcomes: Sequence[dict[str, float]]) -> dict[str, Runs]:
    """Sort outcomes, which come seed by seed and within a seed in the order of the names.

    >>> runs_by_arm("ab", [{"loss": 1.0}, {"loss": 2.0}, {"loss": 3.0}, {"loss": 4.0}])
    {'a': {'loss': [1.0, 3.0]}, 'b': {'loss': [2.0, 4.0]}}
    """
    return {
        name: runs_by_measure(outcomes[place :: len(names)]) for place, name in enumerate(names)
    }


def run_arms(
    outcome: Callable[..., dict[str, float]],
    settings: Mapping[str, object],
    task: object,
    seeds: Sequence[int],
    workers: int,
) -> dict[str, Runs]:
    """Run every arm on every seed, and sort what was measured.

    Args:
        outcome: takes a setting, the task and a seed, and gives what it measured.
        settings: the arms, by name.
        task: the same for all.
        seeds: the seeds, in the order of the runs.
        workers: processes of one thread each.
    """
    jobs = [(setting, task, seed) for seed in seeds for setting in settings.values()]
    return runs_by_arm(settings, in_parallel(outcome, jobs, workers))


def split_off(runs: Mapping[str, Runs], names: Collection[str]) -> dict[str, Runs]:
    """Give what was measured beside an arm, under one of some names, that name as its own.

    >>> split_off({"pointer": {"coverage/seconds": [1.0], "seconds": [2.0]}}, ["coverage"])
    {'pointer': {'seconds': [2.0]}, 'coverage': {'seconds': [1.0]}}
    """
    found: dict[str, Runs] = {name: {} for name in runs}
    for name, column in runs.items():
        for what, values in column.items():
            first, _, rest = what.partition("/")
            if first in names:
                found.setdefault(first, {})[rest] = values
            else:
                found[name][what] = values
    return found


def run_all(
    folder: str,
    entries: Mapping[str, tuple[AnySetting, Task]],
    seeds: Sequence[int],
    workers: int,
) -> dict[str, Runs]:
    """Train and evaluate every entry on every seed; what was done before is read back.

    Args:
        folder: where below `RUNS` the outcomes are kept.
        entries: a setting and a task for every name.
        seeds: the seeds, in the order of the runs.
        workers: processes of one thread each.
    """
    jobs = [
        (f"{folder}/{name}", setting, task, seed)
        for seed in seeds
        for name, (setting, task) in entries.items()
    ]
    outcomes = in_parallel(run, jobs, workers)
    return runs_by_arm(entries, outcomes)


def equal_parameters(setting: Setting, wanted: int, vocabularies: tuple[int, int]) -> Setting:
    """Widen or narrow a translator until it has about as many weights as wanted."""

    def distance(width: int) -> int:
        sized = replace(setting, hidden_dim=width)
        return abs(parameter_count(sized, vocabularies) - wanted)

    return replace(setting, hidden_dim=min(range(16, 513, 2), key=distance))


def parameter_count(setting: AnySetting, vocabularies: tuple[int, int]) -> int:
    """Return the number of weights of a setting, for source and target vocabularies of a size."""
    with torch.device("meta"):
        model = setting.build(vocabularies)
    return sum(parameter.numel() for parameter in model.parameters())


def smoke_trace(settings: Iterable[AnySetting]) -> list[float]:
    """Run the whole pipeline small: the losses of a few updates and what evaluation finds.

    A change of the grammar, the batches, the model, the training or the metrics moves these
    numbers; a change of names does not. They are stored with every study as its fingerprint.
    """
    task = GrammarTask(
        train_pairs=120, max_length=9, test_pairs=12, bin_pairs=4, bins=((1, 5), (6, 9))
    )
    corpus = task.corpus(seed=7)
    trace: list[float] = []
    for setting in settings:
        trained = fit(setting.shrunk(), corpus, seed=7)
        trace += trained.losses
        batch = collate(corpus.tests["test"], corpus.source_vocab, corpus.target_vocab)
        with torch.no_grad():
            trace.append(float(trained.translator.model.loss(batch)))
        trace.append(quality(trained, corpus.tests)["bleu/test"])
    reference = corpus.tests["test"]
    diagonal = [diagonal_links(len(pair.target), len(pair.source)) for pair in reference]
    return [*trace, *link_measures(diagonal, reference).values()]
