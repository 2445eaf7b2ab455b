"""Sentences of a file, split once for every arm, and the word pieces they are read in."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tokenizers import Tokenizer
from tokenizers.trainers import BpeTrainer

from bookkit.data.pieces import word_pieces
from companion.data.pairs import Pair, read_pairs
from companion.data.vocabulary import SPECIAL, Vocabulary

TESTED, VALIDATED = 2500, 1000


@dataclass(frozen=True)
class Split:
    """Pairs of whole sentences, each a text; those of training are in an order drawn once."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


@cache
def split(path: str, tested: int = TESTED, validated: int = VALIDATED) -> Split:
    """Draw the English sentences that are kept from training, with their first translation.

    Neither a kept English sentence nor its Spanish reference stands anywhere in training, also not
    as the translation of another sentence.
    """
    groups: dict[str, list[Pair]] = {}
    for pair in read_pairs(path, tokenize=_whole):
        groups.setdefault(pair.source[0], []).append(pair)
    sources = sorted(groups)
    random.Random(0).shuffle(sources)
    kept = [groups[source][0] for source in sources[: tested + validated]]
    said = {pair.target for pair in kept}
    rest = (pair for source in sources[tested + validated :] for pair in groups[source])
    return Split([p for p in rest if p.target not in said], kept[tested:], kept[:tested])


def _whole(text: str) -> tuple[str]:
    return (" ".join(text.split()),)


def learn_pieces(texts: Sequence[str], size: int) -> Tokenizer:
    """Merge the most frequent pairs of pieces until there are `size`."""
    pieces = word_pieces()
    trainer = BpeTrainer(
        vocab_size=size, special_tokens=list(SPECIAL), show_progress=False, min_frequency=2
    )
    pieces.train_from_iterator(texts, trainer)
    return pieces


def vocabulary_of(pieces: Tokenizer) -> Vocabulary:
    """Return the pieces in the order of their ids."""
    ids = pieces.get_vocab()
    return Vocabulary(sorted(ids, key=ids.__getitem__)[len(SPECIAL) :])


def in_pieces(pieces: Tokenizer, pairs: Sequence[Pair]) -> list[Pair]:
    """Cut both sides of pairs of whole sentences."""
    sides = ([pair.source[0] for pair in pairs], [pair.target[0] for pair in pairs])
    source, target = (pieces.encode_batch(side) for side in sides)
    return [Pair(tuple(s.tokens), tuple(t.tokens)) for s, t in zip(source, target, strict=True)]
