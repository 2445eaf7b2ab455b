"""CPU seconds of calls that alternate, on a clock that the test moves."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from companion.cost import cpu_seconds


class Clock:
    """Seconds that pass by calls alone."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []

    def call(self, name: str, seconds: float) -> Callable[[], None]:
        def spend() -> None:
            self.order.append(name)
            self.now += seconds

        return spend


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "process_time", lambda: made.now)
    return made


def test_calls_alternate_and_a_short_one_is_repeated(clock: Clock) -> None:
    calls = {"a": clock.call("a", 0.25), "b": clock.call("b", 1.0)}
    result = cpu_seconds(calls, rounds=3, shortest=0.5)
    assert result == {"a": [0.25] * 3, "b": [1.0] * 3}
    assert "".join(clock.order) == "aabb" + "aab" * 3


def test_a_reading_is_the_mean_of_its_calls(clock: Clock) -> None:
    left = iter([1.0, 1.0, 2.0, 4.0])

    def spend() -> None:
        clock.now += next(left)

    assert cpu_seconds({"a": spend}, rounds=1, shortest=1.5) == {"a": [3.0]}
