"""Tables of positions, ALiBi's and sines, against their definitions, number by number."""

import itertools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.positions import (
    Dynamic,
    Linear,
    Llama3,
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

    frequencies = (10_000.0 ** (-np.arange(32) / 32)).astype(np.float32)
    narrow = np.sin((far + np.arange(5, dtype=np.float32))[:, None] * frequencies)
    assert np.abs(narrow - expected[:, 0::2]).max() > 1e-2  # what float32 angles would give


# Both of them, and the frequencies of rotary positions

MAKERS: dict[str, Callable[..., Any]] = {
    "bias": lambda **options: alibi_bias(3, 5, 7, **options),
    "slopes": lambda **options: alibi_slopes(3, **options),
    "encoding": lambda **options: sinusoidal_encoding(5, 7, **options),
    **{
        f"frequencies {scaling}": lambda scaling=scaling, **options: rotary_frequencies(
            8, scaling=scaling, **options
        )
        for scaling in (None, Linear(4.0), Dynamic(2.0, 64, 99), Yarn(4.0, 50), Llama3())
    },
}
PLAIN: dict[str, Callable[[int], Float]] = {
    "bias": lambda offset: plain_bias(3, 5, 7, offset),
    "encoding": lambda offset: plain(5, 7, offset=offset),
}


def test_the_leading_axes_are_those_of_the_offset(libraries: list[Any]) -> None:
    for xp, name, shape in itertools.product(libraries, PLAIN, [(), (3,), (3, 1), (3, 2)]):
        offsets = 11 * np.arange(np.prod(shape, dtype=int)).reshape(shape) - 1
        for dtype in (xp.int32, xp.int64):
            offset = xp.asarray(offsets, dtype=dtype)
            actual = MAKERS[name](offset=offset, like=xp.ones(1, dtype=xp.float64))
            assert tuple(actual.shape[: len(shape)]) == shape
            for position in np.ndindex(*shape):
                assert_matches(actual[(*position, ...)], PLAIN[name](int(offsets[position])))


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


def test_tables_live_where_like_or_the_offset_does(torch: ModuleType) -> None:
    strict = pytest.importorskip("array_api_strict")
    device, words = strict.Device("device1"), torch.arange(3)
    for name, make in MAKERS.items():
        assert type(make()) is np.ndarray, name
        assert make().dtype == np.float64, name
        assert make(like=torch.ones(1, device="meta")).device.type == "meta", name
        like = strict.ones(1, dtype=strict.float32, device=device)
        assert make(like=like).device == device, name
        if not name.startswith("freq"):
            assert make(like=words).dtype == torch.float32, name
        if name in PLAIN:
            assert make(offset=words).dtype == torch.float32, name
            assert make(offset=strict.asarray(2, device=device)).device == device, name
