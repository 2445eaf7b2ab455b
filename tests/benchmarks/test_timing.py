"""The arithmetic of timing, on numbers that were made up to be exact."""

import math
import time

import numpy as np
import pytest

from benchmarks.timing import Protocol, Spread, interleave, reading, speed, spread

pytestmark = pytest.mark.slow


def test_the_spread_is_numpys_quartiles() -> None:
    values = np.random.default_rng(3).lognormal(size=11).tolist()
    low, middle, high = np.percentile(values, [25, 50, 75])
    assert spread(values) == pytest.approx((middle, low, high))
    assert spread([2.5]) == Spread(2.5, 2.5, 2.5)


def test_speed_pairs_the_rounds() -> None:
    ours, peers = [1.0, 10.0, 1.0], [2.0, 20.0, 4.0]  # the second round was slow for both
    assert speed(ours, peers) == (2.0, 2.0, 3.0)
    assert speed(peers, ours).median == 0.5


def recorded(protocol: Protocol, cost: float, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return who was called, in order, where a call costs so many seconds of a clock of ours."""
    clock, order = [0.0], []

    def call(name: str) -> None:
        clock[0] += cost
        order.append(name)

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    results = interleave({"a": lambda: call("a"), "b": lambda: call("b")}, protocol)
    assert all(value == pytest.approx(cost) for values in results.values() for value in values)
    return "".join(order)


@pytest.mark.parametrize(
    ("protocol", "cost", "rounds"),
    [
        (Protocol(least=2, most=3, seconds=100.0, shortest=0.0), 1.0, 3),
        # No round begins after the time is up, once there were enough.
        (Protocol(least=2, most=9, seconds=7.0, shortest=0.0), 2.0, 2),
        (Protocol(least=2, most=9, seconds=9.0, shortest=0.0), 2.0, 3),
        # Long rounds are fewer.
        (Protocol(least=4, least_long=2, most=9, long=3.0, seconds=1.0, shortest=0.0), 1.0, 4),
        (Protocol(least=4, least_long=2, most=9, long=3.0, seconds=1.0, shortest=0.0), 2.0, 2),
    ],
)
def test_calls_alternate_after_a_warm_up(
    protocol: Protocol, cost: float, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recorded(protocol, cost, monkeypatch) == "aabb" + "ab" * rounds


def test_short_calls_are_repeated_within_a_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = Protocol(least=1, most=1, seconds=0.0, shortest=0.25)
    assert recorded(protocol, 0.125, monkeypatch) == "aabb" + "aabb"


def test_what_is_counted_is_cpu_time() -> None:
    protocol = Protocol(least=3, most=3, seconds=0.0, shortest=0.0)
    results = interleave(
        {"asleep": lambda: time.sleep(0.02), "awake": lambda: math.factorial(8000)}, protocol
    )
    assert spread(results["asleep"]).median < spread(results["awake"]).median


def test_a_reading_is_the_mean_over_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def call(cost: float) -> None:
        clock[0] += cost

    monkeypatch.setattr(time, "process_time", lambda: clock[0])
    assert reading(call, [(1.0,), (2.0,), (6.0,)]) == 3.0
