"""Vocabularies: the order of ids, unknown and special tokens, and the way back."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from companion.data.vocabulary import SPECIAL, Vocabulary

SENTENCES = [("b", "a", "c"), ("a", "c"), ("a", "d")]


def test_frequent_tokens_come_first_and_ties_in_alphabetical_order() -> None:
    assert Vocabulary.from_tokens(SENTENCES).tokens[4:] == ("a", "c", "b", "d")
    assert Vocabulary.from_tokens(reversed(SENTENCES)) == Vocabulary.from_tokens(SENTENCES)


def test_min_count_and_max_size() -> None:
    assert Vocabulary.from_tokens(SENTENCES, min_count=2).tokens[4:] == ("a", "c")
    assert Vocabulary.from_tokens(SENTENCES, min_count=4).tokens == SPECIAL
    for size in (4, 5, 7, 8, 99):
        vocab = Vocabulary.from_tokens(SENTENCES, max_size=size)
        assert len(vocab) == min(size, 8)
        assert vocab.tokens[4:] == ("a", "c", "b", "d")[: size - 4]


def test_encode_and_decode() -> None:
    vocab = Vocabulary(["la", "casa"])
    for tokens, ids in (
        (("casa", "la", "casa"), [5, 4, 5]),
        ((), []),
        (("la", "torre"), [4, 3]),
        (SPECIAL, [3, 3, 3, 3]),  # in a text their names are unknown words
    ):
        assert vocab.encode(tokens) == ids
    for given, words in (
        ([5, 4], ("casa", "la")),
        ([4, 3], ("la", "<unk>")),
        ([1, 4, 0, 5, 2, 4, 4], ("la", "casa")),  # stops at the end, and skips padding
        (np.array([1, 5, 2]), ("casa",)),
    ):
        assert vocab.decode(given) == words
    assert [word in vocab for word in ("casa", "roja", "<pad>")] == [True, False, False]


def test_wrong_calls_are_refused() -> None:
    vocab = Vocabulary(["la"])
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: vocab.decode([4, -1]), ValueError, "ids: got -1, wanted 0 to 4"),
        (lambda: vocab.decode([4, 5]), ValueError, "ids: got 5, wanted 0 to 4"),
        (lambda: vocab.decode([4.0]), TypeError, "integer"),  # type: ignore[list-item]
        (lambda: Vocabulary(["a", "a"]), ValueError, "tokens: got"),
        (lambda: Vocabulary(["a", "<pad>"]), ValueError, "tokens: got"),
        (lambda: vocab.encode("la"), TypeError, "tokens: got the string 'la'"),
        (lambda: Vocabulary.from_tokens(["la", "casa"]), TypeError, "got the string"),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()


def test_equality_and_pickling() -> None:
    vocab = Vocabulary(["la", "casa"])
    assert pickle.loads(pickle.dumps(vocab)) == vocab
    assert vocab != Vocabulary(["casa", "la"])
    assert len({vocab, Vocabulary(["la", "casa"])}) == 1


def test_an_extended_vocabulary_keeps_its_ids_and_adds_at_the_end() -> None:
    vocab = Vocabulary(["la", "casa"])
    longer = vocab.extended(("nueva", "casa", "<eos>", "nueva"))
    assert longer.tokens == (*vocab.tokens, "nueva")
    assert longer.encode(("casa", "nueva", "vieja")) == [5, 6, vocab.unk_id]
    assert len(vocab) == 6
