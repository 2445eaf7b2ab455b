"""Does a phrase book teach Spanish? The founding notebook's model on phrases that it never saw.

A character-level LSTM translator learns the phrase book but for twenty phrases, on twenty seeds.
Beside it: the same without attention, the same on translations that were shuffled, and looking up
the most similar phrase. `--tune` chooses the learning rates, on seeds of its own.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import truediv
from statistics import fmean

import torch

from bookkit.data.phrases import phrase_book
from companion.data.batching import collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary
from companion.metrics import exact_match
from companion.models.seq2seq import Seq2Seq
from companion.translation import Translator
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.descent import config_of, train_new
from experiments.engine.experiment import Arm, Experiment, on
from experiments.engine.kinds import NumberKind, number, share
from experiments.engine.translators import Corpus, Kind, Setting, training_batches
from experiments.engine.trials import Trials, tuned

SEEDS = tuple(range(11, 31))
ARMS: tuple[Kind, ...] = ("additive", "none")
STEPS = 300
LEARNING_RATES = (1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3)
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
    config = replace(setting.config(corpus.vocabularies), cell="lstm")
    batches = training_batches(setting, corpus, seed)
    model, losses = train_new(
        lambda: Seq2Seq(config), batches, Seq2Seq.loss, config_of(setting, seed)
    )
    return Translator(model, corpus.source_vocab, corpus.target_vocab), losses


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
    """Compare translations with the book: exact match, and edits counted by two rules.

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


def outcome(setting: Setting, task: PhraseTask, seed: int) -> dict[str, float]:
    """Train and evaluate one translator."""
    corpus = task.corpus(seed)
    translator, losses = fit(setting, corpus, seed)
    measures = {"final_loss": fmean(losses[-10:])}
    for name, pairs in {"seen": corpus.train, **corpus.tests}.items():
        written = translator.translate([pair.source for pair in pairs], max_len=MAX_LEN)
        measures |= scores([translation.tokens for translation in written], pairs, name)
    if setting.attention != "none":
        measures |= weight_on_words(translator, phrase_book()[2])
    return measures


def baseline(seed: int) -> dict[str, float]:
    """Evaluate looking up the most similar phrase."""
    corpus = TASK.corpus(seed)
    unseen = corpus.tests["unseen"]
    measures = scores(looked_up(unseen, corpus.train), unseen, "unseen")
    return {f"lookup/{what}": value for what, value in measures.items()}


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


def tried() -> dict[str, Setting]:
    """Return the translators that are tuned."""
    setting = Setting("none", steps=STEPS, warmup_steps=50, hidden_dim=96, batch_size=32)
    return {kind: replace(setting, attention=kind) for kind in ARMS}


def arms() -> dict[str, Arm]:
    """Return the tuned translators, and a twin that learns shuffled translations."""
    settings = tuned("founding", tried())
    return on(TASK, settings) | {"shuffled": Arm(settings["additive"], SHUFFLED)}


def recorded(runs: Runs) -> Runs:
    """Leave out what the shuffled book says of the founding phrases: it is wrong by design."""
    return {
        name: values
        for name, values in runs.items()
        if not name.startswith("shuffled/") or name.endswith(("/seen", "/unseen"))
    }


def of_phrases(name: str) -> NumberKind:
    """Return the kind of "arm/measure/where": a share of phrases; every seed splits the book anew.

    The founding three are the same for all.
    """
    corpus = TASK.corpus(SEEDS[0])
    sets = {"seen": corpus.train, **corpus.tests}
    where = name.rpartition("/")[2]
    return share(len(sets[where]), own=where != "founding")


STUDY = Experiment(
    name="founding", title="Does a phrase book teach Spanish?",
    seeds=SEEDS, arms=arms, outcome=outcome, beside=baseline, recorded=recorded,
    trials=Trials(tried, LEARNING_RATES, TASK, "letters_wrong/unseen", named=False),
    config=lambda: {
        **{name: arm._asdict() for name, arm in arms().items()}, "cell": "lstm", "max_len": MAX_LEN,
    },
    kinds={
        "*/character_errors/*": number("errors per 100 letters", 0),
        "*/final_loss": number("nats", 0), "*/weight/*": number("%", 0, 100), "*": of_phrases,
    },
    modules=(*TRANSLATORS, "bookkit.data.phrases"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
