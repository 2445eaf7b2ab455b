"""Words that people have linked by hand, and attention between pieces as links between words."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from torch import Tensor

from companion.data.pairs import Pair

OPENING, CLOSING = "¿¡(", ".,;:?!)"


def read_gold(path: Path) -> list[Pair]:
    """Read sentence pairs with links, all of them taken as sure, from a file of JSON lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_as_pair(json.loads(line)) for line in lines if line.strip()]


def _as_pair(said: Mapping[str, Any]) -> Pair:
    links = frozenset((target, source) for source, target in said["alignment"])
    return Pair(tuple(said["src_words"]), tuple(said["tgt_words"]), links)


def written(words: Sequence[str]) -> tuple[str, list[int]]:
    """Return words as a sentence, and for every sign of it the word that it belongs to.

    Links by hand are between words of lower case with spaces around their marks; a translator has
    read sentences as people write them. A space belongs to the word after it.

    >>> written(("he", "left", ","))
    ('He left,', [0, 0, 1, 1, 1, 1, 1, 2])
    """
    text, owner = "", []
    for number, word in enumerate(words):
        joined = not text or word in CLOSING or text[-1] in OPENING
        part = word if joined else f" {word}"
        text += part
        owner += [number] * len(part)
    return text[:1].upper() + text[1:], owner


def cut(pieces: Tokenizer, words: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
    """Return the pieces of words, and the word of each piece."""
    text, owner = written(words)
    found = pieces.encode(text)
    return tuple(found.tokens), [owner[max(end - 1, 0)] for _, end in found.offsets]


def among_words(weights: Tensor, rows: Sequence[int], columns: Sequence[int]) -> Tensor:
    """Add up what all pieces of a source word have, and average over those of a target word.

    Args:
        weights: (q, k) attention between pieces.
        rows: the target word of each of the q pieces.
        columns: the source word of each of the k pieces.

    Returns:
        One row a target word, one column a source word.
    """
    added = weights.new_zeros(len(rows), max(columns) + 1)
    added.index_add_(1, weights.new_tensor(columns).long(), weights)
    summed = weights.new_zeros(max(rows) + 1, added.shape[1])
    summed.index_add_(0, weights.new_tensor(rows).long(), added)
    return summed / weights.new_tensor(rows).long().bincount()[:, None].clamp(min=1)
