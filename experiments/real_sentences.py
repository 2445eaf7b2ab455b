"""Do real sentences agree? The three translators on a file of sentence pairs.

    python -m experiments.real_sentences pairs.tsv.gz --credit "..." --licence "..."

Any file of `english<TAB>spanish[<TAB>anything]` will do. The three translators have equal numbers
of weights (within one percent), equal steps, and learning rates tuned alike on other seeds.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass, replace
from pathlib import Path

from companion.data.pairs import Pair, read_pairs
from companion.data.vocabulary import Vocabulary
from experiments.record import claim, fingerprint, measure_all, write_result
from experiments.settings import REPORT_SEEDS
from experiments.translators import (
    KINDS,
    Corpus,
    Kind,
    Runs,
    Setting,
    bin_name,
    equal_parameters,
    parameter_count,
    run_all,
    smoke_trace,
    unit_of,
)
from experiments.tune import LEARNING_RATES, tune

STUDY = "real_sentences"
BINS = ((1, 4), (5, 6), (7, 8), (9, 11), (12, 20))
BUDGETS = {"small": 800, "large": 2400}
WIDTH = 192


@dataclass(frozen=True)
class FileTask:
    """How a file of pairs becomes training, validation and test sentences.

    No English sentence of the validation or the test set is trained on. An English sentence with
    several translations is tested once, against the first of them in the file. Every seed sees the
    same sentences.
    """

    path: str
    validation: bool = False
    held_back: int = 2000
    min_count: int = 2
    has_gold_links: bool = False

    def corpus(self, seed: int) -> Corpus:
        """Split the file; the test set is the validation set while tuning."""
        groups: dict[tuple[str, ...], list[Pair]] = {}
        for pair in read_pairs(self.path, max_tokens=20):
            groups.setdefault(pair.source, []).append(pair)
        sources = sorted(groups)
        random.Random(0).shuffle(sources)
        first = 0 if self.validation else self.held_back
        train = [pair for source in sources[2 * self.held_back :] for pair in groups[source]]
        return Corpus(
            train,
            _by_length([groups[source][0] for source in sources[first : first + self.held_back]]),
            Vocabulary.from_tokens((p.source for p in train), min_count=self.min_count),
            Vocabulary.from_tokens((p.target for p in train), min_count=self.min_count),
        )


def _by_length(pairs: list[Pair]) -> dict[str, list[Pair]]:
    bins = {
        bin_name(low, high): [pair for pair in pairs if low <= len(pair.source) <= high]
        for low, high in BINS
    }
    return {"test": pairs} | {name: found for name, found in bins.items() if found}


def smoke() -> list[float]:
    """Run the pipeline on a few sentences of the grammar; see `smoke_trace`."""
    return smoke_trace(Setting(kind) for kind in KINDS)


def sized(kind: Kind, vocabularies: tuple[int, int]) -> Setting:
    """Return a translator with as many weights as the one without attention, within a percent."""
    plain = Setting("none", hidden_dim=WIDTH)
    return equal_parameters(
        replace(plain, attention=kind), parameter_count(plain, vocabularies), vocabularies
    )


def main(path: str, credit: str, licence: str, workers: int = 2) -> None:
    """Tune, train every translator on every seed and budget, and write the record."""
    tuning, task = FileTask(path, validation=True), FileTask(path)
    vocabularies = task.corpus(0).vocabularies
    grid = [
        replace(sized(kind, vocabularies), learning_rate=rate, steps=BUDGETS["small"])
        for kind in KINDS
        for rate in LEARNING_RATES
    ]
    chosen = tune(STUDY, grid, tuning, "bleu/test", workers)
    entries = {
        f"{kind}_{budget}": (replace(chosen[kind], steps=steps), task)
        for budget, steps in BUDGETS.items()
        for kind in KINDS
    }
    runs = run_all(STUDY, entries, REPORT_SEEDS, workers)
    counts = {name: len(pairs) for name, pairs in task.corpus(0).tests.items()}
    write_result(
        STUDY,
        title="Real sentences: three translators with equal weights and equal steps",
        command="python -m experiments.real_sentences PAIRS --credit CREDIT --licence LICENCE",
        seeds=REPORT_SEEDS,
        threads=1,
        config={
            "settings": {name: setting for name, (setting, _) in entries.items()},
            "file": Path(path).name,
            "training_pairs": len(task.corpus(0).train),
            "test_sentences": counts,
            "vocabularies": vocabularies,
        },
        measures=measure_all(runs, unit_of),
        claims=claims(runs),
        data={"credit": credit, "licence": licence},
        fingerprint=fingerprint(smoke()),
    )


def claims(runs: dict[str, Runs]) -> dict[str, dict[str, object]]:
    """Compare dot attention with none, seed by seed, at both budgets and at both ends of length."""
    short, long = bin_name(*BINS[0]), bin_name(*BINS[-1])

    def gain(text: str, more: str, budget: str, what: str) -> dict[str, object]:
        return claim(
            text,
            runs[f"{more}_{budget}"][f"bleu/{what}"],
            runs[f"none_{budget}"][f"bleu/{what}"],
            unit="BLEU",
            side="above",
        )

    return {
        f"{kind}_gain_{budget}_{name}": gain(
            f"With {kind} attention, BLEU on {text} is higher after {steps} steps.",
            kind,
            budget,
            what,
        )
        for kind in ("dot", "additive")
        for budget, steps in BUDGETS.items()
        for name, what, text in (
            ("all", "test", "all real sentences"),
            ("short", short, "real sentences of at most 4 words"),
            ("long", long, "real sentences of 12 words or more"),
        )
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", help="english<TAB>spanish[<TAB>anything], plain or gzip")
    parser.add_argument("--credit", required=True, help="whom the sentences are owed to")
    parser.add_argument("--licence", required=True, help="the licence of the sentences")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    main(arguments.path, arguments.credit, arguments.licence, arguments.workers)
