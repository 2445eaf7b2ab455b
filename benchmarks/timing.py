"""CPU time of calls that alternate, and what is made of it: medians and ratios."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import truediv
from statistics import median, quantiles
from typing import Any, NamedTuple

from companion.cost.timing import Call, repeats_of, rounds_of


@dataclass(frozen=True)
class Protocol:
    """How often a contest is run: rounds, and seconds of CPU time."""

    least: int = 5
    least_long: int = 3  # at least, where a round takes longer than `long` and needs no median
    most: int = 25
    long: float = 10.0
    seconds: float = 10.0  # after which no round begins, when there were enough
    # A reading lasts this long at least, so a short call is repeated in it: the first finds the
    # caches full of what another left there, and not all of a reading should.
    shortest: float = 0.1


QUICK = Protocol(least=2, least_long=2, most=2, seconds=0.0, shortest=0.0)
"""To see that everything runs; the times mean nothing."""

WARM = 1.0
"""Seconds of a call that warms up by itself, and need not be repeated to be read."""


class Spread(NamedTuple):
    """A median between its quartiles."""

    median: float
    low: float
    high: float


def interleave(
    calls: Mapping[str, Call], protocol: Protocol, first: Mapping[str, float] | None = None
) -> dict[str, list[float]]:
    """Return the CPU seconds of every call, round by round: A B A B.

    What else the machine does then strikes all of them alike. CPU time counts all threads of the
    process, so that nobody gains by taking a second one. Two calls before the first round warm up;
    `first` has the seconds of one that was made before, which is enough where it was long.
    """
    first = first or {}
    repeats = {
        name: 1 if first.get(name, 0.0) > WARM else repeats_of(call, protocol.shortest)
        for name, call in calls.items()
    }
    rounds: list[dict[str, float]] = []
    began = time.process_time()
    for one_round in islice(rounds_of(calls, repeats), protocol.most):
        rounds.append(one_round)
        is_long = sum(one_round.values()) > protocol.long
        enough = protocol.least_long if is_long else protocol.least
        if len(rounds) >= enough and time.process_time() - began > protocol.seconds:
            break
    return {name: [seconds[name] for seconds in rounds] for name in calls}


def reading(function: Callable[..., object], arguments: Iterable[Sequence[Any]]) -> float:
    """Return the CPU seconds of a call: the mean over calls with these arguments, one by one."""
    arguments = list(arguments)
    began = time.process_time()
    for given in arguments:
        function(*given)
    return (time.process_time() - began) / len(arguments)


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
