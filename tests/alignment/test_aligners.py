"""What all aligners have in common."""

import pytest

from bookkit.data.grammar import english_spanish
from companion.alignment import FastAlign, HMMAligner, IBMModel1, diagonal_links
from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate
from tests.alignment.corpus import PAIRS

ALIGNERS = [FastAlign, HMMAligner, IBMModel1]


def test_the_grammar_is_aligned_better_with_an_order() -> None:
    pairs = english_spanish(1200, seed=4, max_length=12)
    tests = english_spanish(300, seed=5, max_length=12)
    straight = [diagonal_links(len(pair.target), len(pair.source)) for pair in tests]
    fast, hmm, plain = (
        alignment_error_rate([*map(kind().fit(pairs, iterations=5).links, tests)], tests)
        for kind in ALIGNERS
    )
    assert max(fast, hmm) < plain < 8 < 20 < alignment_error_rate(straight, tests)


@pytest.mark.parametrize("kind", ALIGNERS)
def test_unknown_words_and_empty_sides_get_no_link(
    kind: type[FastAlign | HMMAligner | IBMModel1],
) -> None:
    aligner = kind().fit([*PAIRS, Pair((), ("y",)), Pair(("and",), ())], iterations=2)
    assert aligner.links(Pair(("the", "cat"), ("gato", "la"))) == {(1, 0)}
    assert aligner.links(Pair(("the",), ())) == frozenset()
    assert kind().links(PAIRS[0]) == frozenset()
    with pytest.raises(ValueError, match="pairs: got none, wanted at least one"):
        kind().fit([], iterations=3)
