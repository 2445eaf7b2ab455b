"""Does a phrase book teach Spanish? The founding notebook's model on phrases that it never saw.

A character-level LSTM translator learns the phrase book but for twenty phrases, on five seeds.
Beside it: the same without attention, the same on translations that were shuffled, and looking up
the most similar phrase. `--tune` chooses the learning rates, on seeds of its own.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from operator import truediv
from statistics import fmean

import torch

from companion.data.batching import PooledBatches, collate
from companion.data.pairs import Pair
from companion.data.phrases import phrase_book
from companion.data.vocabulary import Vocabulary
from companion.metrics import exact_match
from companion.models.seq2seq import Seq2Seq
from companion.training import TrainingConfig, train
from companion.translation import Translator
from experiments.record import claim, fingerprint, measure, write_result
from experiments.settings import tuned
from experiments.translators import (
    Corpus,
    Kind,
    Runs,
    Setting,
    as_key,
    cached,
    in_parallel,
    runs_by_measure,
)
from experiments.trials import command_line, record_trials, tried

STUDY = "founding"
SEEDS = tuple(range(1, 6))
ARMS: tuple[Kind, ...] = ("additive", "none")
STEPS = 300
LEARNING_RATES = (4e-3, 8e-3)
MAX_LEN = 30
"""Most characters a translation may have; the longest of the book has 24."""

Text = Sequence[str]


@dataclass(frozen=True)
class PhraseTask:
    """How a seed splits the phrase book: twenty phrases are hidden, never the founding three."""

    hidden: int = 20
    shuffled: bool = False

    def corpus(self, seed: int) -> Corpus:
        """Split the book; with `shuffled`, every phrase learned has another one's translation."""
        book = phrase_book()
        founding, rest = book[:3], book[3:]
        random.Random(seed).shuffle(rest)
        unseen, seen = rest[: self.hidden], founding + rest[self.hidden :]
        return Corpus(
            mismatched(seen, seed) if self.shuffled else seen,
            {"founding": founding, "unseen": unseen},
            Vocabulary.from_tokens(pair.source for pair in book),
            Vocabulary.from_tokens(pair.target for pair in book),
        )


TASK = PhraseTask()
SHUFFLED = PhraseTask(shuffled=True)


def mismatched(pairs: Sequence[Pair], seed: int) -> list[Pair]:
    """Give every pair the target of the next one in a random round."""
    order = list(range(len(pairs)))
    random.Random(f"{seed}/mismatched").shuffle(order)
    taken = dict(zip(order, order[1:] + order[:1], strict=True))
    return [Pair(pair.source, pairs[taken[n]].target) for n, pair in enumerate(pairs)]


def fit(setting: Setting, corpus: Corpus, seed: int) -> tuple[Translator, list[float]]:
    """Train one translator with LSTM cells; return it and the loss of every update."""
    torch.manual_seed(seed)
    model = Seq2Seq(replace(setting.config(corpus.vocabularies), cell="lstm"))
    vocabularies = corpus.source_vocab, corpus.target_vocab
    batches = PooledBatches(corpus.train, *vocabularies, batch_size=setting.batch_size, seed=seed)
    config = TrainingConfig(setting.steps, setting.learning_rate, setting.warmup_steps, seed=seed)
    losses = train(model, batches, Seq2Seq.loss, config, progress=False)
    return Translator(model, *vocabularies), losses


def edits(first: Text, second: Text) -> int:
    """Return the fewest insertions, deletions and replacements between two sequences.

    >>> edits("hola", "hello")
    3
    """
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        diagonal, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (a != b))
    return row[-1]


def scores(written: Sequence[Text], pairs: Sequence[Pair], name: str) -> dict[str, float]:
    """Compare translations with the book: exact match, and two ways to count edits.

    "letters_wrong" is the edits over the length of the longer text, a mean over phrases, at most
    100 %. "character_errors" is all edits per 100 letters of the book; superfluous ones count in
    full, so that a long answer to a short phrase weighs much.
    """
    wanted = [pair.target for pair in pairs]
    wrong = [edits(text, target) for text, target in zip(written, wanted, strict=True)]
    longest = [max(len(text), len(target)) for text, target in zip(written, wanted, strict=True)]
    return {
        f"exact_match/{name}": exact_match(written, wanted),
        f"letters_wrong/{name}": 100.0 * fmean(map(truediv, wrong, longest)),
        f"character_errors/{name}": 100.0 * sum(wrong) / sum(map(len, wanted)),
    }


def looked_up(pairs: Sequence[Pair], known: Sequence[Pair]) -> list[Text]:
    """Translate as a reader of the book would: take the translation of the nearest English."""

    def nearest(pair: Pair) -> Pair:
        return min(known, key=lambda other: edits(other.source, pair.source))

    return [nearest(pair).target for pair in pairs]


def weight_on_words(translator: Translator, pair: Pair) -> dict[str, float]:
    """Return how much of its attention "buenos" has on "good", and "días" on "morning"."""
    weights = translator.forced_weights([pair])[0]
    ours, theirs = pair.target.index(" "), pair.source.index(" ")
    return {
        "weight/buenos_on_good": 100.0 * float(weights[:ours, :theirs].sum(1).mean()),
        "weight/dias_on_morning": 100.0 * float(weights[ours + 1 :, theirs + 1 :].sum(1).mean()),
    }


def run(name: str, setting: Setting, task: PhraseTask, seed: int) -> dict[str, float]:
    """Train and evaluate one translator, or read back what was found before."""
    key = as_key(setting=setting, task=task, seed=seed)
    return cached(f"{STUDY}/{name}-{seed}", key, lambda: outcome(setting, task.corpus(seed), seed))


def outcome(setting: Setting, corpus: Corpus, seed: int) -> dict[str, float]:
    """Train and evaluate one translator."""
    translator, losses = fit(setting, corpus, seed)
    found = {"final_loss": fmean(losses[-10:])}
    for name, pairs in {"seen": corpus.train, **corpus.tests}.items():
        written = translator.translate([pair.source for pair in pairs], max_len=MAX_LEN)
        found |= scores([translation.tokens for translation in written], pairs, name)
    if setting.attention != "none":
        found |= weight_on_words(translator, phrase_book()[2])
    return found


def baseline(seed: int) -> dict[str, float]:
    """Evaluate looking up the most similar phrase."""
    corpus = TASK.corpus(seed)
    unseen = corpus.tests["unseen"]
    return scores(looked_up(unseen, corpus.train), unseen, "unseen")


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates, and what evaluation finds after them."""
    trace: list[float] = []
    cases: tuple[tuple[Kind, PhraseTask], ...] = (
        ("additive", TASK),
        ("none", TASK),
        ("additive", SHUFFLED),
    )
    for kind, task in cases:
        corpus = task.corpus(seed=7)
        setting = Setting(kind, steps=5, warmup_steps=2, hidden_dim=16, embed_dim=8, batch_size=16)
        translator, losses = fit(setting, corpus, seed=7)
        founding = corpus.tests["founding"]
        with torch.no_grad():
            batch = collate(corpus.tests["unseen"], corpus.source_vocab, corpus.target_vocab)
            trace += [*losses, float(translator.model.loss(batch))]
        written = translator.translate([pair.source for pair in founding], max_len=5)
        trace += scores([text.tokens for text in written], founding, "founding").values()
        if kind != "none":
            trace += weight_on_words(translator, founding[2]).values()
    return [*trace, *baseline(seed=7).values()]


def tune(workers: int = 2) -> None:
    """Choose the setting of each translator by its errors on hidden phrases; record all trials.

    The seeds are those of no reported run; the hidden phrases come from the same book.
    """
    grid = [
        Setting(kind, learning_rate=rate, steps=STEPS, warmup_steps=50, hidden_dim=96,
                batch_size=32)
        for kind, rate in product(ARMS, LEARNING_RATES)
    ]  # fmt: skip
    metric = "letters_wrong/unseen"
    trials = [(f"tune-{place}", setting, TASK) for place, setting in enumerate(grid)]
    arms = [setting.attention for setting in grid]
    record_trials(STUDY, metric, arms, grid, tried(run, trials, metric, workers), named=False)


def main(workers: int = 2) -> None:
    """Train every translator on every seed and write the record."""
    settings = tuned(STUDY)
    arms = {
        "additive": (settings["additive"], TASK),
        "none": (settings["none"], TASK),
        "shuffled": (settings["additive"], SHUFFLED),
    }
    jobs = [(name, *arm, seed) for name, arm in arms.items() for seed in SEEDS]
    outcomes = in_parallel(run, jobs, workers)
    runs = {
        name: runs_by_measure(outcomes[place : place + len(SEEDS)])
        for name, place in zip(arms, range(0, len(outcomes), len(SEEDS)), strict=True)
    }
    runs["lookup"] = runs_by_measure([baseline(seed) for seed in SEEDS])
    # What the shuffled book says of the founding phrases is wrong by design.
    kept = {
        f"{name}/{what}": values
        for name, found in runs.items()
        for what, values in found.items()
        if name != "shuffled" or what.endswith(("/seen", "/unseen"))
    }
    write_result(
        STUDY,
        title="Does a phrase book teach Spanish?",
        command="python -m experiments.founding",
        seeds=SEEDS,
        threads=1,
        config={
            **{name: {"setting": setting, "task": task} for name, (setting, task) in arms.items()},
            "cell": "lstm",
            "max_len": MAX_LEN,
        },
        measures={name: measure(values, unit_of(name)) for name, values in kept.items()},
        claims=claims(runs),
        fingerprint=fingerprint(smoke()),
    )


def unit_of(name: str) -> str:
    """Return the unit of a measure."""
    if "character_errors" in name:
        return "errors per 100 letters"
    return "nats" if name.endswith("final_loss") else "%"


def claims(runs: dict[str, Runs]) -> dict[str, dict[str, object]]:
    """Compare translators seed by seed, as the page states it."""

    def fewer_wrong(
        text: str, first: str, second: str, what: str = "letters_wrong", unit: str = "points"
    ) -> dict[str, object]:
        name = f"{what}/unseen"
        return claim(text, runs[first][name], runs[second][name], unit=unit, side="below")

    def bound(text: str, name: str, what: str, **rest: object) -> dict[str, object]:
        return claim(text, runs[name][what], None, **rest)  # type: ignore[arg-type]

    good = 100.0 * len("good") / len("good morning")
    return {
        "memorised": bound(
            "Of the phrases it learned, the translator gets more than 95 % exactly right.",
            "additive", "exact_match/seen", unit="% exactly right", side="above", threshold=95.0,
        ),
        "unseen": bound(
            "Of the phrases it never saw, the translator gets fewer than one in ten exactly right.",
            "additive", "exact_match/unseen", unit="% exactly right", side="below", threshold=10.0,
        ),
        "shuffled_memorised": bound(
            "With its translations shuffled, the book is learned as well: more than 95 % exactly.",
            "shuffled", "exact_match/seen", unit="% exactly right", side="above", threshold=95.0,
        ),
        "looks_at_good": bound(
            "While it writes “buenos”, more of its attention is on “good” than an even spread "
            "would put there.",
            "additive", "weight/buenos_on_good", unit="% of the weight", side="above",
            threshold=round(good, 1),
        ),
        "beats_lookup": fewer_wrong(
            "On phrases it never saw, the translator gets fewer letters wrong than looking up the "
            "most similar phrase of the book.", "additive", "lookup",
        ),
        "beats_lookup_by_errors": fewer_wrong(
            "On phrases it never saw, the translator makes fewer errors per letter than looking up "
            "the most similar phrase of the book.", "additive", "lookup", "character_errors",
            "errors per 100 letters",
        ),
        "beats_shuffled": fewer_wrong(
            "On phrases it never saw, the translator gets fewer letters wrong than its twin that "
            "learned shuffled translations.", "additive", "shuffled",
        ),
        "attention_gain": fewer_wrong(
            "With attention, the translator gets fewer letters wrong on phrases it never saw.",
            "additive", "none",
        ),
    }  # fmt: skip


if __name__ == "__main__":
    command_line(__doc__, tune, main)
