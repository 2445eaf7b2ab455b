"""Masks against the sentence that defines each, place by place, on every array library."""

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion import masks
from tests.oracle import assert_matches


def places(q: int, k: int) -> tuple[Any, Any]:
    """Return the places of queries, as a column, and those of keys."""
    return np.arange(q)[:, None], np.arange(k)


def test_causal(libraries: list[Any]) -> None:
    for xp in libraries:
        for q, k, offset in [(1, 7, 2), (7, 5, -3), (63, 5, 9), (0, 3, 0)]:
            i, j = places(q, k)
            actual = masks.causal_mask(q, k, offset=offset, like=xp.ones(1))
            assert actual.dtype == xp.bool
            assert_matches(actual, j <= i + offset)


def test_sliding_window(libraries: list[Any]) -> None:
    for xp in libraries:
        i, j = places(5, 7)
        for left, right, offset in [(0, 0, 0), (2, 0, 9), (1, 2, -3)]:
            actual = masks.sliding_window_mask(
                5, 7, left=left, right=right, offset=offset, like=xp.ones(1)
            )
            assert actual.dtype == xp.bool
            assert_matches(actual, (-left <= j - (i + offset)) & (j - (i + offset) <= right))


def test_prefix(libraries: list[Any]) -> None:
    for xp in libraries:
        i, j = places(5, 7)
        rows: list[tuple[Any, Any]] = [([0, 3, 7], 2), ([0, 3, 7], -3), ([1, 4], np.array([0, 2]))]
        for lengths, offset in rows:
            given = offset if isinstance(offset, int) else xp.asarray(offset)
            actual = masks.prefix_mask(xp.asarray(lengths), 5, 7, offset=given)
            n, o = np.reshape(lengths, (-1, 1, 1)), np.reshape(offset, (-1, 1, 1))
            assert_matches(actual, (j < n) | (j <= i + o))


def test_padding(libraries: list[Any]) -> None:
    for xp in libraries:
        for dtype in ["int32", "int64", "uint8"]:
            lengths = xp.asarray([0, 1, 5, 7], dtype=getattr(xp, dtype))
            expected = np.arange(7) < np.reshape([0, 1, 5, 7], (4, 1, 1))
            assert_matches(masks.padding_mask(lengths, 7), expected)
            assert tuple(masks.padding_mask(lengths[:, None], 7).shape) == (4, 1, 1, 7)


def test_documents(libraries: list[Any]) -> None:
    for xp in libraries:
        query_ids, key_ids = np.array([[0, 0, 1], [2, 2, 2]]), np.array([[0, 1, 1], [2, 0, 2]])
        actual = masks.document_mask(xp.asarray(query_ids), xp.asarray(key_ids[:, :2]))
        assert_matches(actual, query_ids[..., None] == key_ids[:, None, :2])
        alone = masks.document_mask(xp.asarray(query_ids))
        assert_matches(alone, query_ids[..., None] == query_ids[:, None])


def test_the_leading_axes_are_those_of_the_offset(libraries: list[Any]) -> None:
    for xp in libraries:
        for maker in (masks.causal_mask, partial(masks.sliding_window_mask, left=2)):
            for shape in [(), (3,), (3, 1), (3, 2)]:
                offsets = np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1
                for dtype, like in ((xp.int64, None), (xp.int32, xp.ones(1))):
                    actual = maker(5, 7, offset=xp.asarray(offsets, dtype=dtype), like=like)
                    assert tuple(actual.shape) == (*shape, 5, 7)
                    for place in np.ndindex(*shape):
                        expected = maker(5, 7, offset=int(offsets[place]))
                        assert_matches(actual[(*place, ...)], expected)


def test_one_length_means_a_square_and_without_offset_all_begins_together() -> None:
    i, j = places(5, 5)
    near, prefix = (i - 2 <= j) & (j <= i + 1), np.array(2)
    for shape in ((5,), (5, 5)):
        np.testing.assert_array_equal(masks.causal_mask(*shape), j <= i)
        np.testing.assert_array_equal(masks.sliding_window_mask(*shape, left=2, right=1), near)
        np.testing.assert_array_equal(masks.sliding_window_mask(*shape, left=9), j <= i)
        np.testing.assert_array_equal(masks.prefix_mask(prefix, *shape), (j < 2) | (j <= i))


def test_masks_live_where_like_does(torch: ModuleType) -> None:
    like = torch.ones(1, device="meta")
    assert masks.causal_mask(5, like=like).device.type == "meta"
    assert masks.sliding_window_mask(5, left=1, like=like).device.type == "meta"
    lengths = torch.ones(3, dtype=torch.int64, device="meta")
    assert masks.padding_mask(lengths, 5).device.type == "meta"
    assert masks.prefix_mask(lengths, 5).device.type == "meta"
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    assert masks.causal_mask(5, like=strict.ones(1, device=device)).device == device
