"""The cache against lists of tokens, one list a sequence."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from companion.cache import KVCache

B, G, D, V, MAX = 3, 2, 5, 7, 29
float64, whole = torch.float64, torch.int64


def make(window: int | None = None, max_len: int | None = MAX) -> KVCache:
    return KVCache(B, G, max_len, D, window=window, value_dim=V, dtype=float64)


def draw(count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1000 * seed + count)
    key = torch.randn(B, G, count, D, dtype=float64, generator=generator)
    return key, torch.randn(B, G, count, V, dtype=float64, generator=generator)


class Tokens:
    """The same as lists: nothing is forgotten, padding is never let in."""

    def __init__(self) -> None:
        self.sequences: list[list[tuple[Tensor, Tensor]]] = [[] for _ in range(B)]

    def update(self, key: Tensor, value: Tensor, lengths: list[int]) -> None:
        for b, length in enumerate(lengths):
            self.sequences[b] += [(key[b, :, i], value[b, :, i]) for i in range(length)]

    def reorder(self, indices: list[int]) -> None:
        self.sequences = [list(self.sequences[index]) for index in indices]


def check(cache: KVCache, tokens: Tokens, seen: tuple[Tensor, Tensor], before: list[int]) -> None:
    """Every key that a new query may need is there, under its place, and nothing else is."""
    key, value = seen
    positions = cache.key_positions.expand(B, -1).tolist()
    assert key.shape == (B, G, len(positions[0]), D)
    assert value.shape == (B, G, len(positions[0]), V)
    for b, sequence in enumerate(tokens.sequences):
        found = {place: i for i, place in enumerate(positions[b]) if 0 <= place < len(sequence)}
        oldest = 0 if cache.window is None else max(0, before[b] + 1 - cache.window)
        assert set(range(oldest, len(sequence))) <= found.keys()
        assert len([place for place in positions[b] if place in found]) == len(found)
        for place, i in found.items():
            assert torch.equal(key[b, :, i], sequence[place][0])
            assert torch.equal(value[b, :, i], sequence[place][1])


counts = st.sampled_from([0, 1, 2, 3, 5, 9])
rows = st.integers(0, B - 1)
courses = st.lists(
    st.tuples(
        counts,
        st.none() | st.lists(st.integers(0, 9), min_size=B, max_size=B),
        st.none() | st.lists(rows, min_size=B, max_size=B),
    ),
    max_size=12,
)


@settings(max_examples=50, deadline=None)
@given(window=st.sampled_from([None, 1, 4, 7, 31]), course=courses)
def test_any_course_of_updates_is_that_of_lists(window: int | None, course: Any) -> None:
    """Each step has a number of tokens, how many of them are real, and rows that go on."""
    cache, tokens = make(window), Tokens()
    for step, (count, lengths, indices) in enumerate(course):
        if cache.length + count > MAX:
            break
        key, value = draw(count, seed=step)
        real = [count] * B if lengths is None else [min(length, count) for length in lengths]
        told = None if lengths is None else torch.tensor(real, dtype=torch.int32)
        before = [len(sequence) for sequence in tokens.sequences]
        queries = cache.query_positions(count).expand(B, -1)
        assert torch.equal(queries, torch.tensor(before)[:, None] + torch.arange(count))
        seen = cache.update(key, value, lengths=told)
        tokens.update(key, value, real)
        check(cache, tokens, seen, before)
        after = [len(sequence) for sequence in tokens.sequences]
        assert cache.lengths.tolist() == after
        assert cache.length >= max(after)
        if indices is not None:
            cache.reorder(torch.tensor(indices))
            tokens.reorder(indices)
    cache.reset()
    assert (cache.length, cache.offset, cache.key_positions.tolist()) == (0, 0, [])


def test_equal_sequences_keep_a_number_for_an_offset() -> None:
    cache = make()
    cache.update(*draw(5))
    assert (cache.offset, cache.lengths.tolist()) == (5, [5, 5, 5])
    cache.update(*draw(2), lengths=torch.tensor([2, 0, 1]))
    assert isinstance(cache.offset, Tensor)
    assert cache.offset.tolist() == cache.lengths.tolist() == [7, 5, 6]
    assert cache.length == 7


def test_the_memory_is_allocated_once() -> None:
    for window in (None, 4):
        cache = make(window)
        places = {cache.update(*draw(1))[0].untyped_storage().data_ptr() for _ in range(MAX)}
        assert len(places) == 1
        shape = cache.update(*draw(0))[0].shape if window is None else (B, G, 4, D)
        assert shape == (B, G, window or MAX, D)


def test_a_ring_goes_on_for_ever_without_a_limit() -> None:
    cache, steps = make(window=3, max_len=None), [draw(1, seed=step) for step in range(100)]
    for key, value in steps:
        kept, _ = cache.update(key, value)
    places = cache.key_positions.tolist()
    assert sorted(places) == [97, 98, 99]
    assert torch.equal(kept, torch.cat([steps[place][0] for place in places], dim=2))


def test_what_is_not_yet_written_is_finite() -> None:
    cache = make()
    key, _ = cache.update(*draw(5), lengths=torch.tensor([1, 5, 2]))
    key, _ = cache.update(*draw(1))
    assert key.isfinite().all()
    cache.update(*(torch.full_like(x, torch.nan) for x in draw(3)))
    cache.reset()
    cache.update(*draw(5), lengths=torch.tensor([1, 5, 2]))
    assert cache.update(*draw(1))[0].isfinite().all()


@pytest.mark.parametrize("lengths", [None, [2, 0, 1]])
@pytest.mark.parametrize("window", [None, 3])
def test_gradients_reach_every_token_that_is_seen(
    window: int | None, lengths: list[int] | None
) -> None:
    counts = (2, 1, 3, 1)
    leaves = [x[:, :1, :, :1].clone().requires_grad_() for n in counts for x in draw(n)]

    def steps(*leaves: Tensor) -> tuple[Tensor, ...]:
        cache, seen = KVCache(B, 1, MAX, 1, window=window, dtype=float64), []
        for i in range(len(counts)):
            told = torch.tensor(lengths) if lengths and i == 0 else None
            # In memory that is written into, what was seen does not stay.
            seen += [x.clone() for x in cache.update(*leaves[2 * i : 2 * i + 2], lengths=told)]
            cache.reorder(torch.tensor([0, 2, 2]))
        return tuple(seen)

    with torch.no_grad():
        plain = steps(*leaves)
    torch.testing.assert_close(steps(*leaves), plain, rtol=0, atol=0)
    assert torch.autograd.gradcheck(steps, leaves)


def test_after_a_recorded_update_the_graph_is_left_alone() -> None:
    cache = make()
    leaves = [x.requires_grad_() for x in draw(2)]
    key, value = cache.update(*leaves)
    loss = key.square().sum() + value.square().sum()
    with torch.no_grad():
        cache.update(*draw(1))
    cache.reset()
    found = torch.autograd.grad(loss, leaves)
    for leaf, gradient in zip(leaves, found, strict=True):
        torch.testing.assert_close(gradient, 2 * leaf.detach())
    assert not cache.update(*draw(1))[0].requires_grad


def test_meta_tensors_have_shapes() -> None:
    for window in (None, 4):
        cache = KVCache(B, G, MAX, D, window=window, device="meta")
        ones = torch.ones(B, G, 3, D, device="meta")
        cache.update(ones, ones, lengths=torch.ones(B, dtype=whole, device="meta"))
        key, _ = cache.update(ones[:, :, :1], ones[:, :, :1])
        assert key.shape == (B, G, 4, D)
        assert cache.key_positions.device.type == "meta"


def test_a_cache_has_a_limit_or_a_window_and_real_numbers() -> None:
    with pytest.raises(ValueError, match=r"^max_len: got None without a window, wanted a whole"):
        KVCache(B, G, None, D)
    with pytest.raises(TypeError, match=r"^dtype: got torch.int64, wanted a real floating dtype"):
        KVCache(B, G, MAX, D, dtype=whole)


def test_a_refused_update_changes_nothing() -> None:
    for window in (None, 4):
        cache = make(window, max_len=5)
        before, _ = cache.update(*draw(4))
        before = before.clone()
        with pytest.raises(ValueError, match=r"^key: got 2 tokens after 4, wanted at most 5 in"):
            cache.update(*draw(2))
        assert (cache.length, cache.changes) == (4, 1)
        after, _ = cache.update(*draw(0))
        assert torch.equal(after, before)
