"""T5's buckets against the rule with its logarithm, one distance at a time."""

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.positions import relative_buckets
from tests.oracle import as_numpy

SETTINGS = [
    (32, 128, True),
    (32, 128, False),
    (32, 256, True),
    (64, 512, True),
    (16, 64, False),
    (8, 1024, False),
    (33, 128, True),  # the odd bucket stays empty
    (7, 11, False),
    (6, 11, True),
    (64, 33, False),  # more buckets than distances for them
    (4, 2, True),
    (2, 2, False),
]


def plain(relative: int, num_buckets: int, max_distance: int, bidirectional: bool) -> int:
    """Follow T5's own steps with numbers instead of arrays."""
    bucket = 0
    if bidirectional:
        num_buckets //= 2
        if relative > 0:
            bucket += num_buckets
        distance = abs(relative)
    else:
        distance = max(-relative, 0)
    exact = num_buckets // 2
    if distance < exact:
        return bucket + distance
    share = math.log(distance / exact) / math.log(max_distance / exact)
    large = exact + math.floor(round(share * (num_buckets - exact), 9))  # edges met, not missed
    return bucket + min(large, num_buckets - 1)


def plain_all(relative: Any, setting: tuple[int, int, bool]) -> Any:
    return np.vectorize(lambda distance: plain(int(distance), *setting))(relative)


def buckets(relative: Any, num_buckets: int, max_distance: int, bidirectional: bool) -> Any:
    return relative_buckets(
        relative, num_buckets=num_buckets, max_distance=max_distance, bidirectional=bidirectional
    )


def test_every_distance(libraries: list[Any]) -> None:
    for xp in libraries:
        for setting in SETTINGS:
            relative = np.arange(-2100, 2101)
            actual = buckets(xp.asarray(relative), *setting)
            assert actual.dtype == xp.int64
            np.testing.assert_array_equal(as_numpy(actual), plain_all(relative, setting))


def test_float32_logarithms_put_no_distance_elsewhere(torch: ModuleType) -> None:
    for count, distance in [(32, 128), (32, 256), (64, 1024)]:
        for bidirectional in [False, True]:
            # Published weights were trained with buckets from float32 logarithms.
            relative = torch.arange(3 * distance)
            side = count // 2 if bidirectional else count
            exact = side // 2
            share = torch.log(relative.float() / exact) / math.log(distance / exact)
            large = (exact + (share * (side - exact)).long()).clamp(max=side - 1)
            expected = torch.where(relative < exact, relative, large)
            assert torch.equal(buckets(-relative, count, distance, bidirectional), expected)


@pytest.mark.filterwarnings("error")
def test_integers_and_shapes_of_any_kind(torch: ModuleType) -> None:
    for dtype in ["int8", "uint8", "int16", "int32", "int64"]:
        relative = np.array([[0, 1, 7, 127]] if dtype == "uint8" else [[-128, -9, 9, 127]], dtype)
        actual = relative_buckets(relative)
        assert actual.dtype == np.int64
        np.testing.assert_array_equal(actual, plain_all(relative, SETTINGS[0]))
    turned = torch.arange(7) - torch.arange(5)[:, None]
    assert torch.equal(relative_buckets(turned.mT), relative_buckets(turned).mT)
    assert relative_buckets(np.array(-2)) == 2
    assert relative_buckets(np.arange(0)).shape == (0,)


def test_too_few_buckets_are_refused() -> None:
    with pytest.raises(ValueError, match="num_buckets: got 3, wanted at least 4"):
        relative_buckets(np.array([1]), num_buckets=3)
    with pytest.raises(ValueError, match="max_distance: got 8, wanted at least 9"):
        relative_buckets(np.array([1]), max_distance=8)
