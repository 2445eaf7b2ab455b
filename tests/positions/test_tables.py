"""Tables of positions, ALiBi's and sines, against their definitions, number by number."""

import itertools
import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.positions import (
    Yarn,
    alibi_bias,
    alibi_slopes,
    rotary_frequencies,
    sinusoidal_encoding,
)
from tests.oracle import Float, as_numpy, assert_matches

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


def test_far_positions_keep_the_digits_of_float32() -> None:
    far = 1_000_000
    actual = sinusoidal_encoding(5, 64, offset=far, like=np.ones(1, dtype=np.float32))
    assert actual.dtype == np.float32
    expected = plain(5, 64, offset=far)
    assert np.abs(actual - expected).max() <= 1e-7


def test_the_leading_axes_are_those_of_the_offset(libraries: list[Any]) -> None:
    for xp, shape in itertools.product(libraries, [(), (3,), (3, 1), (3, 2)]):
        offsets = 11 * np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1
        offset, like = xp.asarray(offsets), xp.ones(1, dtype=xp.float64)
        bias = alibi_bias(3, 5, 7, offset=offset, like=like)
        encoding = sinusoidal_encoding(5, 7, offset=offset, like=like)
        assert tuple(bias.shape[: len(shape)]) == tuple(encoding.shape[: len(shape)]) == shape
        for place in np.ndindex(*shape):
            assert_matches(bias[(*place, ...)], plain_bias(3, 5, 7, int(offsets[place])))
            assert_matches(encoding[(*place, ...)], plain(5, 7, offset=int(offsets[place])))


def test_tables_live_where_like_or_the_offset_does(torch: ModuleType) -> None:
    like, offset = torch.ones(1, device="meta"), torch.arange(3, device="meta")
    for made in (
        alibi_slopes(3, like=like), alibi_bias(3, 5, 7, like=like),
        sinusoidal_encoding(5, 7, like=like), alibi_bias(3, 5, 7, offset=offset),
        sinusoidal_encoding(5, 7, offset=offset),
        *(rotary_frequencies(8, scaling=scaling, like=like) for scaling in (None, Yarn(4.0, 50))),
    ):  # fmt: skip
        assert made.device.type == "meta"
        assert made.dtype == (torch.float64 if made.shape == (4,) else torch.float32)


def test_the_dtype_is_that_of_like_but_distances_have_at_least_float32(torch: ModuleType) -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        like = torch.ones(1, dtype=dtype)
        encoding = sinusoidal_encoding(63, 7, like=like)
        assert encoding.dtype == dtype
        expected = torch.asarray(plain(63, 7)).to(dtype)
        assert_matches(encoding.double(), as_numpy(expected.double()))
        bias = alibi_bias(8, 1, 2000, like=like)
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        assert bias.dtype == alibi_slopes(8, like=like).dtype == wide
        assert (bias.diff() < 0).all()  # bfloat16 would see steps beyond 256
