"""Train the two translators that a reader's browser runs, and store them in eight bits a weight.

`python -m experiments.tools.page_translator` trains them as the study `live` does, with its first
seed, in some two minutes on one thread. It writes what the pages fetch, and beside the tests a copy
of the translator with attention that is not quantized, with which they compare.
"""

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch

from bookkit.data.grammar import english_spanish
from bookkit.playables.translator import BANDS, FILES, FOLDER
from bookkit.playables.weights import save_translator
from companion.data.pairs import Pair
from companion.translation import Translator
from experiments.engine.code import TRANSLATORS, hashes
from experiments.engine.record import replace_file
from experiments.engine.settings import LIVE_SETTINGS, LIVE_TASK, REPORT_SEEDS
from experiments.engine.translators import Corpus, Kind, fit
from experiments.tools.stamp import current_run

SEED = REPORT_SEEDS[0]
KINDS: dict[str, Kind] = {"with": "additive", "without": "none"}
"""Which of the study's translators runs with attention in a page, and which without."""

SENTENCES = 75
"""Sentences that a page offers in each of its ranges of lengths."""

SENTENCE_SEED = 72_001
UNROUNDED = Path("tests/bookkit/playables/translator-16-bit.safetensors")


def sentences_of_all_lengths(corpus: Corpus) -> list[Pair]:
    """Draw sentences that stand neither in the training pairs nor in the test sets."""
    known = [*corpus.train, *(pair for pairs in corpus.tests.values() for pair in pairs)]
    return [
        pair
        for number, (shortest, longest) in enumerate(BANDS)
        for pair in english_spanish(
            SENTENCES, seed=SENTENCE_SEED + number, min_length=shortest, max_length=longest,
            exclude=known,
        )
    ]  # fmt: skip


def glosses(pairs: Iterable[Pair], words: Sequence[str]) -> list[str]:
    """Return for every Spanish word the English word that the grammar links to it most often.

    >>> glosses([Pair(("red", "house"), ("casa", "roja"), frozenset({(0, 1)}))], ["casa", "roja"])
    ['house', '']
    """
    linked: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for i, j in pair.sure:
            linked[pair.target[i]][pair.source[j]] += 1
    return [
        max(linked[word], key=lambda english: (linked[word][english], english), default="")
        for word in words
    ]


def followers(pairs: Iterable[Pair]) -> dict[str, str]:
    """Return for every English word those that come after it, the most frequent first.

    >>> followers([Pair(("she", "sings"), (), frozenset())])
    {'': 'she', 'she': 'sings', 'sings': ''}
    """
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        for one, other in pairwise(("", *pair.source, "")):
            found[one][other] += 1
    return {
        word: " ".join(sorted(after, key=lambda other: (-after[other], other)))
        for word, after in sorted(found.items())
    }


def digest_of_pairs(pairs: Iterable[Pair]) -> str:
    """Return a hash of sentences and their translations, in their order."""
    return _digest(" ".join((*pair.source, "|", *pair.target)) for pair in pairs)


def rounded(translator: Translator) -> Translator:
    """Round a translator's weights to float16: a copy beside the tests is half as large, then.

    What is stored in eight bits and what it is compared with come from the same rounded weights.
    """
    with torch.no_grad():
        for weight in translator.model.parameters():
            weight.copy_(weight.half())
    return translator


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]


def _origin(kind: Kind, corpus: Corpus) -> dict[str, Any]:
    return {
        "command": "python -m experiments.tools.page_translator", "seed": SEED,
        "setting": asdict(LIVE_SETTINGS[kind]), "task": asdict(LIVE_TASK),
        "code": _digest(hashes(TRANSLATORS).values()), "data": digest_of_pairs(corpus.train),
        **current_run(),
    }  # fmt: skip


def main() -> None:
    """Train, round and write."""
    argparse.ArgumentParser(
        prog="python -m experiments.tools.page_translator", description=__doc__
    ).parse_args()
    torch.set_num_threads(1)
    corpus = LIVE_TASK.corpus(SEED)
    sentences = sentences_of_all_lengths(corpus)
    lines = [f"{' '.join(pair.source)}\t{' '.join(pair.target)}\n" for pair in sentences]
    replace_file("".join(lines), FOLDER / FILES["sentences"])
    replace_file(json.dumps(followers(corpus.train)), FOLDER / FILES["followers"])
    for name, kind in KINDS.items():
        trained = fit(LIVE_SETTINGS[kind], corpus, SEED)
        translator = rounded(trained.translator)
        about = _origin(kind, corpus)
        about["gloss"] = glosses(corpus.train, translator.target_vocab.tokens[4:])
        save_translator(translator, FOLDER / FILES[name], about=about)
        if name == "with":
            save_translator(translator, UNROUNDED, bits=16, about=about)


if __name__ == "__main__":
    main()
