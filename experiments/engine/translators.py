"""What the studies of translators share: the grammar's corpus, training, and evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Literal, Protocol

import torch
from torch import Tensor

from bookkit.data.grammar import english_spanish
from companion.alignment import Links, argmax_links, diagonal_links
from companion.data.batching import Batch, PooledBatches, collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.metrics import alignment_error_rate, bleu, exact_match, link_accuracy
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.training import TrainingConfig, train
from companion.translation import Translator
from experiments.engine.code import TRANSFORMERS, TRANSLATORS, hashes
from experiments.engine.experiment import RUNS, Answers, as_key, by_item, digest, numbers
from experiments.engine.kinds import Kinds, NumberKind, exact, number, share

Kind = Literal["none", "additive", "dot", "general", "concat"]

KINDS: tuple[Kind, ...] = ("none", "additive", "dot")
BINS = ((1, 5), (6, 10), (11, 15), (16, 20), (21, 25), (26, 30), (31, 35), (36, 40))
STRIDE = 100
"""Updates over which a point of a loss curve is averaged."""


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
            *vocabularies, embed_dim=self.embed_dim, hidden_dim=self.hidden_dim,
            attention=self.attention, query=self.query, dropout_p=self.dropout_p,
        )  # fmt: skip

    def build(self, vocabularies: tuple[int, int]) -> Seq2Seq:
        """Return an untrained model."""
        return Seq2Seq(self.config(vocabularies))

    def loss(self, model: Seq2Seq, batch: Batch) -> Tensor:
        """Return what training makes smaller."""
        return model.loss(batch)

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float | Answers]:
        """Hold attention against the gold links."""
        return {} if self.attention == "none" else alignment(trained, pairs)

    def shrunk(self) -> Setting:
        """Return the setting of a smoke run."""
        return replace(self, steps=6, warmup_steps=2, hidden_dim=16, embed_dim=8, batch_size=16)


class Trainable(Protocol):
    """What is trained, an RNN or a Transformer, and how: a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def attention(self) -> str:
        """The kind, by whose name it is tuned."""

    @property
    def learning_rate(self) -> float:
        """The largest rate."""

    @property
    def steps(self) -> int:
        """How many updates."""

    @property
    def warmup_steps(self) -> int:
        """Over how many of them the rate grows."""

    @property
    def batch_size(self) -> int:
        """Sentences of an update."""

    def build(self, vocabularies: tuple[int, int]) -> Any:
        """Return an untrained model, for source and target vocabularies of a size."""

    def loss(self, model: Any, batch: Batch) -> Tensor:
        """Return what training makes smaller."""

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float | Answers]:
        """Hold attention against the gold links."""

    def shrunk(self) -> Trainable:
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
            span = {"min_length": low, "max_length": high}
            draws[bin_name(low, high)] = {"count": self.bin_pairs, **span}
        others = self._others()
        return {
            name: english_spanish(seed=self.test_seed + number, exclude=others, **draw)
            for number, (name, draw) in enumerate(draws.items())
        }

    def _others(self) -> list[Pair]:
        others = {} if self.apart_from is None else self.apart_from.tests()
        return [pair for pairs in others.values() for pair in pairs]


def bin_name(low: int, high: int) -> str:
    """Name a range of lengths so that names sort by length."""
    return f"{low:02d}-{high:02d}"


@cache
def sentences_with(task: GrammarTask, word_class: str) -> int:
    """Return how many test sentences have a word of a class."""
    return sum(word_class in pair.classes for pair in task.tests()["test"])


def kinds(task: GrammarTask, arms: str = "*") -> Kinds:
    """Return the kinds of what `outcome` and `update_costs` measure, with the items of a task.

    It is that of the arms whose names match a pattern.
    """
    items = {"test": task.test_pairs, "held_out": task.test_pairs // 2, "*": task.bin_pairs}

    def with_class(name: str) -> NumberKind:
        return share(sentences_with(task, name.rpartition("/")[2]))

    return {
        f"{arms}/link_accuracy/*": with_class,
        f"{arms}/alignment_error*": share(task.test_pairs, asked="test"),
        **{f"{arms}/exact_match/{where}": share(count) for where, count in items.items()},
        **{f"{arms}/bleu/{where}": share(count, "BLEU") for where, count in items.items()},
        # Of the determiners that are linked wrongly; how many these are depends on the model.
        f"{arms}/determiner_errors/*": number("%", 0, 100),
        f"{arms}/determiner_counts/*": number("words", 0),
        f"{arms}/parameters": exact("weights"),
        f"{arms}loss*": number("nats", 0),
        f"{arms}update_cost*": number("× no attention", 0, timed=True),
    }


@dataclass(frozen=True)
class Trained:
    """A trained translator and the loss of every update."""

    translator: Translator
    losses: list[float]

    @property
    def parameters(self) -> int:
        """Number of weights."""
        return sum(parameter.numel() for parameter in self.translator.model.parameters())


def training_batches(setting: Trainable, corpus: Corpus, seed: int) -> PooledBatches:
    """Return the batches of a corpus, in the order of a seed."""
    sides = corpus.train, corpus.source_vocab, corpus.target_vocab
    return PooledBatches(*sides, batch_size=setting.batch_size, seed=seed)


def fit(setting: Trainable, corpus: Corpus, seed: int, checkpoint: Path | None = None) -> Trained:
    """Train one translator on a corpus."""
    torch.manual_seed(seed)
    model = setting.build(corpus.vocabularies)
    batches = training_batches(setting, corpus, seed)
    config = TrainingConfig(
        setting.steps, setting.learning_rate, min(setting.warmup_steps, setting.steps), seed=seed
    )
    losses = train(model, batches, setting.loss, config, checkpoint=checkpoint, progress=False)
    return Trained(Translator(model, corpus.source_vocab, corpus.target_vocab), losses)


def quality(trained: Trained, tests: dict[str, list[Pair]]) -> dict[str, float | Answers]:
    """Translate every test set: exact match, also by sentence, and BLEU, in percent."""
    measures: dict[str, float | Answers] = {}
    for name, pairs in tests.items():
        written = trained.translator.translate([pair.source for pair in pairs])
        tokens = [translation.tokens for translation in written]
        references = [pair.target for pair in pairs]
        measures[f"exact_match/{name}"] = exact_match(tokens, references)
        measures[by_item(f"exact_match/{name}")] = [
            (float(found == wanted), 1.0) for found, wanted in zip(tokens, references, strict=True)
        ]
        measures[f"bleu/{name}"] = bleu(tokens, references)
    return measures


def alignment(trained: Trained, pairs: Sequence[Pair]) -> dict[str, float | Answers]:
    """Compare the largest weight of every target word with the gold links."""
    links = [argmax_links(matrix) for matrix in trained.translator.forced_weights(pairs)]
    return link_measures(links, pairs) | determiner_counts(links, pairs)


def link_measures(links: Sequence[Links], pairs: Sequence[Pair]) -> dict[str, float | Answers]:
    """Alignment error, accuracy by word class, and where wrong determiners point."""
    wrong, at_noun = determiner_errors(links, pairs)
    by_class = link_accuracy(links, pairs).items()
    return {
        "alignment_error": alignment_error_rate(links, pairs),
        by_item("alignment_error"): [*map(alignment_errors, links, pairs)],
        **{f"link_accuracy/{name}": accuracy for name, (accuracy, _) in by_class},
        "determiner_errors/at_their_noun": 100.0 * at_noun / max(1, wrong),
    }


def alignment_errors(links: Links, pair: Pair) -> tuple[float, float]:
    """Return a sentence's share of the alignment error: wrong and missing links, of how many."""
    of = len(links) + len(pair.sure)
    return round(alignment_error_rate([links], [pair]) * of / 100, 6), float(of)


def determiner_counts(links: Sequence[Links], pairs: Sequence[Pair]) -> dict[str, float]:
    """Count wrong determiners by where they point: counts of several seeds can be added up."""
    wrong, at_noun = determiner_errors(links, pairs)
    places = {"at_their_noun": at_noun, "elsewhere": wrong - at_noun}
    return {f"determiner_counts/{place}": count for place, count in places.items()}


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


def _next_noun(pair: Pair, start: int) -> int:
    return next((i for i in range(start, len(pair.classes)) if pair.classes[i] == "noun"), -1)


def modules_of(setting: Trainable) -> list[str]:
    """Return the modules that decide what a setting learns."""
    return [type(setting).__module__, *TRANSLATORS, *TRANSFORMERS]


def outcome(setting: Trainable, task: Task, seed: int) -> dict[str, float | Answers]:
    """Train and evaluate one translator: every number that a study may want."""
    corpus = task.corpus(seed)
    code = hashes(modules_of(setting))
    key = as_key(code=code, setting=setting, task=task, seed=seed)
    checkpoint = RUNS / f"{digest(key)}.safetensors"
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    trained = fit(setting, corpus, seed, checkpoint)
    losses = trained.losses
    measures = quality(trained, corpus.tests)
    if task.has_gold_links:
        measures |= setting.links(trained, corpus.tests["test"])
    checkpoint.unlink()
    return {
        **measures,
        "parameters": trained.parameters,
        "final_loss": fmean(losses[-50:]),
        **{
            f"loss/{done:04d}": fmean(losses[done - STRIDE : done])
            for done in range(STRIDE, len(losses) + 1, STRIDE)
        },
    }


def equal_parameters(setting: Setting, wanted: int, vocabularies: tuple[int, int]) -> Setting:
    """Widen or narrow a translator until it has about as many weights as wanted."""

    def distance(width: int) -> int:
        sized = replace(setting, hidden_dim=width)
        return abs(parameter_count(sized, vocabularies) - wanted)

    return replace(setting, hidden_dim=min(range(16, 513, 2), key=distance))


def parameter_count(setting: Trainable, vocabularies: tuple[int, int]) -> int:
    """Return the number of weights of a setting, for source and target vocabularies of a size."""
    with torch.device("meta"):
        model = setting.build(vocabularies)
    return sum(parameter.numel() for parameter in model.parameters())


def smoke_trace(settings: Iterable[Trainable]) -> list[float]:
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
        trace.append(numbers(quality(trained, corpus.tests))["bleu/test"])
    reference = corpus.tests["test"]
    diagonal = [diagonal_links(len(pair.target), len(pair.source)) for pair in reference]
    return [*trace, *numbers(link_measures(diagonal, reference)).values()]
