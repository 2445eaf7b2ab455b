"""Check functions of "Exact and cheaper".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected, Numbers, fail
from companion.linear import recurrent_linear_attention


def check_absorb(absorb: Answer) -> None:
    """Check one step of tiled attention: what is known of some keys, and the scores of others.

    Args:
        absorb: `absorb(highest, total, blend, scores, values)`, from a maximum (q,), a sum (q,)
            and an unfinished output (q, v), scores (q, k) and values (k, v) of a new tile, to the
            first three for all keys so far. At the start the maximum is -inf, the rest 0.
    """
    rng = np.random.default_rng(5)
    q, k, v = 4, 3, 2
    old, scores = rng.normal(size=(q, 5)), rng.normal(size=(q, k))
    scores[0] += 4  # a row whose maximum rises, and one whose stays
    scores[1] -= 4
    first, values = rng.normal(size=(5, v)), rng.normal(size=(k, v))
    highest = old.max(1)
    powers = np.exp(old - highest[:, None])
    known = highest, powers.sum(1), powers @ first
    nothing = np.full(q, -np.inf), np.zeros(q), np.zeros((q, v))
    wanted = "three: maximum, sum and unfinished output"
    for state, when in ((known, ""), (nothing, "at the first tile, ")):
        given = *state, scores, values
        with np.errstate(all="ignore"):
            got = answers.called(absorb, *given)
        answers.compare_parts(got, _absorbed(*given), wanted, where=when, rtol=1e-9, atol=1e-9)
    print("Right.")


def _absorbed(
    highest: Numbers, total: Numbers, blend: Numbers, scores: Numbers, values: Numbers
) -> dict[str, Expected]:
    top = scores.max(1)
    risen = np.maximum(highest, top)
    new, shrink = np.exp(scores - risen[:, None]), np.exp(highest - risen)
    alone = np.exp(scores - top[:, None])
    sums, blends = new.sum(1), new @ values
    new_total, new_blend = total * shrink + sums, blend * shrink[:, None] + blends
    own_maximum = "the new tile needs the maximum of all keys so far, not its own"
    of_maximum = {
        "the maximum is that of the new tile alone": top,
        "the maximum never rises": highest,
    }
    of_sum = {
        "the old sum shrinks when the maximum rises": total + sums,
        "the old sum is lost": sums,
        own_maximum: total * shrink + alone.sum(1),
    }
    of_output = {
        "the old output shrinks with its sum": blend + blends,
        "the old output is lost": blends,
        "the output is divided once, at the end": new_blend / new_total[:, None],
        own_maximum: blend * shrink[:, None] + alone @ values,
    }
    maximum, tile_sum, output = (risen, of_maximum), (new_total, of_sum), (new_blend, of_output)
    return {"maximum": maximum, "sum": tile_sum, "output": output}


def check_heads(heads_that_fit: Answer) -> None:
    """Check the most key and value heads whose cache is small enough.

    Args:
        heads_that_fit: `heads_that_fit(bytes_free, layers, tokens, num_heads, head_dim,
            number_bytes)`, to the largest divisor of `num_heads` whose cache is not larger than
            `bytes_free`; 0 if there is none.
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
        one = 2 * layers * tokens * width * size
        got = answers.called(heads_that_fit, free, *sizes)
        if got == _most_heads(free, one, divisors):
            continue
        any_number = _most_heads(free, one, range(1, heads + 1))
        below = _most_heads(free, one + 1, divisors)
        least = min((g for g in divisors if g * one <= free), default=0)
        mistakes = {
            "the number of heads must divide that of the query heads": any_number,
            "a cache that is exactly as large as what is free fits": below,
            "keys and values are both kept": _most_heads(free, one // 2, divisors),
            "every layer has a cache": _most_heads(free, one // layers, divisors),
            "the least number was asked for, not the largest": least,
        }
        answers.hint_at(got, mistakes)
        fail(f"heads_that_fit({free}, {', '.join(map(str, sizes))}): got {answers.named(got)}")
    print("Right.")


def _most_heads(free: int, bytes_a_head: int, among: Iterable[int]) -> int:
    return max((heads for heads in among if heads * bytes_a_head <= free), default=0)


def check_visible(visible: Answer) -> None:
    """Check which keys a cache of the first and the last words still holds.

    Args:
        visible: `visible(n, recent, kept)`, to a boolean array (n, n), True where query i may
            attend to key j: the last `recent` keys, its own position among them, and the first
            `kept`; never a later key.
    """

    def expected(n: int, recent: int, kept: int) -> Expected:
        i, j = np.arange(n)[:, None], np.arange(n)
        near, first, past = i - j < recent, j < kept, j <= i
        right = (near | first) & past
        early = (near & past) | first
        return right, {
            "a query sees keys that come after it": near | first,
            "the first keys come before the first queries, too: no query sees a later key": early,
            "the own place is one of the recent ones": ((i - j <= recent) | first) & past,
            "the first keys are gone": near & past,
            "the recent ones and the first, not what is both": near & first & past,
            "rows are queries and columns keys": right.T,
            "the first keys are those below `kept`": (near | (j <= kept)) & past,
        }

    cases = [(9, 3, 2), (7, 1, 3), (6, 4, 0), (4, 9, 1)]
    answers.check(visible, cases, expected, where="visible({}, {}, {}): ")


def check_delta(delta: Answer) -> None:
    """Check what one step of the delta rule makes of a state.

    Args:
        delta: `delta(state, key, value, beta)`, from (d, v), (d,), (v,) and a number, to the state
            (d, v) after the step.
    """

    def expected(state: Numbers, key: Numbers, value: Numbers, beta: float) -> Expected:
        held, square = key @ state, len(key) == len(value)
        added, change = np.outer(key, value), np.outer(key, value - held)
        _, right = recurrent_linear_attention(
            key[None], key[None], value[None], beta=np.array([beta]), state=state
        )
        return right, {
            "that adds: first take away what the state holds under the key": state + beta * added,
            "that adds, and at full strength": state + added,
            "the sign: what is held goes, the value comes": state - beta * change,
            "beta is missing": state + change,
            "beta counts for what is taken away, too": state + np.outer(key, beta * value - held),
            "beta counts for what is written, too": state + np.outer(key, value - beta * held),
            "only the change is left: add it to the state": beta * change,
            "forgetting the whole state is a decay, the delta rule changes what is under the key": (
                1 - beta
            )
            * state
            + beta * added,
            # Only a square state can be added to the change of its transpose.
            "rows are the features of keys": state + beta * change.T if square else (),
        }

    rng = np.random.default_rng(6)
    cases = []
    for d, v, beta in ((4, 3, 1.0), (3, 3, 0.4)):
        state, key, value = rng.normal(size=(d, v)), rng.normal(size=d), rng.normal(size=v)
        cases.append((state, key / np.linalg.norm(key), value, beta))
    answers.check(delta, cases, expected, rtol=1e-9, atol=1e-9)
