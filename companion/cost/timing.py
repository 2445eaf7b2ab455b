"""CPU time of calls that alternate, A B A B."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice

from companion.contracts import contract

Call = Callable[[], object]


@contract(rounds=">= 1", shortest=">= 0")
def cpu_seconds(
    calls: Mapping[str, Call], *, rounds: int = 5, shortest: float = 0.02
) -> dict[str, list[float]]:
    """Return the CPU seconds of every call, round by round: A B A B.

    What else the machine does then strikes all of them alike. CPU time counts all threads of the
    process. Two calls before the first round warm up, and tell how long one takes.

    Args:
        calls: what is timed, by name.
        rounds: readings of each.
        shortest: seconds that one reading lasts at least: a short call is repeated in it.

    >>> seconds = cpu_seconds({"short": lambda: sum(range(10)), "long": lambda: sum(range(10**5))})
    >>> min(seconds["long"]) > min(seconds["short"]), len(seconds["long"])
    (True, 5)
    """
    repeats = {name: repeats_of(one, shortest) for name, one in calls.items()}
    readings = list(islice(rounds_of(calls, repeats), rounds))
    return {name: [seconds[name] for seconds in readings] for name in calls}


def repeats_of(call: Call, shortest: float) -> int:
    """Warm a call up, and return how often it must be repeated to last so many seconds."""
    call()
    return math.ceil(shortest / max(_reading(call, 1), 1e-9)) or 1


def rounds_of(
    calls: Mapping[str, Call], repeats: Mapping[str, int]
) -> Iterator[dict[str, float]]:
    """Return rounds without end, each the CPU seconds of one reading of every call.

    Args:
        calls: what is timed, by name.
        repeats: calls that a reading is the mean of.

    >>> rounds = rounds_of({"a": lambda: None, "b": lambda: None}, {"a": 1, "b": 3})
    >>> sorted(next(rounds)), sorted(next(rounds))
    (['a', 'b'], ['a', 'b'])
    """
    return (
        {name: _reading(call, repeats[name]) for name, call in calls.items()}
        for _ in count()
    )


def _reading(call: Call, repeats: int) -> float:
    began = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - began) / repeats
