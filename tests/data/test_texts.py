"""Batches of texts: their ids, and which texts a step has."""

import math

import pytest

from companion.data.texts import TextBatches, counted_loss, text_ids
from companion.data.vocabulary import Vocabulary

TEXTS = [tuple("abc"[:size]) for size in (1, 2, 3, 2, 1, 3, 2)]
VOCAB = Vocabulary(["a", "b", "c"])


def test_texts_stand_between_beginning_and_end() -> None:
    ids, lengths = text_ids([("b",), ("a", "z", "c")], VOCAB)
    assert ids.tolist() == [[1, 5, 2, 0, 0], [1, 4, 3, 6, 2]]
    assert lengths.tolist() == [3, 5]


def test_an_epoch_has_every_text_once_and_another_order() -> None:
    batches = TextBatches([(letter,) for letter in "abcdefgh"], Vocabulary("abcdefgh"),
                          batch_size=4, seed=1)  # fmt: skip
    epochs = [
        [ids[1] for step in (first, first + 1) for ids in batches[step][0].tolist()]
        for first in (0, 2)
    ]
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(4, 12))
    assert epochs[0] != epochs[1]


def test_a_batch_depends_on_seed_and_step_alone() -> None:
    one, other = (TextBatches(TEXTS, VOCAB, batch_size=3, seed=2) for _ in range(2))
    for step in (5, 0, 3):
        assert one[step][0].equal(other[step][0])
    third = TextBatches(TEXTS, VOCAB, batch_size=3, seed=3)
    assert any(not one[step][1].equal(third[step][1]) for step in range(4))


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="texts: got 7, wanted at least batch_size, 8"):
        TextBatches(TEXTS, VOCAB, batch_size=8, seed=0)
    with pytest.raises(ValueError, match="texts: got none"):
        text_ids([], VOCAB)
    with pytest.raises(ValueError, match="got 5 and 0 texts"):
        counted_loss(["a"] * 5, [], order=1)
    with pytest.raises(IndexError, match="step: got -1"):
        TextBatches(TEXTS, VOCAB, batch_size=2, seed=0)[-1]


def test_counted_chances_are_shares_of_the_counts() -> None:
    train = ["aab", "ab"]  # with the ends: a a b . a b .
    for order, added, chances in (
        (1, 1e-12, (3 / 7, 2 / 7, 2 / 7)),
        (2, 1e-12, (1, 2 / 3, 1)),
        (2, 1, ((2 + 1) / (2 + 3), (2 + 1) / (3 + 3), (2 + 1) / (2 + 3))),
    ):
        wanted = -sum(map(math.log, chances)) / 3
        assert counted_loss(train, ["ab"], order=order, added=added) == pytest.approx(wanted)
