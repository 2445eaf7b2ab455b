"""Sinusoidal encodings against sines and cosines taken one by one, on every array library."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.positions import sinusoidal_encoding
from tests.oracle import Float, as_numpy, assert_matches

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def plain(length: int, width: int, base: float = 10_000.0, offset: int = 0) -> Float:
    """Encode one number at a time, as the paper's two equations say it."""
    result = np.zeros((length, width))
    for position, feature in np.ndindex(length, width):
        even = feature - feature % 2
        angle = (position + offset) / base ** (even / width)
        result[position, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    return result


def test_the_papers_equations() -> None:
    for length, width in [(0, 2), (1, 1), (5, 3), (5, 7), (63, 64)]:
        for base, offset in [(10_000.0, 0), (2, 11), (500_000.0, -4)]:
            actual = sinusoidal_encoding(length, width, base=base, offset=offset, like=np.ones(1))
            assert actual.dtype == np.float64
            assert_matches(actual, plain(length, width, base, offset))


def test_the_leading_axes_are_those_of_the_offset(libraries: list[Any]) -> None:
    for xp in libraries:
        for shape in [(), (3,), (3, 1), (3, 2)]:
            offsets = 11 * np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1
            for dtype in (xp.int32, xp.int64):
                offset = xp.asarray(offsets, dtype=dtype)
                actual = sinusoidal_encoding(5, 7, offset=offset, like=xp.ones(1, dtype=xp.float64))
                assert tuple(actual.shape) == (*shape, 5, 7)
                for position in np.ndindex(*shape):
                    assert_matches(
                        actual[(*position, ...)], plain(5, 7, offset=int(offsets[position]))
                    )


def test_far_positions_keep_the_digits_of_float32() -> None:
    far = 1_000_000
    actual = sinusoidal_encoding(5, 64, offset=far, like=np.ones(1, dtype=np.float32))
    assert actual.dtype == np.float32
    expected = plain(5, 64, offset=far)
    assert np.abs(actual - expected).max() <= 1e-7

    frequencies = (10_000.0 ** (-np.arange(32) / 32)).astype(np.float32)
    narrow = np.sin((far + np.arange(5, dtype=np.float32))[:, None] * frequencies)
    assert np.abs(narrow - expected[:, 0::2]).max() > 1e-2  # what float32 angles would give


def test_the_dtype_is_that_of_like(torch: ModuleType) -> None:
    for dtype in ["float16", "bfloat16", "float32", "float64"]:
        like = torch.ones(1, dtype=getattr(torch, dtype))
        actual = sinusoidal_encoding(63, 7, like=like)
        assert actual.dtype == like.dtype
        expected = torch.asarray(plain(63, 7)).to(like.dtype)
        assert_matches(actual.double(), as_numpy(expected.double()))


def test_the_dtype_without_a_floating_like(torch: ModuleType) -> None:
    assert sinusoidal_encoding(5, 2).dtype == np.float64
    assert type(sinusoidal_encoding(5, 2)) is np.ndarray
    words = torch.arange(3)
    assert sinusoidal_encoding(5, 2, like=words).dtype == torch.float32
    assert sinusoidal_encoding(5, 2, offset=words).dtype == torch.float32


def test_encodings_live_where_like_does(torch: ModuleType) -> None:
    assert sinusoidal_encoding(5, 2, like=torch.ones(1, device="meta")).device.type == "meta"
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    assert sinusoidal_encoding(5, 2, like=strict.ones(1, device=device)).device == device
    offset = strict.asarray([1, 2], device=device)
    assert sinusoidal_encoding(5, 2, offset=offset).device == device
