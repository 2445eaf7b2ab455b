"""Vocabularies: the order of ids, unknown and special tokens, and the way back."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from companion.data.vocabulary import SPECIAL, Vocabulary

SENTENCES = [("b", "a", "c"), ("a", "c"), ("a", "d")]


def test_special_ids() -> None:
    vocab = Vocabulary([])
    assert len(vocab) == 4
    assert (vocab.pad_id, vocab.bos_id, vocab.eos_id, vocab.unk_id) == (0, 1, 2, 3)
    assert vocab.tokens == SPECIAL == ("<pad>", "<bos>", "<eos>", "<unk>")


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
    assert vocab.encode(("casa", "la", "casa")) == [5, 4, 5]
    assert vocab.decode(vocab.encode(("casa", "la"))) == ("casa", "la")
    assert vocab.encode(()) == []
    assert vocab.decode([]) == ()
    assert "casa" in vocab
    assert "roja" not in vocab
    assert "<pad>" not in vocab


def test_unknown_tokens() -> None:
    vocab = Vocabulary(["la"])
    assert vocab.encode(("la", "torre")) == [4, 3]
    assert vocab.decode([4, 3]) == ("la", "<unk>")


def test_special_names_in_a_text_are_unknown_words() -> None:
    assert Vocabulary(["la"]).encode(SPECIAL) == [3, 3, 3, 3]


def test_decode_stops_at_the_end_and_skips_padding() -> None:
    vocab = Vocabulary(["la", "casa"])
    assert vocab.decode([1, 4, 0, 5, 2, 4, 4]) == ("la", "casa")
    assert vocab.decode(np.array([1, 5, 2])) == ("casa",)


def test_decode_refuses_unknown_ids() -> None:
    cases: list[Any] = [-1, 5]
    for number in cases:
        with pytest.raises(ValueError, match=f"ids: got {number}, wanted 0 to 4"):
            Vocabulary(["la"]).decode([4, number])


def test_decode_refuses_what_is_no_integer() -> None:
    with pytest.raises(TypeError):
        Vocabulary(["la"]).decode([4.0])  # type: ignore[list-item]


def test_repeated_and_special_tokens_are_refused() -> None:
    cases: list[Any] = [["a", "a"], ["<eos>"], ["a", "<pad>"]]
    for tokens in cases:
        with pytest.raises(ValueError, match="tokens: got"):
            Vocabulary(tokens)


def test_a_string_is_no_sentence() -> None:
    with pytest.raises(TypeError, match="tokens: got the string 'la'"):
        Vocabulary(["la"]).encode("la")
    with pytest.raises(TypeError, match="got the string"):
        Vocabulary.from_tokens(["la", "casa"])


def test_bounds_are_checked() -> None:
    cases: list[Any] = [{"min_count": 0}, {"max_size": 3}]
    for bounds in cases:
        with pytest.raises(ValueError, match=next(iter(bounds))):
            Vocabulary.from_tokens(SENTENCES, **bounds)


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
