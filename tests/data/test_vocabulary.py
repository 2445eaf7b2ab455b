"""Vocabularies: the order of ids, unknown and special tokens, and the way back."""

import pickle

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
    with pytest.raises(ValueError, match="ids: got -1, wanted 0 to 4"):
        vocab.decode([4, -1])
    with pytest.raises(ValueError, match="tokens: got"):
        Vocabulary(["a", "<pad>"])
    with pytest.raises(TypeError, match="tokens: got the string 'la'"):
        vocab.encode("la")
    with pytest.raises(TypeError, match="got the string"):
        Vocabulary.from_tokens(["la", "casa"])


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
