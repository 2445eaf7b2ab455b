"""A memory whose vectors a reader exchanges, one by one, for those of another sentence."""

from collections.abc import Sequence

from bookkit.playables.playable import Playable, playable


def memory_swap(words: Sequence[str], other: str, written: Sequence[str]) -> Playable:
    """Show what a decoder writes from a memory of two sentences.

    Args:
        words: of the first sentence; each is a button that exchanges its vector.
        other: the sentence from which the exchanged vectors come.
        written: what is written from each of the 2**n mixtures; vector j is exchanged in those
            whose number has bit j.

    >>> memory_swap(["house"], "garden", ["casa", "jardín"])
    A memory to exchange: a drawing to play with.
    """
    if len(written) != 2 ** len(words):
        raise ValueError(f"written: got {len(written)} texts, wanted {2 ** len(words)}")
    name, label, texts = "memory-swap", "A memory to exchange", list(written)
    return playable(name, label, words=list(words), other=other, written=texts)
