"""CPU time of calls that take turns, and what is made of it: medians and ratios."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import truediv
from statistics import median, quantiles
from typing import NamedTuple

from companion.cost.timing import Call, take_turns


@dataclass(frozen=True)
class Protocol:
    """How often a contest is run.

    Attributes:
        least: rounds, at least.
        most: rounds, at most.
        seconds: of CPU time after which no round begins, once there were enough.
        shortest: seconds that one reading lasts at least: a short call is repeated in it. The first
            of these finds the caches full of what another left there; not all of a reading should.
    """

    least: int = 5
    most: int = 25
    seconds: float = 20.0
    shortest: float = 0.1


QUICK = Protocol(least=2, most=2, seconds=0.0, shortest=0.0)
"""To see that everything runs; the times mean nothing."""


class Spread(NamedTuple):
    """A median between its quartiles."""

    median: float
    low: float
    high: float


def interleave(calls: Mapping[str, Call], protocol: Protocol) -> dict[str, list[float]]:
    """Return the CPU seconds of every call, round by round: A B A B.

    What else the machine does then strikes all of them alike. CPU time counts all threads of the
    process, so that nobody gains by taking a second one. A call before the first round warms up.
    """
    rounds = take_turns(calls, protocol.shortest)
    found: list[dict[str, float]] = []
    began = time.process_time()
    while len(found) < protocol.most:
        if len(found) >= protocol.least and time.process_time() - began > protocol.seconds:
            break
        found.append(next(rounds))
    return {name: [seconds[name] for seconds in found] for name in calls}


def spread(values: Sequence[float]) -> Spread:
    """Return the median and the quartiles of some numbers.

    >>> spread([1.0, 2.0, 3.0, 4.0, 9.0])
    Spread(median=3.0, low=2.0, high=4.0)
    """
    if len(values) < 2:
        return Spread(values[0], values[0], values[0])
    low, _, high = quantiles(values, n=4, method="inclusive")
    return Spread(median(values), low, high)


def speed(ours: Sequence[float], peers: Sequence[float]) -> Spread:
    """Return our speed as a multiple of the peer's, from seconds of the same rounds.

    Each round gives one ratio: a round that was slow for both does not count twice.

    >>> speed([1.0, 2.0, 4.0], [2.0, 4.0, 4.0]).median
    2.0
    """
    return spread(list(map(truediv, peers, ours)))
