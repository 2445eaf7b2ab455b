"""Do real sentences agree? The three translators on a file of sentence pairs.

    python -m experiments real_sentences pairs.tsv.gz --credit "..." --licence "..."

Any file of `english<TAB>spanish[<TAB>anything]` will do. The three translators have equal numbers
of weights (within one percent), equal steps, and learning rates tuned alike on other seeds.
"""

import argparse
import hashlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bookkit.data.grammar import english_spanish
from bookkit.records import load_result
from companion.data.pairs import Pair, read_pairs
from companion.data.vocabulary import Vocabulary
from experiments.engine import translators
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, numbers, on
from experiments.engine.kinds import Kinds, NumberKind, exact, number, share
from experiments.engine.settings import REPORT_SEEDS
from experiments.engine.tune import LEARNING_RATES, tune

BINS = ((1, 4), (5, 6), (7, 8), (9, 11), (12, 20))
BUDGETS = {"small": 800, "large": 2400}
WIDTH = 192


@dataclass(frozen=True)
class FileTask:
    """How a file of pairs becomes training, validation and test sentences.

    No English sentence of the validation or the test set is trained on. An English sentence with
    several translations is tested against the first of them in the file. Every seed sees the
    same sentences.
    """

    path: str
    validation: bool = False
    held_back: int = 2000
    min_count: int = 2
    has_gold_links: bool = False

    def corpus(self, seed: int) -> translators.Corpus:
        """Split the file; the test set is the validation set while tuning."""
        groups: dict[tuple[str, ...], list[Pair]] = {}
        for pair in read_pairs(self.path, max_tokens=20):
            groups.setdefault(pair.source, []).append(pair)
        sources = sorted(groups)
        random.Random(0).shuffle(sources)
        first = 0 if self.validation else self.held_back
        train = [pair for source in sources[2 * self.held_back :] for pair in groups[source]]
        return translators.Corpus(
            train,
            _by_length([groups[source][0] for source in sources[first : first + self.held_back]]),
            Vocabulary.from_tokens((p.source for p in train), min_count=self.min_count),
            Vocabulary.from_tokens((p.target for p in train), min_count=self.min_count),
        )


def _by_length(pairs: list[Pair]) -> dict[str, list[Pair]]:
    bins = {
        translators.bin_name(low, high): [pair for pair in pairs if low <= len(pair.source) <= high]
        for low, high in BINS
    }
    return {"test": pairs} | {name: some for name, some in bins.items() if some}


def kinds(counts: Callable[[], Mapping[str, int]]) -> Kinds:
    """Return the kinds of measures, by the numbers of sentences in the test sets."""

    def of_sentences(name: str) -> NumberKind:
        _, what, where = name.split("/")
        return share(counts()[where], "BLEU" if what == "bleu" else "%")

    return {"*/parameters": exact("weights"), "*loss*": number("nats", 0), "*": of_sentences}


def sized(kind: translators.Kind, vocabularies: tuple[int, int]) -> translators.Setting:
    """Return a translator with as many weights as the one without attention, within a percent."""
    plain = translators.Setting("none", hidden_dim=WIDTH)
    return translators.equal_parameters(
        replace(plain, attention=kind),
        translators.parameter_count(plain, vocabularies),
        vocabularies,
    )


def smoke() -> list[float]:
    """Run the whole pipeline small, on a file of a few sentences of the grammar."""
    pairs = english_spanish(200, seed=7, max_length=9)
    lines = [f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in pairs]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.tsv"
        path.write_text("".join(lines), encoding="utf8")
        corpus = FileTask(str(path), held_back=20, min_count=1).corpus(seed=7)
    trace = [float(size) for size in corpus.vocabularies]
    for kind in translators.KINDS:
        trained = translators.fit(translators.Setting(kind).shrunk(), corpus, seed=7)
        trace += [*trained.losses, numbers(translators.quality(trained, corpus.tests))["bleu/test"]]
    return trace


STUDY = Experiment(
    name="real_sentences",
    title="Real sentences: three translators with equal weights and equal steps",
    arguments=" PAIRS --credit CREDIT --licence LICENCE",
    seeds=REPORT_SEEDS, outcome=translators.outcome,
    # until there is a file
    arms=lambda: on(FileTask(""), {kind: translators.Setting(kind) for kind in translators.KINDS}),
    kinds=kinds(lambda: load_result("real_sentences").config["test_sentences"]),
    modules=TRANSLATORS,
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip


def sha256_of(path: str) -> str:
    """Return the SHA-256 of a file, in base 16."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def on_file(path: str, credit: str, licence: str, workers: int) -> Experiment:
    """Tune on a file of pairs, and return the study of it."""
    task = FileTask(path)
    corpus = task.corpus(0)
    grid = [
        replace(sized(kind, corpus.vocabularies), learning_rate=rate, steps=BUDGETS["small"])
        for kind in translators.KINDS
        for rate in LEARNING_RATES
    ]
    chosen = tune(STUDY.name, grid, replace(task, validation=True), "bleu/test", workers)
    settings = {
        f"{kind}_{budget}": replace(chosen[kind], steps=steps)
        for budget, steps in BUDGETS.items()
        for kind in translators.KINDS
    }
    config: Mapping[str, object] = {
        "settings": settings,
        "file": Path(path).name,
        "training_pairs": len(corpus.train),
        "test_sentences": {name: len(pairs) for name, pairs in corpus.tests.items()},
        "vocabularies": corpus.vocabularies,
    }
    return replace(
        STUDY,
        arms=lambda: on(task, settings),
        kinds=kinds(lambda: {name: len(pairs) for name, pairs in corpus.tests.items()}),
        config=lambda: config,
        data={"credit": credit, "licence": licence, "sha256": sha256_of(path)},
    )


def main(words: Sequence[str]) -> None:
    """Tune on the file that the command line names, and run the study."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments real_sentences", description=__doc__
    )
    parser.add_argument("path", help="english<TAB>spanish[<TAB>anything], plain or gzip")
    parser.add_argument("--credit", required=True, help="whom the sentences are owed to")
    parser.add_argument("--licence", required=True, help="the licence of the sentences")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(words)
    study = on_file(options.path, options.credit, options.licence, options.workers)
    study.record(options.workers)
