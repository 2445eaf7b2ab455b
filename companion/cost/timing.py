"""CPU time of calls that take turns."""

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

    >>> found = cpu_seconds({"short": lambda: sum(range(10)), "long": lambda: sum(range(10**5))})
    >>> min(found["long"]) > min(found["short"]), len(found["long"])
    (True, 5)
    """
    found = list(islice(take_turns(calls, shortest), rounds))
    return {name: [seconds[name] for seconds in found] for name in calls}


def take_turns(calls: Mapping[str, Call], shortest: float) -> Iterator[dict[str, float]]:
    """Warm every call up; return rounds without end, each the CPU seconds of one reading a call.

    Args:
        calls: what is timed, by name.
        shortest: seconds that one reading lasts at least: a short call is repeated in it.

    >>> rounds = take_turns({"a": lambda: None, "b": lambda: None}, shortest=0.0)
    >>> sorted(next(rounds)), sorted(next(rounds))
    (['a', 'b'], ['a', 'b'])
    """
    repeats = {name: _repeats(call, shortest) for name, call in calls.items()}
    return ({name: _reading(call, repeats[name]) for name, call in calls.items()} for _ in count())


def _repeats(call: Call, shortest: float) -> int:
    call()
    return math.ceil(shortest / max(_reading(call, 1), 1e-9)) or 1


def _reading(call: Call, repeats: int) -> float:
    began = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - began) / repeats
