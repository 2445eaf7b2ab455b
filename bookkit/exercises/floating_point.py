"""The exercises of "Softmax in floating point"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Flags, Numbers, called, refuse
from bookkit.exercises.exercise import Function, Several, Value, Verdict
from companion.attention import masked_softmax


def _ending(got: Any) -> Any:
    if got not in ("weights", "zeros", "NaN"):
        refuse(got, '"weights", "zeros" or "NaN"')
    return got


check_ends = Verdict(
    "`ends(scores)`, what the softmax gives if it is computed as its formula says: from an array "
    '(k,) of float16 scores, from which nothing is subtracted, to "weights", "zeros" or "NaN".',
    suspects=[
        (([0.0, 1.0, 2.0],), "weights", "every exponential fits, and so does their sum"),
        (([10.0] * 6,), "zeros", "each exponential is 22,026, and six of them are too large a sum"),
        (([12.0, 3.0],), "NaN", "exp(12) is already infinite, and inf / inf is NaN"),
        (([11.0],), "weights", "one exponential of 59,874 fits"),
        (([-20.0, -19.0],), "NaN", "both exponentials are rounded to 0, and 0 / 0 is NaN"),
        (([-20.0, 0.0],), "weights", "one exponential is 1, so the sum is not 0"),
        (([11.0, 11.0, -3.0],), "zeros", "two times 59,874 is more than 65,504"),
    ], ask=lambda ends, scores: called(ends, np.array(scores, dtype=np.float16)), read=_ending,
    says='scores {0}: got "{got}", wanted "{wanted}": {hint}',
)  # fmt: skip

LARGE = np.array([1000.0, 1001.0, 1003.0])
POWERS = np.exp(LARGE - LARGE.max())
LOG_OF_SUM = math.log(POWERS.sum())

check_large = Several(
    "The softmax of 1000, 1001 and 1003 by hand: two digits after the point will do.",
    weights=Value("(3,) the weights.", right=POWERS / POWERS.sum(), mistakes={
        "those are the exponentials: divide each by their sum": POWERS,
        "the largest score has the largest weight: the signs are turned around":
            (POWERS / POWERS.sum())[::-1],
        "the scores themselves are not the weights": LARGE / LARGE.sum(),
    }, axes="(3,)", rtol=0, atol=0.006),
    lse=Value(
        "The logarithm of the sum of the exponentials.",
        right=np.array(LARGE.max() + LOG_OF_SUM), mistakes={
            "add the largest score again, which you subtracted before": LOG_OF_SUM,
            "that is the largest score: the two others add something": LARGE.max(),
            "the sum is added to the largest score: take its logarithm first":
                LARGE.max() + POWERS.sum(),
        }, rtol=0, atol=0.006,
    ),
)  # fmt: skip


def _weights(scores: Numbers, mask: Flags, penalty: float, highest: Any) -> Any:
    """Give forbidden keys a penalty, and subtract something."""
    powers = np.exp(np.where(mask, scores, penalty) - highest)
    return powers / powers.sum(-1, keepdims=True)


def _off(got: Numbers, scores: Numbers, mask: Flags) -> str:
    """Say what goes wrong with some weights that no known mistake gives."""
    dead = ~mask.any(-1)
    if dead.any() and np.isnan(got[dead]).any():
        return "a row with nothing allowed is NaN: its maximum is -inf, or its sum is 0"
    if dead.any() and np.allclose(got[dead], 1 / scores.shape[-1]):
        return "a row with nothing allowed averages all keys: with -1e9 all scores tie; use -inf"
    lost = np.isnan(got).any() or np.allclose(got[~dead], 0)
    if lost and scores[~mask].min() > scores[mask].max():
        return "all weights are lost {when}: subtract the largest of the allowed scores"
    if not np.isfinite(got).all():
        return "not all weights are finite {when}: subtract the largest score of the row first"
    return "the shape is right, the weights are not {when}"


DRAWN = np.random.default_rng(5).normal(size=(4, 6))
MASK = np.arange(6) <= np.arange(4)[:, None] + 1

check_softmax = Function(
    "`softmax(scores, mask)`, from an array (q, k) and a boolean one, True = may attend, to "
    "weights (q, k), however large the scores are; zeros in a row where nothing is allowed.",
    right=masked_softmax, cases={
        "": (DRAWN, MASK),
        "with scores near 1000": (DRAWN + 1000, MASK),
        "with nothing allowed in a row": (DRAWN, MASK & (np.arange(4)[:, None] != 2)),
        "where the forbidden scores are the largest": (np.where(MASK, DRAWN - 1000, 1000), MASK),
    }, mistakes={
        "the mask is upside down: True means may attend": lambda s, m: masked_softmax(s, ~m),
        "the mask is missing": lambda s, m: masked_softmax(s),
        "the mask has to come before the softmax: what it takes away afterwards, the others do "
        "not get": lambda s, m: masked_softmax(s) * m,
        "a score of 0 is a score like any other: a forbidden key needs -inf":
            lambda s, m: masked_softmax(s * m),
        "a row sums to 1; that is the axis of the keys, the last":
            lambda s, m: masked_softmax(s.T.copy(), m.T.copy()).T,
    }, examples={
        "a row with nothing allowed is NaN":
            lambda s, m: _weights(s, m, -math.inf, np.where(m, s, -math.inf).max(-1)[:, None]),
        "a row with nothing allowed averages all keys":
            lambda s, m: _weights(s, m, -1e9, np.where(m, s, -1e9).max(-1)[:, None]),
        "all weights are lost where the forbidden scores are the largest": lambda s, m: (
            _weights(s, m | ~m.any(-1)[:, None], -math.inf, s.max(-1)[:, None])
            * m.any(-1)[:, None]
        ),
        "not all weights are finite with scores near 1000":
            lambda s, m: _weights(s, m, -math.inf, 0),
    }, axes="(q, k)", otherwise=_off, atol=1e-9,
)  # fmt: skip


def _sound(query: Any, key: Any, value: Any) -> Any:
    scores = query.float() @ key.float().mT
    return (masked_softmax(scores) @ value.float()).to(query.dtype)


def _running(query: Any, key: Any, value: Any) -> Any:
    scores = query.float() @ key.float().mT
    powers = (scores - scores.amax(-1, keepdim=True)).exp().to(query.dtype)
    total = 0 * powers[..., 0]
    for power in powers.unbind(-1):
        total = total + power
    return (powers.float() @ value.float() / total[:, None].float()).to(query.dtype)


check_sums_narrowly = Verdict(
    "`sums_narrowly(attention)`, whether an attention loses the terms of a long sum, from "
    "`attention(query, key, value)` on bfloat16 tensors (q, d), (k, d), (k, v) to True or False.",
    suspects=[
        ((_sound,), False, "an attention whose sums are wide is accused: bfloat16 rounds its "
         "output as well, so ask for values that bfloat16 can write exactly, such as 1"),
        ((_running,), True, "a sum that stops at 256 is not found: give it more than 256 keys, "
         "and equal ones"),
    ],
)  # fmt: skip
