"""ALiBi against its definition, head by head and position by position, on every array library."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.positions import alibi_bias, alibi_slopes
from tests.oracle import Float, assert_matches

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def plain_slopes(heads: int) -> list[float]:
    """Write the slopes down as the authors' code finds them, head by head."""
    below = 1
    while 2 * below <= heads:
        below *= 2
    ratio, above = 2 ** (-8 / below), 2 ** (-8 / (2 * below))
    slopes = [ratio**power for power in range(1, below + 1)]
    every_second = [above**power for power in range(1, 2 * below + 1)][::2]
    return slopes + every_second[: heads - below]


def plain_bias(heads: int, queries: int, keys: int, offset: int = 0) -> Float:
    slopes = plain_slopes(heads)
    result = np.zeros((heads, queries, keys))
    for h, i, j in np.ndindex(heads, queries, keys):
        result[h, i, j] = -slopes[h] * abs(i + offset - j)
    return result


def test_slopes() -> None:
    for heads in [1, 2, 3, 5, 6, 7, 8, 12, 16, 31, 32, 40, 63, 64]:
        actual = alibi_slopes(heads, like=np.ones(1))
        assert actual.dtype == np.float64
        assert_matches(actual, plain_slopes(heads))


def test_bias() -> None:
    for q, k in [(1, 1), (1, 7), (5, 7), (7, 5), (7, 7), (5, 63), (0, 3), (3, 0)]:
        for offset in [0, 2, 9, -3]:
            actual = alibi_bias(3, q, k, offset=offset, like=np.ones(1))
            assert actual.dtype == np.float64
            assert_matches(actual, plain_bias(3, q, k, offset))
    assert_matches(alibi_bias(3, 5), plain_bias(3, 5, 5))


def test_the_leading_axes_are_those_of_the_offset(libraries: list[Any]) -> None:
    for xp in libraries:
        for shape in [(), (2,), (2, 1), (2, 5)]:
            offsets = 3 * np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1
            for dtype in (xp.int32, xp.int64):
                offset = xp.asarray(offsets, dtype=dtype)
                actual = alibi_bias(3, 5, 7, offset=offset, like=xp.ones(1, dtype=xp.float64))
                assert tuple(actual.shape) == (*shape, 3, 5, 7)
                for position in np.ndindex(*shape):
                    expected = plain_bias(3, 5, 7, int(offsets[position]))
                    assert_matches(actual[(*position, ...)], expected)


def test_the_dtype_is_that_of_like_but_at_least_float32(torch: ModuleType) -> None:
    for dtype in ["float16", "bfloat16", "float32", "float64"]:
        like = torch.ones(1, dtype=getattr(torch, dtype))
        wanted = torch.float64 if dtype == "float64" else torch.float32
        bias = alibi_bias(8, 1, 2000, like=like)
        assert bias.dtype == alibi_slopes(8, like=like).dtype == wanted
        assert (bias.diff() < 0).all()  # bfloat16 would see steps beyond 256


def test_the_dtype_without_a_floating_like(torch: ModuleType) -> None:
    assert alibi_bias(3, 5).dtype == alibi_slopes(3).dtype == np.float64
    assert type(alibi_bias(3, 5)) is type(alibi_slopes(3)) is np.ndarray
    assert alibi_bias(3, 5, offset=torch.arange(2)).dtype == torch.float32
    assert alibi_slopes(3, like=torch.arange(2)).dtype == torch.float32


def test_biases_live_where_like_does(torch: ModuleType) -> None:
    like = torch.ones(1, device="meta")
    assert alibi_bias(3, 5, like=like).device.type == "meta"
    assert alibi_slopes(3, like=like).device.type == "meta"
    strict = pytest.importorskip("array_api_strict")
    device = strict.Device("device1")
    assert alibi_bias(3, 5, like=strict.ones(1, device=device)).device == device
    assert alibi_bias(3, 5, offset=strict.asarray(2, device=device)).device == device
