"""The exercises of "From 2013 to today"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Mistakes, Sign, as_number, refuse
from bookkit.exercises.exercise import Function, Several, Value

STATE, CACHE = 16 * 128 * 128, 2 * 8 * 128  # numbers of a layer: whatever the length, and a word
BEFORE, AFTER = (3 * STATE + CACHE * words for words in (100_000, 200_000))

check_growth = Value(
    "By what factor the memory of a hybrid model grows when the text doubles: what three layers "
    "with a state of 16 heads, 128 by 128 numbers each, and one layer with a cache of eight heads, "
    "128 numbers wide, store together after 200,000 words, over what they store after 100,000.",
    right=AFTER / BEFORE, mistakes={
        "that is what the number of layers suggests, but the layers do not store alike: how many "
        "numbers are in one state, and how many in the cache?": 1.25,
        "the states keep their size, but the cache of the fourth layer does not": 1.0,
        "only the cache grows with the text: the states have the same size before and after":
            (4.0, 8.0),
        "that is the smaller number over the larger one": BEFORE / AFTER,
    }, read=as_number,
    otherwise="count both: three states, and keys and values of one layer for every word",
    rtol=0.01,
)  # fmt: skip


def _memory(right: float, mistakes: Mistakes) -> Value:
    return Value(right=right, mistakes=mistakes, otherwise="go through the three steps")


check_states = Several(
    "What three memories return after the values 4, 2 and 1 came under the same key: one that "
    "adds, one that is halved before it adds, and one that writes half of the difference to what "
    "it holds.",
    **{
        "the state that adds": _memory(7.0, {
            "that is the mean, which a softmax would return": 7 / 3,
            "that is the last value: nothing removes the others": 1.0,
        }),
        "the state that is halved": _memory(3.0, {
            "the state is halved before it adds, so the last value is whole": 1.5,
            "the state is halved at every step, so the first value is halved twice": 5.0,
            "that is the sum: nothing was halved": 7.0,
        }),
        "the state that is corrected": _memory(1.5, {
            "the first write is a correction, too: from 0 half of the way to 4": 2.0,
            "half of the difference is written, so the old value does not vanish": 1.0,
            "write half of the difference to what the state holds, not half of the value": 3.5,
        }),
    },
)  # fmt: skip

DICE = np.random.default_rng(0)

check_delta_step = Function(
    "`delta_step(state, key, value, beta)`, one step of the delta rule, from a state (d, v), a key "
    "(d,), a value (v,) and a number to the state after the step, (d, v).",
    right=lambda s, k, v, beta: s + beta * np.outer(k, v - k @ s), cases=[
        (DICE.normal(size=(3, 5)), DICE.normal(size=3), DICE.normal(size=5), beta)
        for beta in (1.0, 0.5)
    ], mistakes={
        "that adds the value: read first what the state returns for the key, and write only the "
        "difference": lambda s, k, v, beta: s + beta * np.outer(k, v),
        "the sign: the state moves towards the value, not away from it":
            lambda s, k, v, beta: s - beta * np.outer(k, v - k @ s),
        "beta is missing: it says how much of the difference is written":
            lambda s, k, v, beta: s + np.outer(k, v - k @ s),
        "that forgets under every key: the delta rule replaces only what is under this one":
            lambda s, k, v, beta: (1 - beta) * s + beta * np.outer(k, v),
        "that is what is written: add it to the state":
            lambda s, k, v, beta: beta * np.outer(k, v - k @ s),
    }, why="The state has a row for each number of the key: np.outer(key, ...) has its shape.",
    axes="(d, v)",
)  # fmt: skip


def _kept(length: int, window: int, sinks: int) -> list[int]:
    return [i for i in range(length) if i < sinks or i >= length - window]


def _recent(length: int, window: int, sinks: int = 0) -> list[int]:
    return list(range(max(length - window, 0), length))


def _positions(got: Any, *_: int) -> list[int]:
    if not isinstance(got, list | tuple | range | np.ndarray):
        refuse(got, "a list of positions")
    return [int(position) for position in got]


check_kept = Function(
    "`kept(length, window, sinks)`, the positions, counted from 0 and in ascending order, that a "
    "cache of recent words and sinks keeps after `length` words were read: those of the first "
    "`sinks` words and of the last `window` words.",
    right=_kept, cases=[(20, 5, 3), (7, 4, 2), (6, 4, 2), (3, 4, 2), (10, 4, 0)], mistakes={
        "the first words are gone, which is the colleague's cache": _recent,
        "only the first words are left": lambda n, w, s: list(range(s)),
        "the sinks are kept beside the window and take none of its places":
            lambda n, w, s: sorted({*range(s), *_recent(n, w)[s:]}),
        "list[-0:] is the whole list": lambda n, w, s: _kept(n, w, s) if s else list(range(n)),
        "a position is in the list twice: some first words are recent ones as well": Sign(
            lambda found, *case: len({*found}) < len(found) and sorted({*found}) == _kept(*case),
            lambda n, w, s: [*range(min(s, n)), *_recent(n, w)],
        ),
        "the positions are right, but not in ascending order": Sign(
            lambda found, *case: sorted(found) == _kept(*case), lambda *case: _kept(*case)[::-1]
        ),
    }, examples={"got a list [0], wanted the first 3 and the last 5": lambda *case: [0]},
    read=_positions, where="kept({}, {}, {}): ", why="It is given three whole numbers.",
    otherwise="got a list {got}, wanted the first {2} and the last {1}",
)  # fmt: skip
