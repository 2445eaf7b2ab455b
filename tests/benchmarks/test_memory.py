"""The measure of memory, on allocations of known size."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.memory import MEGABYTE, extra_bytes

pytestmark = pytest.mark.slow

HERE = "tests.benchmarks.test_memory"


def allocate(megabytes: int) -> None:
    """Take memory, write to it so that it is really there, and give it back."""
    kept = bytearray(megabytes * MEGABYTE)
    kept[::4096] = b"x" * len(kept[::4096])


def allocations(megabytes: int, passing: int = 1) -> Any:
    """Return calls; what passes is taken and given back before the one that counts."""
    return partial(allocate, passing), partial(allocate, megabytes)


def failing() -> Any:
    return partial(allocate, 1), partial(int, "too large")


@pytest.mark.parametrize("megabytes", [32, 200])
def test_a_known_allocation_is_found(megabytes: int) -> None:
    # A large parent: a child must not begin with its peak.
    ballast = bytearray(400 * MEGABYTE)
    ballast[::4096] = b"x" * len(ballast[::4096])
    extra = extra_bytes(f"{HERE}:allocations", {"megabytes": megabytes}) / MEGABYTE
    assert extra == pytest.approx(megabytes, abs=1)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak stays")
def test_what_was_given_back_before_hides_nothing() -> None:
    setting = {"megabytes": 100, "passing": 80}
    assert extra_bytes(f"{HERE}:allocations", setting) / MEGABYTE == pytest.approx(100, abs=1)


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(MemoryError, match=r"ValueError: .*too large"):
        extra_bytes(f"{HERE}:failing", {})
