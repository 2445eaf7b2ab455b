"""Metrics against values worked out by hand and formulas written out."""

import math
from typing import Any

import pytest

from companion.data.pairs import Pair
from companion.metrics import alignment_error_rate, bleu, exact_match, link_accuracy, rouge


def test_bleu_of_a_hand_computed_corpus() -> None:
    """Matches and totals are summed over the corpus; the brevity penalty is the corpus's."""
    hypotheses = [tuple("abcde"), tuple("abcd")]
    references = [tuple("abcdf"), tuple("abcdxy")]
    # matched of possible n-grams: 4+4 of 9, 3+3 of 7, 2+2 of 5, 1+1 of 3; 9 words for 11.
    precision = (8 / 9 * 6 / 7 * 4 / 5 * 2 / 3) ** 0.25
    expected = 100 * precision * math.exp(1 - 11 / 9)
    assert bleu(hypotheses, references) == pytest.approx(expected, abs=1e-6)


def test_exact_match_counts_whole_sentences() -> None:
    assert exact_match([("a",), ("a", "b"), (), ("c",)], [("a",), ("a",), (), ("d",)]) == 50.0


PAIR = Pair(
    source=("he", "will", "see", "the", "house"),
    target=("verá", "la", "casa"),
    sure=frozenset({(0, 2), (1, 3), (2, 4)}),
    possible=frozenset({(0, 1)}),
    classes=("verb", "determiner", "noun"),
)  # fmt: skip


def test_alignment_error_by_hand() -> None:
    cases: list[Any] = [
        ({(0, 2), (1, 3), (2, 4)}, 0.0),
        # a possible link costs the sure one it stands for: 1 - (2 + 3) / (3 + 3)
        ({(0, 1), (1, 3), (2, 4)}, 100 / 6),
        # a possible link beside the sure one costs nothing: 1 - (3 + 4) / (4 + 3)
        ({(0, 1), (0, 2), (1, 3), (2, 4)}, 0.0),
        ({(0, 0), (1, 0), (2, 0)}, 100.0),
        (set(), 100.0),
    ]
    for links, expected in cases:
        assert alignment_error_rate([links], [PAIR]) == pytest.approx(expected)


def test_alignment_error_is_of_the_corpus_not_a_mean_of_sentences() -> None:
    short = Pair(("a",), ("b",), frozenset({(0, 0)}))
    rate = alignment_error_rate([{(0, 2), (1, 3), (2, 4)}, {(0, 1)}], [PAIR, short])
    assert rate == pytest.approx(100 * (1 - 6 / 8))


def test_link_accuracy_by_class() -> None:
    links = [{(0, 1), (1, 4), (2, 4)}, {(0, 2), (0, 0), (2, 4)}]
    found = link_accuracy(links, [PAIR, PAIR])
    # verb: possible counts, a wrong second link spoils; determiner: wrong, then missing.
    assert found == {"verb": (50.0, 2), "determiner": (0.0, 2), "noun": (100.0, 2)}


def test_unequal_or_empty_corpora_are_refused() -> None:
    metrics: list[Any] = [bleu, exact_match, rouge, alignment_error_rate, link_accuracy]
    for metric in metrics:
        with pytest.raises(ValueError, match="no sentences"):
            metric([], [])
        with pytest.raises(ValueError, match="got 1 predictions for 2"):
            metric([()], [PAIR, PAIR])


def test_nothing_to_compare_and_missing_word_classes_are_refused() -> None:
    bare = [Pair(("a",), ("b",))]
    with pytest.raises(ValueError, match="neither holds a link"):
        alignment_error_rate([set()], bare)
    with pytest.raises(ValueError, match=r"pairs\[0\]\.classes: got 0 for 1 target words"):
        link_accuracy([{(0, 0)}], bare)


def test_rouge_of_a_hand_computed_pair() -> None:
    """Four of five words are shared, two pairs of neighbours, and "a b , e" keeps its order."""
    found = rouge([("a", "b", ",", "x", "e")], [("a", "b", ",", "d", "e", "f")])
    assert found == pytest.approx(
        {"rouge-1": 800 / 11, "rouge-2": 400 / 9, "rouge-l": 800 / 11}, abs=1e-9
    )
    assert rouge([("e", "a")], [("a", "e")])["rouge-l"] == pytest.approx(50)
    several = rouge([("a",), ("b",)], [("a",), ("c",)])
    assert several == pytest.approx({"rouge-1": 50, "rouge-2": 0, "rouge-l": 50})


def test_tokens_may_hold_white_space_or_nothing() -> None:
    given, other = [("a b", "c", "", "d", "e")], [("a", "b", "c", "", "d", "e")]
    assert bleu(given, given) == pytest.approx(100)
    assert bleu(given, other) < 99
    assert bleu([("a b c d",)], [("a", "b", "c", "d")]) == pytest.approx(0, abs=1e-9)
    assert rouge([("New York",)], [("York", "New")])["rouge-1"] == 0
    assert rouge(given, given)["rouge-2"] == pytest.approx(100)


def test_strings_in_the_place_of_tokens_are_refused() -> None:
    cases: list[Any] = [bleu, rouge, exact_match]
    for metric in cases:
        with pytest.raises(TypeError, match=r"hypotheses\[0\]: got str, wanted a sequence of"):
            metric(["the cat"], [("the", "cat")])
