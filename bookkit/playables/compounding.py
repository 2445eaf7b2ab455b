"""Whole sentences against single words: a chance per word that the reader sets, by length."""

from collections.abc import Mapping, Sequence

from bookkit.inputs import as_vector
from bookkit.playables.playable import Playable, playable
from companion.contracts import contract

CHANCES = (
    *(float(percent) for percent in range(50, 90)),
    *(percent / 2 for percent in range(180, 199)),
    *(percent / 10 for percent in range(991, 1001)),
)
"""What the slider offers, in percent: finer steps near 100, where they matter more."""

Series = Mapping[str, Sequence[float]]
Bins = Sequence[tuple[int, int]]


@contract(longest=">= 1")
def compounding(
    bins: Bins, exact: Series, bleu: Series, *, longest: int, caption: str = ""
) -> Playable:
    """Show by length how many sentences come out whole, beside words that fail independently.

    The curve is p ** n: of sentences of n words, so many are right in every word if each word is
    right with probability p, whatever the others are. The reader sets p, and changes between whole
    sentences and BLEU, which gives credit for parts.

    Args:
        bins: the shortest and the longest sentence of every group, in words, from short to long.
        exact: for two translators by name, sentences without a mistake in every group, in percent.
        bleu: for the same two, BLEU in every group.
        longest: the longest sentences of the training.

    >>> numbers = {"with attention": [100, 90], "without": [99, 8]}
    >>> compounding([(1, 5), (26, 30)], numbers, numbers, longest=30)
    Whole sentences and single words, by length: a drawing to play with.
    """
    if len(exact) != 2 or list(exact) != list(bleu):
        raise ValueError(
            f"exact, bleu: got {list(exact)} and {list(bleu)}, wanted the same two translators"
        )
    edges = [edge for pair in bins for edge in pair]
    if not edges or any(low > high for low, high in bins) or edges != sorted(edges):
        raise ValueError(f"bins: got {list(bins)}, wanted groups from short to long")
    return playable(
        "compounding",
        "Whole sentences and single words, by length",
        caption=caption,
        bins=bins,
        names=list(exact),
        values=[
            [as_vector(series[kind], name, len(bins), within=(0, 100)) for kind in exact]
            for name, series in (("exact", exact), ("bleu", bleu))
        ],
        longest=longest,
        chances=CHANCES,
        chance=CHANCES.index(95.0),
    )
