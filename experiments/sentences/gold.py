"""Attention between pieces, as links between the words that people have linked by hand."""

from collections.abc import Sequence

from tokenizers import Tokenizer
from torch import Tensor

OPENING, CLOSING = "¿¡(", ".,;:?!)"


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
