"""Check functions of "Exact and cheaper".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.linear import recurrent_linear_attention
from companion.pages.exercises.answers import called, compare, fail, named

Numbers = NDArray[np.float64]
_compare = partial(compare, rtol=1e-9, atol=1e-9)


def check_absorb(absorb: Callable[..., Any]) -> None:
    """Check one step of tiled attention: what is known of some keys, and the scores of others.

    Args:
        absorb: `absorb(highest, total, blend, scores, values)`, from a maximum (q,), a sum (q,)
            and an unfinished output (q, v), scores (q, k) and values (k, v) of a new tile, to the
            first three for all keys so far. At the start the maximum is -inf, the rest 0.

    Raises:
        AssertionError: one of the three is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(5)
    q, k, v = 4, 3, 2
    old, scores = rng.normal(size=(q, 5)), rng.normal(size=(q, k))
    scores[0] += 4  # a row whose maximum rises, and one whose stays
    scores[1] -= 4
    first, values = rng.normal(size=(5, v)), rng.normal(size=(k, v))
    highest = old.max(1)
    powers = np.exp(old - highest[:, None])
    _check_absorbed(absorb, (highest, powers.sum(1), powers @ first), scores, values)
    nothing = np.full(q, -np.inf), np.zeros(q), np.zeros((q, v))
    _check_absorbed(absorb, nothing, scores, values, "at the first tile, ")
    print("Right.")


def _check_absorbed(
    absorb: Callable[..., Any],
    known: tuple[Numbers, Numbers, Numbers],
    scores: Numbers,
    values: Numbers,
    when: str = "",
) -> None:
    highest, total, blend = known
    top = scores.max(1)
    risen = np.maximum(highest, top)
    new, shrink = np.exp(scores - risen[:, None]), np.exp(highest - risen)
    sums, blends = new.sum(1), new @ values
    faint = shrink[:, None]
    right = risen, total * shrink + sums, blend * faint + blends
    with np.errstate(all="ignore"):
        got = called(absorb, *(part.copy() for part in known), scores.copy(), values.copy())
    if not isinstance(got, tuple | list) or len(got) != 3:
        fail(f"got {named(got)}, wanted three: maximum, sum and unfinished output")
    alone = np.exp(scores - top[:, None])
    mistakes: tuple[Mapping[str, Numbers], ...] = (
        {"the maximum is that of the new tile alone": top, "the maximum never rises": highest},
        {
            "the old sum shrinks when the maximum rises": total + sums,
            "the old sum is lost": sums,
            "the new tile needs the maximum of all keys so far, not its own": total * shrink
            + alone.sum(1),
        },
        {
            "the old output shrinks with its sum": blend + blends,
            "the old output is lost": blends,
            "the output is divided once, at the end": right[2] / right[1][:, None],
            "the new tile needs the maximum of all keys so far, not its own": blend * faint
            + alone @ values,
        },
    )
    for name, mine, wanted, wrong in zip(
        ("maximum", "sum", "output"), got, right, mistakes, strict=True
    ):
        _compare(mine, wanted, wrong, where=f"{when}{name}: ")


def check_heads(heads_that_fit: Callable[..., Any]) -> None:
    """Check the most key and value heads whose cache fits.

    Args:
        heads_that_fit: `heads_that_fit(bytes_free, layers, tokens, num_heads, head_dim,
            number_bytes)`, to the largest divisor of `num_heads` whose cache is not larger than
            `bytes_free`; 0 if none fits.

    Raises:
        AssertionError: the number is wrong; the message hints at the cause.
    """
    for free, *sizes in (
        (2 * 4 * 9 * 4 * 3 * 2, 4, 9, 32, 3, 2),
        (2 * 3 * 10 * 4 * 5 * 2, 3, 10, 8, 5, 2),
        (2 * 3 * 10 * 5 * 5 * 2, 3, 10, 12, 5, 2),
        (2 * 2 * 7 * 6 * 4 * 4 - 1, 2, 7, 6, 4, 4),
        (2 * 4 * 9 * 16 * 3 * 2 * 9, 4, 9, 16, 3, 2),
        (2 * 4 * 9 * 3 * 2 - 1, 4, 9, 16, 3, 2),
    ):
        layers, tokens, heads, width, size = sizes
        divisors = [g for g in range(1, heads + 1) if heads % g == 0]

        def fitting(one: int, among: list[int], free: int = free) -> int:
            return max((g for g in among if g * one <= free), default=0)

        one = 2 * layers * tokens * width * size
        right = fitting(one, divisors)
        got = called(heads_that_fit, free, *sizes)
        if got == right:
            continue
        mistakes = {
            "the number of heads must divide that of the query heads": fitting(
                one, list(range(1, heads + 1))
            ),
            "a cache that is exactly as large as what is free fits": fitting(one + 1, divisors),
            "keys and values are both kept": fitting(one // 2, divisors),
            "every layer has a cache": fitting(one // layers, divisors),
            "the least number was asked for, not the largest": min(
                (g for g in divisors if g * one <= free), default=0
            ),
        }
        for hint, wrong in mistakes.items():
            if got == wrong:
                fail(hint)
        fail(f"heads_that_fit({free}, {', '.join(map(str, sizes))}): got {named(got)}")
    print("Right.")


def check_visible(visible: Callable[..., Any]) -> None:
    """Check which keys a cache of the first and the last words still holds.

    Args:
        visible: `visible(n, recent, kept)`, to a boolean array (n, n), True where query i may
            attend to key j: the last `recent` keys, the own place among them, and the first
            `kept`; never a later key.

    Raises:
        AssertionError: a cell is wrong; the message hints at the cause.
    """
    for n, recent, kept in ((9, 3, 2), (7, 1, 3), (6, 4, 0), (4, 9, 1)):
        i, j = np.arange(n)[:, None], np.arange(n)
        near, first, past = i - j < recent, j < kept, j <= i
        right = (near | first) & past
        got = called(visible, n, recent, kept)
        mistakes = {
            "a query sees keys that come after it": near | first,
            "the first keys come before the first queries, too: no query sees a later key": (
                near & past
            )
            | first,
            "the own place is one of the recent ones": ((i - j <= recent) | first) & past,
            "the first keys are gone": near & past,
            "the recent ones and the first, not what is both": near & first & past,
            "rows are queries and columns keys": right.T,
            "the first keys are those below `kept`": (near | (j <= kept)) & past,
        }
        where = f"visible({n}, {recent}, {kept}): "
        _compare(got, _number(right), _numbers(mistakes), where=where)
    print("Right.")


def _number(cells: NDArray[np.bool_]) -> Numbers:
    return cells.astype(np.float64)


def _numbers(mistakes: Mapping[str, NDArray[np.bool_]]) -> dict[str, Numbers]:
    return {hint: _number(wrong) for hint, wrong in mistakes.items()}


def check_delta(delta: Callable[..., Any]) -> None:
    """Check what one step of the delta rule makes of a state.

    Args:
        delta: `delta(state, key, value, beta)`, from (d, v), (d,), (v,) and a number, to the state
            (d, v) after the step.

    Raises:
        AssertionError: the state is wrong; the message hints at the cause.
    """
    rng = np.random.default_rng(6)
    for d, v, beta in ((4, 3, 1.0), (3, 3, 0.4)):
        state, key, value = rng.normal(size=(d, v)), rng.normal(size=d), rng.normal(size=v)
        key /= np.linalg.norm(key)
        held = key @ state
        _, right = recurrent_linear_attention(
            key[None], key[None], value[None], beta=np.array([beta]), state=state
        )
        mistakes = {
            "that adds: first take away what the state holds under the key": state
            + beta * np.outer(key, value),
            "that adds, and at full strength": state + np.outer(key, value),
            "the sign: what is held goes, the value comes": state
            - beta * np.outer(key, value - held),
            "beta is missing": state + np.outer(key, value - held),
            "beta counts for what is taken away, too": state + np.outer(key, beta * value - held),
            "beta counts for what is written, too": state + np.outer(key, value - beta * held),
            "only the change is left: add it to the state": beta * np.outer(key, value - held),
            "forgetting the whole state is a decay, the delta rule changes what is under the key": (
                1 - beta
            )
            * state
            + beta * np.outer(key, value),
        }
        if d == v:
            mistakes["rows are the features of keys"] = state + beta * np.outer(value - held, key)
        got = called(delta, state.copy(), key.copy(), value.copy(), beta)
        _compare(got, right, mistakes)
    print("Right.")
