"""Check functions of "From 2013 to today".

Each compares your answer with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import numpy as np

from bookkit.exercises.answers import (
    Answer,
    Expected,
    Numbers,
    as_number,
    called,
    check,
    compare,
    fail,
    hint_at,
    named,
    refuse,
)
from companion.linear import recurrent_linear_attention

STATE, CACHE = 16 * 128 * 128, 2 * 8 * 128  # numbers of a layer: whatever the length, and a word


def check_growth(growth: float) -> None:
    """Check by what factor the memory of a hybrid model grows when the text doubles.

    Args:
        growth: what three layers with a state of 16 heads, 128 by 128 numbers each, and one layer
            with a cache of eight heads, 128 numbers wide, store together after 200,000 words,
            over what they store after 100,000.
    """
    before, after = (3 * STATE + CACHE * words for words in (100_000, 200_000))
    compare(
        as_number(growth),
        after / before,
        {
            "that is what the number of layers suggests, but the layers do not store alike: how "
            "many numbers are in one state, and how many in the cache?": 1.25,
            "the states keep their size, but the cache of the fourth layer does not": 1.0,
            "only the cache grows with the text: the states have the same size before and after": (
                4.0,
                8.0,
            ),
            "that is the smaller number over the larger one": before / after,
        },
        otherwise="count both: three states, and keys and values of one layer for every word",
        rtol=0.01,
    )
    print("Right.")


def check_states(summed: float, decayed: float, corrected: float) -> None:
    """Check what three memories return after the values 4, 2 and 1 came under the same key.

    Args:
        summed: from a state that adds.
        decayed: from one that is halved before it adds.
        corrected: from one that writes half of the difference to what it holds.
    """
    answers = [
        (
            summed,
            7.0,
            {
                "that is the mean, which a softmax would return": 7 / 3,
                "that is the last value: nothing removes the others": 1.0,
            },
        ),
        (
            decayed,
            3.0,
            {
                "the state is halved before it adds, so the last value is whole": 1.5,
                "the state is halved at every step, so the first value is halved twice": 5.0,
                "that is the sum: nothing was halved": 7.0,
            },
        ),
        (
            corrected,
            1.5,
            {
                "the first write is a correction, too: from 0 half of the way to 4": 2.0,
                "half of the difference is written, so the old value does not vanish": 1.0,
                "write half of the difference to what the state holds, not half of the value": 3.5,
            },
        ),
    ]
    names = ("the state that adds", "the state that is halved", "the state that is corrected")
    for name, (got, wanted, mistakes) in zip(names, answers, strict=True):
        compare(got, wanted, mistakes, where=f"{name}: ", otherwise="go through the three steps")
    print("Right.")


def check_delta_step(delta_step: Answer) -> None:
    """Check one step of the delta rule.

    Args:
        delta_step: `delta_step(state, key, value, beta)`, from a state (d, v), a key (d,), a value
            (v,) and a number to the state after the step, (d, v).
    """
    rng = np.random.default_rng(0)
    cases = [(rng.normal(size=(3, 5)), rng.normal(size=3), rng.normal(size=5), beta)
             for beta in (1.0, 0.5)]  # fmt: skip
    check(
        delta_step,
        cases,
        _delta_step,
        why="The state has a row for each number of the key: np.outer(key, ...) has its shape.",
        axes="(d, v)",
    )


def _delta_step(state: Numbers, key: Numbers, value: Numbers, beta: float) -> Expected:
    one = np.array([beta])
    right = recurrent_linear_attention(key[None], key[None], value[None], beta=one, state=state)[1]
    error = value - key @ state
    return right, {
        "that adds the value: read first what the state returns for the key, and write only the "
        "difference": state + beta * np.outer(key, value),
        "the sign: the state moves towards the value, not away from it": (
            state - beta * np.outer(key, error)
        ),
        "beta is missing: it says how much of the difference is written": (
            state + np.outer(key, error)
        ),
        "that forgets under every key: the delta rule replaces only what stands under this one": (
            (1 - beta) * state + beta * np.outer(key, value)
        ),
        "that is what is written: add it to the state": beta * np.outer(key, error),
    }


def check_kept(kept: Answer) -> None:
    """Check which positions stay in a cache of recent words and sinks.

    Args:
        kept: `kept(length, window, sinks)`, from the number of words that were read to the
            positions, counted from 0 and in ascending order, that the cache keeps: those of the
            first `sinks` words and of the last `window` words.
    """
    for length, window, sinks in [(20, 5, 3), (7, 4, 2), (6, 4, 2), (3, 4, 2), (10, 4, 0)]:
        got = called(kept, length, window, sinks, why="It is given three whole numbers.")
        if not isinstance(got, list | tuple | range | np.ndarray):
            refuse(got, "a list of positions")
        found = [int(position) for position in got]
        right = [i for i in range(length) if i < sinks or i >= length - window]
        recent, first = list(range(max(length - window, 0), length)), list(range(sinks))
        if found == right:
            continue
        asked = f"kept({length}, {window}, {sinks})"
        hint_at(
            found,
            {
                f"{asked}: the first words are gone, which is the colleague's cache": recent,
                f"{asked}: only the first words are left": first,
                f"{asked}: the sinks come on top of the window, they do not take its room": sorted(
                    {*first, *recent[sinks:]}
                ),
                f"{asked}: list[-0:] is the whole list": list(range(length)),
            },
        )
        if len(set(found)) < len(found) and sorted(set(found)) == right:
            fail(f"{asked}: a position is there twice: some first words are recent ones as well")
        if sorted(found) == right:
            fail(f"{asked}: the positions are right, but not in ascending order")
        fail(f"{asked}: got {named(got)} {found}, wanted the first {sinks} and the last {window}")
    print("Right.")
