"""Entrants that compute the same from the same arrays: first held against the truth, then timed."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import available_bytes
from benchmarks.records import Goal, Reading, Row, medians, row_of
from benchmarks.timing import Protocol, interleave, speed
from companion.cost import fit_exponent
from companion.cost.timing import Call

Values = tuple[Any, ...]
"""Arrays or tensors."""

Result = Row | Reading

WORSE_AT_MOST = 2.0
"""Our error may be this multiple of the peer's."""

SAME_WITHIN = 0.02
"""A peer whose error is larger computes something else, such as a window of another width."""


def _all(values: Any) -> Values:
    return values if isinstance(values, tuple) else (values,)


class Entrant(NamedTuple):
    """A call, what it should return in float64, and which part of what it returns that covers."""

    call: Call
    truth: Values
    seen: Callable[[Any], Values] = _all


@dataclass
class Field:
    """Who takes part: ours first, then the peer whose error is the measure of ours, then others."""

    entrants: dict[str, Entrant]
    absent: dict[str, str] = field(default_factory=dict)  # why others do not take part
    allowed: float | None = None  # our error, where no peer computes in the same precision


@dataclass(frozen=True)
class Contest:
    """Something to compute: what, in words, and who makes the arrays and the field."""

    setting: str
    prepare: Callable[[], Field]
    goals: Mapping[str, Goal | None] = field(default_factory=dict)  # our speed, beside each peer
    length: int | None = None  # of the sequence
    tell_errors: bool = False  # say in the table how far each side is from the truth


def hold(contest: Contest, protocol: Protocol) -> Iterator[Result]:
    """Check everyone's values, time who is right, and compare ours with each peer.

    Raises:
        AssertionError: our values are too far from the truth.
    """
    held = contest.prepare()
    ours, *_ = held.entrants
    absent = dict(held.absent)
    errors, first = _checked(held, absent)
    _assert_right(contest.setting, held, errors)
    for name, off in errors.items():
        if not off <= SAME_WITHIN and name != ours:
            absent[name] = f"computes something else: error {off:.1e}"
    calls = {name: entrant.call for name, entrant in held.entrants.items() if name not in absent}
    seconds = interleave(calls, protocol, first)
    for name, values in seconds.items():
        yield Reading.of(contest.setting, name, values, contest.length, errors[name])
    for name in [*seconds, *absent]:
        line: dict[str, Any] = {"ours": ours, "peer": name, "goal": contest.goals.get(name)}
        if name in absent:
            yield Row(setting=contest.setting, note=absent[name], **line)
        elif name != ours:
            if contest.tell_errors:
                line["note"] = f"error {errors[ours]:.0e}, {name}'s {errors[name]:.0e}"
            yield row_of(speed(seconds[ours], seconds[name]), setting=contest.setting, **line)


def hold_all(
    contests: Iterable[Contest],
    protocol: Protocol,
    grown: Iterable[tuple[str, str, Goal | None]] = (),
) -> Iterator[Result]:
    """Hold one contest after the other, then fit the growth of entrants in settings."""
    results: list[Result] = []
    for contest in contests:
        for result in hold(contest, protocol):
            results.append(result)
            yield result
    for entrant, setting, goal in grown:
        yield from growth(results, entrant, setting, "s", goal)


def error(values: Values, truth: Values) -> float:
    """Return the root mean square of the error, as a part of that of the truth, at its worst.

    >>> error((np.array([3.0, 4.5]),), (np.array([3.0, 4.0]),)).__round__(6)
    0.1
    """
    pairs = zip(map(_as_array, values), map(_as_array, truth), strict=True)
    return max(_norm(value - wanted) / max(_norm(wanted), 1e-300) for value, wanted in pairs)


def lacking(needed: float) -> str:
    """Say that memory does not suffice; "" where it does, with a fifth to spare."""
    free = available_bytes()
    return "" if needed < 0.8 * free else f"needs {needed / 2**30:.1f} GB, {free / 2**30:.1f} free"


def growth(
    results: Iterable[Result], entrant: str, setting: str, unit: str, goal: Goal | None
) -> Iterator[Row]:
    """Fit how an entrant's readings grow with the length; nothing where there are under three."""
    readings = (result for result in results if isinstance(result, Reading))
    found = medians(readings, entrant, setting, unit)
    if len(found) >= 3:
        what = "time" if unit == "s" else "memory"
        yield Row(
            setting=f"{setting}: exponent of {what}, n = {min(found)} to {max(found)}",
            ours=entrant,
            unit="",
            value=fit_exponent(list(found), list(found.values())).exponent,
            goal=goal,
        )


def _checked(held: Field, absent: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
    """Call everyone, and return their errors and seconds; a peer that raises is absent."""
    ours, *_ = held.entrants
    errors: dict[str, float] = {}
    seconds: dict[str, float] = {}
    for name, entrant in held.entrants.items():
        began = time.process_time()
        try:
            values = entrant.call()
        except (MemoryError, RuntimeError) as problem:  # torch says with the latter what is too big
            if name == ours:
                raise
            absent[name] = f"fails: {str(problem).splitlines()[0][:80]}"
            continue
        seconds[name] = time.process_time() - began
        errors[name] = error(entrant.seen(values), entrant.truth)
    return errors, seconds


def _assert_right(setting: str, held: Field, errors: Mapping[str, float]) -> None:
    ours, *peers = errors
    allowed = held.allowed
    if allowed is None:  # a peer that is wrong is no measure
        allowed = min([SAME_WITHIN, *(WORSE_AT_MOST * errors[peer] for peer in peers[:1])])
    assert errors[ours] <= allowed, (
        f"{setting}: {ours} is off by {errors[ours]:.2e}, at most {allowed:.2e} is allowed"
    )


def _as_array(values: Any) -> NDArray[np.float64]:
    if hasattr(values, "detach"):
        values = values.detach().double().numpy()
    return np.asarray(values, dtype=np.float64)


def _norm(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
