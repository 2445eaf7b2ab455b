"""Masks against the sentence that defines each, place by place, on every array library."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.masks import (
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from tests import oracle
from tests.oracle import assert_matches


@pytest.mark.parametrize(("q", "k", "offset"), [(1, 7, 2), (7, 5, -3), (63, 5, 9), (0, 3, 0)])
def test_causal(xp: Any, q: int, k: int, offset: int) -> None:
    actual = causal_mask(q, k, offset=offset, like=xp.ones(1))
    assert actual.dtype == xp.bool
    assert_matches(actual, oracle.mask(q, k, lambda i, j: j <= i + offset).reshape(q, k))


@pytest.mark.parametrize(("left", "right", "offset"), [(0, 0, 0), (2, 0, 9), (1, 2, -3)])
def test_sliding_window(xp: Any, left: int, right: int, offset: int) -> None:
    def near(i: int, j: int) -> bool:
        return -left <= j - (i + offset) <= right

    actual = sliding_window_mask(5, 7, left=left, right=right, offset=offset, like=xp.ones(1))
    assert actual.dtype == xp.bool
    assert_matches(actual, oracle.mask(5, 7, near))


def test_a_window_holds_its_own_place_and_its_neighbours() -> None:
    assert sliding_window_mask(9, left=2, right=1)[4, :].sum() == 2 + 1 + 1


@pytest.mark.parametrize("offset", [2, -3])
def test_prefix(xp: Any, offset: int) -> None:
    lengths = [0, 3, 7]
    actual = prefix_mask(xp.asarray(lengths), 5, 7, offset=offset)
    expected = [
        oracle.mask(5, 7, lambda i, j, n=n: j < n or j <= i + offset)  # type: ignore[misc]
        for n in lengths
    ]
    assert_matches(actual, np.stack(expected))


def test_padding(xp: Any) -> None:
    for dtype in ["int32", "int64", "uint8"]:
        lengths = xp.asarray([0, 1, 5, 7], dtype=getattr(xp, dtype))
        expected = np.stack([oracle.mask(1, 7, lambda i, j, n=n: j < n) for n in (0, 1, 5, 7)])  # type: ignore[misc]
        assert_matches(padding_mask(lengths, 7), expected)
        assert tuple(padding_mask(lengths[:, None], 7).shape) == (4, 1, 1, 7)


def test_documents(xp: Any) -> None:
    query_ids, key_ids = [[0, 0, 1], [2, 2, 2]], [[0, 1, 1, 1, 0], [2, 0, 2, 3, 2]]
    actual = document_mask(xp.asarray(query_ids), xp.asarray(key_ids))
    expected = [
        oracle.mask(3, 5, lambda i, j, q=q, k=k: q[i] == k[j])  # type: ignore[misc]
        for q, k in zip(query_ids, key_ids, strict=True)
    ]
    assert_matches(actual, np.stack(expected))
    alone = document_mask(xp.asarray(query_ids[0]))
    assert_matches(alone, oracle.mask(3, 3, lambda i, j: query_ids[0][i] == query_ids[0][j]))


MAKERS: dict[str, Callable[..., Any]] = {
    "causal": lambda offset, like: causal_mask(5, 7, offset=offset, like=like),
    "window": lambda offset, like: sliding_window_mask(5, 7, left=2, offset=offset, like=like),
}


def test_the_leading_axes_are_those_of_the_offset(xp: Any) -> None:
    for maker in MAKERS:
        for shape in [(), (3,), (3, 1), (3, 2)]:
            offsets = np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1
            for dtype in (xp.int64, xp.int32):
                offset = xp.asarray(offsets, dtype=dtype)
                for like in (None, xp.ones(1)):
                    actual = MAKERS[maker](offset, like)
                    assert tuple(actual.shape) == (*shape, 5, 7)
                    for place in np.ndindex(*shape):
                        expected = MAKERS[maker](int(offsets[place]), None)
                        assert_matches(actual[(*place, ...)], expected)


def test_prefix_offsets_a_sequence_each(xp: Any) -> None:
    actual = prefix_mask(xp.asarray([1, 4]), 3, 7, offset=xp.asarray([0, 2]))
    expected = [
        oracle.mask(3, 7, lambda i, j, n=n, o=o: j < n or j <= i + o)  # type: ignore[misc]
        for n, o in ((1, 0), (4, 2))
    ]
    assert_matches(actual, np.stack(expected))


def test_one_length_means_a_square() -> None:
    np.testing.assert_array_equal(causal_mask(5), causal_mask(5, 5))
    np.testing.assert_array_equal(sliding_window_mask(5, left=1), sliding_window_mask(5, 5, left=1))
    prefix = np.array(2)
    np.testing.assert_array_equal(prefix_mask(prefix, 5), prefix_mask(prefix, 5, 5))


def test_cached_steps_are_rows_of_one_mask() -> None:
    whole = sliding_window_mask(7, 7, left=3) | causal_mask(7)
    for step in range(7):
        row = sliding_window_mask(1, 7, left=3, offset=step) | causal_mask(1, 7, offset=step)
        np.testing.assert_array_equal(row, whole[step : step + 1])


def test_a_wide_window_is_causal() -> None:
    np.testing.assert_array_equal(sliding_window_mask(5, 7, left=99), causal_mask(5, 7))


def test_masks_live_where_like_does(torch: ModuleType) -> None:
    like = torch.ones(1, device="meta")
    assert causal_mask(5, like=like).device.type == "meta"
    assert sliding_window_mask(5, left=1, like=like).device.type == "meta"
    lengths = torch.ones(3, dtype=torch.int64, device="meta")
    assert padding_mask(lengths, 5).device.type == "meta"
    assert prefix_mask(lengths, 5).device.type == "meta"
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    assert causal_mask(5, like=strict.ones(1, device=device)).device == device


def test_without_like_a_mask_is_numpys() -> None:
    assert type(causal_mask(3)) is np.ndarray


floats, whole = np.ones(3), np.ones(3, dtype=np.int64)
