"""The exercises of "Exact and cheaper"."""

from collections.abc import Iterable
from functools import partial

import numpy as np

from bookkit.exercises.answers import Flags, Numbers
from bookkit.exercises.exercise import Function

DICE = np.random.default_rng(5)


def _absorb(
    highest: Numbers, total: Numbers, blend: Numbers, scores: Numbers, values: Numbers, *,
    own_maximum: bool = False,
) -> tuple[Numbers, Numbers, Numbers]:  # fmt: skip
    top = scores.max(1)
    risen = np.maximum(highest, top)
    new = np.exp(scores - (top if own_maximum else risen)[:, None])
    shrink = np.exp(highest - risen)
    return risen, total * shrink + new.sum(1), blend * shrink[:, None] + new @ values


def _after_a_tile() -> tuple[Numbers, ...]:
    """Draw what is known of five keys, and a tile of three more."""
    old, scores = DICE.normal(size=(4, 5)), DICE.normal(size=(4, 3))
    scores[0] += 4  # a row whose maximum rises, and one whose stays
    scores[1] -= 4
    first, values = DICE.normal(size=(5, 2)), DICE.normal(size=(3, 2))
    nothing = np.full(4, -np.inf), np.zeros(4), np.zeros((4, 2))
    return *_absorb(*nothing, old, first), scores, values


TILE = _after_a_tile()
OWN_MAXIMUM = "the new tile needs the maximum of all keys so far, not its own"

check_absorb = Function(
    "`absorb(highest, total, blend, scores, values)`, one step of tiled attention, from a maximum "
    "(q,), a sum (q,) and an unfinished output (q, v), scores (q, k) and values (k, v) of a new "
    "tile, to the first three for all keys so far. At the start the maximum is -inf, the rest 0.",
    right=_absorb, cases={
        "": TILE,
        "at the first tile, ": (np.full(4, -np.inf), np.zeros(4), np.zeros((4, 2)), *TILE[3:]),
    }, parts={
        "maximum": {
            "the maximum is that of the new tile alone": lambda m, z, b, s, v: s.max(1),
            "the maximum never rises": lambda h, *_: h,
        },
        "sum": {
            "the old sum shrinks when the maximum rises":
                lambda h, t, *rest: t + _absorb(h, 0 * t, *rest)[1],
            "the old sum is lost": lambda h, t, *rest: _absorb(h, 0 * t, *rest)[1],
            OWN_MAXIMUM: partial(_absorb, own_maximum=True),
        },
        "output": {
            "the old output shrinks with its sum":
                lambda h, t, b, *rest: b + _absorb(h, t, 0 * b, *rest)[2],
            "the old output is lost": lambda h, t, b, *rest: _absorb(h, t, 0 * b, *rest)[2],
            "the output is divided once, at the end":
                lambda *given: _absorb(*given)[2] / _absorb(*given)[1][:, None],
            OWN_MAXIMUM: partial(_absorb, own_maximum=True),
        },
    }, kind="three: maximum, sum and unfinished output", where="{when}", rtol=1e-9, atol=1e-9,
)  # fmt: skip


def _fitting(
    free: int, layers: int, tokens: int, heads: int, width: int, size: int, *, kept: int = 2,
    any_number: bool = False,
) -> Iterable[int]:  # fmt: skip
    """Yield the numbers of key and value heads that fit, and 0."""
    one = kept * layers * tokens * width * size
    return (
        g for g in range(heads + 1) if g * one <= free and (g == 0 or any_number or heads % g == 0)
    )


check_heads = Function(
    "`heads_that_fit(bytes_free, layers, tokens, num_heads, head_dim, number_bytes)`, the largest "
    "divisor of `num_heads` as a number of key and value heads whose cache is not larger than "
    "`bytes_free`; 0 if there is none.",
    right=lambda *given: max(_fitting(*given)), cases=[
        (2 * 4 * 9 * 4 * 3 * 2, 4, 9, 32, 3, 2), (2 * 3 * 10 * 4 * 5 * 2, 3, 10, 8, 5, 2),
        (2 * 3 * 10 * 5 * 5 * 2, 3, 10, 12, 5, 2), (2 * 2 * 7 * 6 * 4 * 4 - 1, 2, 7, 6, 4, 4),
        (2 * 4 * 9 * 16 * 3 * 2 * 9, 4, 9, 16, 3, 2), (2 * 4 * 9 * 3 * 2 - 1, 4, 9, 16, 3, 2),
    ], mistakes={
        "the number of heads must divide that of the query heads":
            lambda *given: max(_fitting(*given, any_number=True)),
        "a cache that is exactly as large as what is free fits":
            lambda free, *sizes: max(_fitting(free - 1, *sizes)),
        "keys and values are both kept": lambda *given: max(_fitting(*given, kept=1)),
        "every layer has a cache": lambda free, layers, *rest: max(_fitting(free, 1, *rest)),
        "the least number was asked for, not the largest":
            lambda *given: min(filter(None, _fitting(*given)), default=0),
    }, otherwise="heads_that_fit({}, {}, {}, {}, {}, {}): got {got:g}",
)  # fmt: skip


def _visible(n: int, recent: int, kept: int, *, future: bool = False) -> Flags:
    i, j = np.arange(n)[:, None], np.arange(n)
    return ((i - j < recent) | (j < kept)) & ((j <= i) | future)


check_visible = Function(
    "`visible(n, recent, kept)`, which keys a cache of the first and the last words still holds, "
    "to a boolean array (n, n), True where query i may attend to key j: the last `recent` keys, "
    "its own position among them, and the first `kept`; never a later key.",
    right=_visible, cases=[(9, 3, 2), (7, 1, 3), (6, 4, 0), (4, 9, 1)], mistakes={
        "a query sees keys that come after it": partial(_visible, future=True),
        "the first keys come before the first queries, too: no query sees a later key":
            lambda n, r, k: _visible(n, r, k) | (np.arange(n) < k),
        "the own place is one of the recent ones": lambda n, r, k: _visible(n, r + 1, k),
        "the first keys are gone": lambda n, r, k: _visible(n, r, 0),
        "the recent ones and the first, not what is both":
            lambda n, r, k: _visible(n, r, 0) & _visible(n, 0, k),
        "rows are queries and columns keys": lambda *given: _visible(*given).T,
        "the first keys are those below `kept`": lambda n, r, k: _visible(n, r, k + 1),
    }, examples={
        "visible(9, 3, 2): the shape is right, the numbers are not":
            lambda n, *sizes: _visible(n, *sizes) & ~np.eye(n, dtype=bool),
    }, where="visible({}, {}, {}): ",
)  # fmt: skip


def _write(d: int, v: int, beta: float) -> tuple[Numbers, Numbers, Numbers, float]:
    """Draw a state, a key of norm 1 and a value."""
    state, key, value = DICE.normal(size=(d, v)), DICE.normal(size=d), DICE.normal(size=v)
    return state, key / np.linalg.norm(key), value, beta


check_delta = Function(
    "`delta(state, key, value, beta)`, one step of the delta rule, from (d, v), (d,), (v,) and a "
    "number to the state (d, v).",
    right=lambda s, k, v, beta: s + beta * np.outer(k, v - k @ s),
    cases=[_write(3, 3, 0.4), _write(4, 3, 1.0)], mistakes={
        "that adds: first take away what the state holds under the key":
            lambda s, k, v, b: s + b * np.outer(k, v),
        "that adds, and at full strength": lambda s, k, v, b: s + np.outer(k, v),
        "the sign: what is held goes, the value comes":
            lambda s, k, v, b: s - b * np.outer(k, v - k @ s),
        "beta is missing": lambda s, k, v, b: s + np.outer(k, v - k @ s),
        "beta counts for what is taken away, too":
            lambda s, k, v, b: s + np.outer(k, b * v - k @ s),
        "beta counts for what is written, too": lambda s, k, v, b: s + np.outer(k, v - b * (k @ s)),
        "only the change is left: add it to the state":
            lambda s, k, v, b: b * np.outer(k, v - k @ s),
        "forgetting the whole state is a decay, the delta rule changes what is under the key":
            lambda s, k, v, b: (1 - b) * s + b * np.outer(k, v),
        "rows are the features of keys": lambda s, k, v, b: s + b * np.outer(v - k @ s, k),
    }, rtol=1e-9, atol=1e-9,
)  # fmt: skip
