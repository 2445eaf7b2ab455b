"""Can real sentences with links by hand judge a translator that others have trained?

    python -m experiments.tools.europarl GOLD PAIRS

GOLD has one sentence pair in each line, as JSON: `src_words`, `tgt_words`, and `alignment`, a list
of [source, target] links. PAIRS is a file of `english<TAB>spanish` sentences, on which a translator
would learn. This counts how many words of GOLD such a translator knows, and aligns GOLD with
aligners that learn from PAIRS. It writes no record, because neither file is part of the book.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from companion.alignment import FastAlign, HMMAligner, IBMModel1, diagonal_links
from companion.data.pairs import Pair, read_pairs
from companion.metrics import alignment_error_rate
from experiments.sentences.gold import read_gold

ITERATIONS = 5


def known_words(gold: Sequence[Pair], training: Sequence[Pair]) -> dict[str, float]:
    """Count what of the gold sentences stands in the training sentences.

    Returns:
        The number of gold pairs of which every word is known, and the percentage of source and of
        target words that are.

    >>> gold = [Pair(("red", "house"), ("casa", "roja")), Pair(("my", "house"), ("mi", "casa"))]
    >>> known_words(gold, [Pair(("house",), ("casa",))])
    {'whole pairs': 0.0, 'source words (%)': 50.0, 'target words (%)': 50.0}
    """
    sides = [
        ([pair.source for pair in pairs], [pair.target for pair in pairs])
        for pairs in (gold, training)
    ]
    known = [{word for words in side for word in words} for side in sides[1]]
    whole = sum(known[0].issuperset(p.source) and known[1].issuperset(p.target) for p in gold)
    shares = [
        100 * sum(word in vocabulary for words in side for word in words) / sum(map(len, side))
        for side, vocabulary in zip(sides[0], known, strict=True)
    ]
    names = ("whole pairs", "source words (%)", "target words (%)")
    return dict(zip(names, (float(whole), *shares), strict=True))


def errors(gold: Sequence[Pair], training: Sequence[Pair]) -> dict[str, float]:
    """Return the alignment error on the gold pairs, in percent, of aligners that learned."""
    aligners: dict[str, IBMModel1 | FastAlign | HMMAligner] = {
        "Model 1": IBMModel1(),
        "fast_align": FastAlign(),
        "HMM": HMMAligner(),
    }
    links = {
        name: [*map(aligner.fit(training, iterations=ITERATIONS).links, gold)]
        for name, aligner in aligners.items()
    }
    links["diagonal"] = [diagonal_links(len(pair.target), len(pair.source)) for pair in gold]
    return {name: alignment_error_rate(found, gold) for name, found in links.items()}


def main() -> None:
    """Print what was counted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("gold", type=Path)
    parser.add_argument("pairs", type=Path)
    options = parser.parse_args()
    gold, training = read_gold(options.gold), read_pairs(options.pairs)
    print(f"gold pairs: {len(gold)}, training pairs: {len(training):,}")
    for name, number in known_words(gold, training).items():
        print(f"known {name}: {number:.0f}")
    for name, error in errors(gold, training).items():
        print(f"alignment error, {name}: {error:.0f} %")


if __name__ == "__main__":
    main()
