"""The exercises of "A memory that never grows"."""

import numpy as np

from bookkit.exercises.answers import Numbers
from bookkit.exercises.exercise import Function, Value

check_pairs = Value(
    "The number of pairs, written by adding under random keys of width 128, at which the expected "
    "squared error of a value of length 1 is one half.", right=65,
    mistakes={
        "the pair that is asked for makes no error: 64 others do": 64,
        "that is one row for each pair: long before, the error is as large as the value": 128,
        "the error grows with the number of the other pairs, not with its square": 9,
        "half the error of a full board: at 129 pairs it is 1": 64.5,
    }, otherwise="got {got:g}: solve (p - 1)/d = 1/2 for p", rtol=0, atol=1e-6,
)  # fmt: skip

BOARD, KEY, VALUE = np.array([[2.0, 0], [0, 1]]), np.array([0.6, 0.8]), np.array([1.0, 1])
HELD = KEY @ BOARD

check_by_hand = Value(
    "The state of the exercise, (2, 2), after one step of the delta rule with beta = 1.",
    right=BOARD + np.outer(KEY, VALUE - HELD), mistakes={
        "that adds the value: first take away what the board says": BOARD + np.outer(KEY, VALUE),
        "that is the change: add it to the board": np.outer(KEY, VALUE - HELD),
        "rows belong to the key: the outer product is the other way round":
            BOARD + np.outer(VALUE - HELD, KEY),
        "what it says is taken away, what it lacks is added": BOARD + np.outer(KEY, HELD - VALUE),
    }, otherwise="not yet: what does the board say under the key, and what does it lack?",
    rtol=0, atol=1e-3,
)  # fmt: skip

DICE = np.random.default_rng(5)


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


check_grows = Function(
    "`grows(key, beta)`, whether what a state holds under a key (d,) grows if the delta rule "
    "writes the same key and a value of zeros again and again.",
    right=lambda key, beta: bool(abs(1 - beta * key @ key) > 1), cases=[
        (np.array([0.6, 0.8]), 1.0), (np.array([1.5, 0.0]), 0.4), (np.array([1.0, 1.2]), 0.5),
        (np.array([3.0, 4.0]), 0.5), (np.array([1.0, 1.2]), 0.9),
    ], mistakes={
        "the square of the key's length counts":
            lambda k, b: bool(abs(1 - b * np.linalg.norm(k)) > 1),
        "a factor of less than 1 in size shrinks, even a negative one":
            lambda k, b: bool(1 - b * k @ k < 0),
        "beta counts, too": lambda k, b: bool(abs(1 - k @ k) > 1),
        "a factor below -1 grows, with a sign that changes": lambda k, b: bool(1 - b * k @ k > 1),
    }, otherwise="grows({}, {}): got {got}, wanted {wanted}",
)  # fmt: skip
