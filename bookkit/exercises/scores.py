"""The exercises of "Scores, and why the square root"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Answer, Flags, Numbers, as_array, fail
from bookkit.exercises.exercise import Function, Judged, Several, Value
from companion.attention import attend, masked_softmax
from companion.scores import dot_score

ONCE = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]) @ [2.0, 3.0]

check_doubled = Several(
    "The scaled scores of vectors that are written twice, and how many times as large they are.",
    scores=Value(
        "(3,) of the query (2, 3, 2, 3) for *the*, *new* and *house*.",
        right=2 * ONCE / math.sqrt(4), mistakes={
            "these are not divided: the width is now 4, so divide by 2": 2 * ONCE,
            "the width is now 4, and its root is 2": (2 * ONCE / math.sqrt(2), 2 * ONCE / 4),
            "these are the scores of the vectors written once": ONCE / math.sqrt(2),
        }, axes="(3,)", atol=0.011,
    ),
    factor=Value(
        "How many times as large as without the copies.", right=math.sqrt(2),
        mistakes={
            "that is the factor of the dot products, but the divisor has grown, too": 2.0,
            "divide the new scaled scores by the old scaled ones": (0.5, 1 / math.sqrt(2)),
            "the dot products double, and the divisor grows less than that": 1.0,
        }, otherwise="got {got:g}, which is not it", rtol=0.0, atol=0.011,
    ),
)  # fmt: skip


def _power(exponent: float) -> Answer:
    return lambda scale, optimizer: scale**exponent


check_start_and_rate = Function(
    '`start_and_rate(scale, optimizer)`, the optimizer "sgd" or "adam", to two factors: on the '
    "first query and key weights, and on the learning rate of both, with which a model without the "
    "scale trains as one with it.",
    right=lambda scale, optimizer: (
        scale**0.5, scale if optimizer == "sgd" else scale**0.5
    ),
    cases=[(scale, optimizer) for scale in (0.25, 1 / 9) for optimizer in ("sgd", "adam")], parts={
        "start": {
            "a score contains query weights times key weights: if you multiply both by the scale, "
            "it is multiplied by the square of the scale": _power(1),
            "without the scale the weights have to be smaller, not larger": _power(-0.5),
            "the first scores have to be those with the scale": _power(0),
        },
        "rate of {1}": {
            "the gradient changes, too: with respect to smaller weights it is larger": _power(0.5),
            "a step of Adam does not depend on the size of the gradient, only the size of the "
            "weights counts": _power(1),
            "the weights are smaller, so a step has to be smaller by the same factor":
                (_power(-0.5), _power(-1), _power(0)),
        },
    },
    kind="two factors, (start, rate)", otherwise="got {got:g} for the scale {:g}, which is not it",
    rtol=1e-4, atol=0.0,
)  # fmt: skip

N = 12
LEAST_WEIGHT = 0.9
"""The weight that each query on the circle has to put on its own key."""


def _vectors(name: str, value: Any) -> Numbers:
    array = as_array(value, f"{name}: ", f"({N}, 2)", "numbers,")
    if array.shape == (2, N):
        fail(f"{name}: got shape (2, {N}), wanted ({N}, 2): one vector a row")
    if array.shape != (N, 2):
        fail(f"{name}: got shape {array.shape}, wanted ({N}, 2)")
    if not np.isfinite(array).all():
        fail(f"{name}: not all numbers are finite")
    return array


def _judge_circle(queries: Any, keys: Any) -> None:
    arrays = _vectors("queries", queries), _vectors("keys", keys)
    scores = dot_score(*arrays)
    lengths = np.linalg.norm(arrays[1], axis=-1)
    for i, nearest in enumerate(scores.argmax(-1)):
        if nearest == i:
            continue
        why = "let it point where its key points, and let no two keys point the same way"
        if nearest == lengths.argmax() and np.ptp(lengths) > 1e-9:
            why = "a long key wins against nearer ones: give all keys one length"
        fail(f"query {i} looks most at key {nearest}: {why}")
    least = float(masked_softmax(scores).diagonal().min())
    if least <= LEAST_WEIGHT:
        why = "longer vectors make larger differences between scores"
        fail(f"every query looks most at its own key, but with {least:.2f} at the least: {why}")


ANGLES = 2 * np.pi * np.arange(N) / N
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=-1)
LONG = CIRCLE * np.where(np.arange(N) == 3, 9.0, 1.0)[:, None]

check_circle = Judged(
    "Twelve queries and twelve keys of width 2, (12, 2): each query should find the key with its "
    "number, so the softmax of the dot products has more than 0.9 on the diagonal.",
    by=_judge_circle, right=(5 * CIRCLE, 5 * CIRCLE), mistakes={
        "queries: got shape (2, 12), wanted (12, 2): one vector a row": (CIRCLE.T, CIRCLE),
        "keys: got shape (3, 2), wanted (12, 2)": (CIRCLE, CIRCLE[:3]),
        "keys: not all numbers are finite": (CIRCLE, CIRCLE + math.inf),
        "where its key points, and let no two keys point the same way": (CIRCLE, -CIRCLE),
        "a long key wins against nearer ones: give all keys one length": (CIRCLE, LONG),
        "longer vectors make larger differences between scores": (CIRCLE, CIRCLE),
    },
)  # fmt: skip


def _capped(scores: Numbers, softcap: float) -> Numbers:
    return softcap * np.tanh(scores / softcap)


def _attending(
    divisor: Answer = math.sqrt, *, cap: Answer = _capped, mask: Answer = lambda mask: mask,
    mask_first: bool = False,
) -> Answer:  # fmt: skip
    """Make attention with a softcap and a mask, one of its steps possibly wrong.

    The divisor is made of the width of a head; the softcap and the mask may be changed.
    """

    def attention(
        query: Numbers, key: Numbers, value: Numbers, allowed: Flags, softcap: float
    ) -> Numbers:
        scores = dot_score(query, key) / divisor(query.shape[-1])
        if mask_first:
            return attend(masked_softmax(cap(np.where(allowed, scores, -math.inf), softcap)), value)
        return attend(masked_softmax(cap(scores, softcap), mask(allowed)), value)

    return attention


H, Q, K, D, V = 3, 4, 6, 5, 2
DICE = np.random.default_rng(4)
EARLY = "the softcap comes before the mask: tanh(-inf) is -1, and a forbidden key gets weight"


def _all_heads(d: int) -> float:
    return math.sqrt(H * d)


def _twice(d: int) -> float:
    return math.sqrt(d) * _all_heads(d)


check_attention = Function(
    "`attention(query, key, value, mask, softcap)`, attention with a softcap and a mask: what is "
    "scaled, and in which order? From (h, q, d), (h, k, d) and (h, k, v) arrays, a boolean mask "
    "(q, k) and a number to outputs (h, q, v).",
    right=_attending(), cases=[(
        2.0 * DICE.normal(size=(H, Q, D)),
        2.0 * DICE.normal(size=(H, K, D)),
        DICE.normal(size=(H, K, V)),
        np.arange(K) <= np.arange(Q)[:, None] + 1,
        3.0,
    )], mistakes={
        "nothing is scaled": _attending(lambda d: 1),
        "divided by d: the square root is missing, or taken twice": _attending(lambda d: d),
        "multiplied by sqrt(d) instead of divided": _attending(lambda d: d**-0.5),
        "the width that counts is that of one head, d, not that of all heads":
            _attending(_all_heads),
        "scaled twice: query is divided, and then the scores are": _attending(_twice),
        "the softcap comes after the scale": _attending(
            lambda d: 1, cap=lambda s, o: _capped(s, o) / math.sqrt(D)
        ),
        "the softcap is missing": _attending(cap=lambda s, o: s),
        "the softcap divides, but does not multiply": _attending(
            cap=lambda s, o: np.tanh(s / o)
        ),
        EARLY: _attending(mask_first=True),
        f"{EARLY}; and the scale is not that of one head": _attending(_all_heads, mask_first=True),
        f"{EARLY}; and it is scaled twice": _attending(_twice, mask_first=True),
        "the mask is missing": _attending(mask=lambda m: None),
        "the mask is upside down: True means may attend": _attending(mask=np.logical_not),
        "the weights are scaled, after the softmax":
            lambda q, *rest: _attending(lambda d: 1)(q, *rest) / math.sqrt(q.shape[-1]),
    }, axes="(h, q, v)", atol=1e-6,
)  # fmt: skip
