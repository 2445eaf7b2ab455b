"""Batches: what they hold, and that each is a function of its step."""

from collections import Counter

import pytest

from companion.data.batching import PooledBatches, collate
from companion.data.pairs import Pair
from companion.data.vocabulary import Vocabulary

PAIRS = [
    Pair(tuple(f"s{i}" for i in range(n % 11 + 1)), tuple(f"t{i}" for i in range(n % 7 + 1)))
    for n in range(53)
]
SOURCE = Vocabulary.from_tokens(pair.source for pair in PAIRS)
TARGET = Vocabulary.from_tokens(pair.target for pair in PAIRS)


def make(seed: int = 3, batch_size: int = 5, pool: int = 3) -> PooledBatches:
    return PooledBatches(PAIRS, SOURCE, TARGET, batch_size=batch_size, seed=seed, pool=pool)


def test_collate_shifts_the_target_and_pads_at_the_end() -> None:
    pairs = [Pair(("s0", "s1"), ("t0",)), Pair(("s2",), ("t1", "t2"))]
    batch = collate(pairs, SOURCE, TARGET)
    s, t = SOURCE.encode, TARGET.encode
    assert batch.source.tolist() == [s(("s0", "s1")), [*s(("s2",)), 0]]
    assert batch.source_lengths.tolist() == [2, 1]
    assert batch.target_in.tolist() == [[1, *t(("t0",)), 0], [1, *t(("t1", "t2"))]]
    assert batch.target_out.tolist() == [[*t(("t0",)), 2, 0], [*t(("t1", "t2")), 2]]
    assert batch.target_mask.tolist() == [[True, True, False], [True, True, True]]


def test_every_epoch_sees_every_pair_once_in_another_order() -> None:
    batches = make()
    epochs = []
    for epoch in range(2):
        seen: list[tuple[int, ...]] = []
        for step in range(batches.per_epoch):
            batch = batches[epoch * batches.per_epoch + step]
            for row, length in zip(batch.source.tolist(), batch.source_lengths, strict=True):
                seen.append(tuple(row[: int(length)]))
        epochs.append(seen)
    expected = Counter(tuple(SOURCE.encode(pair.source)) for pair in PAIRS)
    assert Counter(epochs[0]) == Counter(epochs[1]) == expected
    assert epochs[0] != epochs[1]


def test_a_batch_depends_on_seed_and_step_alone() -> None:
    forward, backward, other = make(), make(), make(seed=4)
    steps = list(range(25))
    last = {step: backward[step].source.tolist() for step in reversed(steps)}
    assert all(forward[step].source.tolist() == last[step] for step in steps)
    assert any(other[step].source.tolist() != last[step] for step in steps)


def test_pooling_keeps_lengths_together() -> None:
    def padding(pool: int) -> int:
        batches = make(pool=pool)
        return sum(int((batches[s].source == 0).sum()) for s in range(batches.per_epoch))

    assert padding(pool=11) < 0.5 * padding(pool=1)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="pairs: got none"):
        collate([], SOURCE, TARGET)
    with pytest.raises(IndexError, match="step: got -1"):
        make()[-1]


def test_copying_numbers_the_unknown_words_of_each_source() -> None:
    vocab = Vocabulary(["beat"])
    pairs = [
        Pair(("toral", "beat", "mik", "toral"), ("mik", "beat", "new")),
        Pair(("vob", "mik"), ("mik", "vob")),
    ]
    batch = collate(pairs, vocab, vocab, copying=True)
    assert batch.source.tolist() == [[5, 4, 6, 5], [5, 6, 0, 0]]
    unknown, end = vocab.unk_id, vocab.eos_id
    assert batch.target_out.tolist() == [[6, 4, unknown, end], [6, 5, end, 0]]
    pooled = PooledBatches(pairs, vocab, vocab, batch_size=2, seed=0, copying=True)[0]
    assert sorted(map(sorted, pooled.source.tolist())) == [[0, 0, 5, 6], [4, 5, 5, 6]]
    with pytest.raises(ValueError, match="target_vocab: got Vocabulary of 4 tokens"):
        collate(pairs, vocab, Vocabulary([]), copying=True)
