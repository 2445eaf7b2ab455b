"""The exercises of "Position"."""

import math
from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, as_array, fail, named
from bookkit.exercises.exercise import Function, Several, Value
from companion.attention import masked_softmax, scaled_dot_product_attention
from companion.positions import alibi_bias, alibi_slopes, rotate

DICE = np.random.default_rng(4)


def _same(scores: Numbers, value: Numbers) -> Numbers:
    return np.tile(value, (len(scores), 1))


check_same_word = Function(
    "`outputs(scores, value)`, (n, d_v), what attention gives for a text that says one word again "
    "and again, from the scores (n, n) and the value (d_v,) that all n words share.",
    right=_same, cases=[
        (alibi_bias(1, 5)[0] + DICE.normal(size=(5, 5)), np.array([1.0, -2.0, 0.5])),
        (DICE.normal(size=(3, 3)), np.array([4.0, 1.0])),
    ], mistakes={
        "one row for each of the n words is wanted": (
            lambda s, v: v, lambda s, v: v[None],
            lambda s, v: _same(s, v).T,
        ),
        "the weights of a row sum to 1: take the softmax first": lambda s, v: s @ _same(s, v),
        "the softmax is taken along a row, over the keys":
            lambda s, v: masked_softmax(s.T).T @ _same(s, v),
        "the mean is wanted, not the sum": lambda s, v: len(s) * _same(s, v),
    }, rtol=1e-6, atol=1e-6,
)  # fmt: skip


def _turned(vector: tuple[float, float], position: int) -> Numbers:
    """Turn by a quarter a position."""
    given, quarter = np.array([vector], dtype=np.float64), np.array([math.pi / 2])
    return np.asarray(rotate(given, np.array([position]), frequencies=quarter)[0])


Q, K = _turned((3, 1), 1), _turned((2, 1), 3)
SCORE = float(Q @ K)
BACK = "that turns the other way: (a, b) becomes (-b, a)"

check_turn = Several(
    "Rotations by hand: a quarter turn a position, query (3, 1) at 1, key (2, 1) at 3.",
    query=Value("(2,) the turned query.", right=Q, mistakes={
        BACK: _turned((3, 1), -1),
        "the query is at position 1, so it turns once": _turned((3, 1), 2),
    }, axes="(2,)", atol=1e-6),
    key=Value("(2,) the turned key.", right=K, mistakes={
        BACK: _turned((2, 1), -3),
        "the key is at position 3, so it turns three times": _turned((2, 1), 2),
    }, axes="(2,)", atol=1e-6),
    score=Value("Their product, not divided.", right=SCORE, mistakes={
        "that is the product of the two before they turn": 7.0,
        "the product is not divided here": SCORE / math.sqrt(2),
        "first times first plus second times second; mind the signs": (5.0, -5.0),
    }, atol=1e-6),
    later=Value(
        "The product if both words are ten positions further on.", right=SCORE,
        mistakes={"both turn by the same angle, so what stays between them?": -SCORE}, atol=1e-6,
    ),
)  # fmt: skip


def _bias(slopes: Numbers, new: int, cached: int, *, first: int | None = None) -> Numbers:
    """Return the bias of queries that begin at a position, by default after the cache."""
    start = cached if first is None else first
    distance = np.arange(start, start + new)[:, None] - np.arange(cached + new)
    return -slopes[:, None, None] * distance


def _past(got: Any, slopes: Numbers, new: int, cached: int) -> Numbers:
    """Read a bias; what is written at keys to come does not count."""
    bias = as_array(got)
    if bias.shape != (len(slopes), new, cached + new):
        what = f"shape {bias.shape}" if bias.ndim else named(got)
        asked = f"{len(slopes)} slopes, {new} new and {cached} cached words"
        wanted = f"({len(slopes)}, {new}, {cached + new}): keys are all words so far"
        fail(f"got {what} for {asked}, wanted {wanted}")
    return np.tril(bias, cached)


check_bias = Function(
    "`bias(slopes, new, cached)`, what ALiBi adds to the scores of a decoder's new words, "
    "(h, new, cached + new) from the slopes (h,), for new queries after `cached` keys; what "
    "is written at keys to come does not count.",
    right=_bias, cases=[
        (alibi_slopes(heads), new, cached)
        for heads, new, cached in ((3, 4, 0), (2, 1, 5), (4, 3, 2))
    ], mistakes={
        "a far key has to lose: the bias is minus the slope times the distance":
            lambda *given: -_bias(*given),
        "the first new query is at position `cached`, not at position 0":
            lambda *given: _bias(*given, first=0),
        "every head has its own slope": lambda slopes, *rest: _bias(np.ones_like(slopes), *rest),
    }, examples={
        "got shape (3, 4) for 3 slopes, 4 new and 0 cached words": lambda h, n, c: np.zeros((3, 4)),
    }, read=_past, rtol=1e-6, atol=1e-6,
)  # fmt: skip


def _step(
    query: Numbers, key: Numbers, value: Numbers, keys: Numbers, values: Numbers, *,
    query_at: int | None = None, key_at: int | None = None,
) -> Numbers:  # fmt: skip
    n = len(keys)
    turned = rotate(query, np.array([n if query_at is None else query_at]))
    turned_key = rotate(key, np.array([n if key_at is None else key_at]))
    known, kept = np.concatenate([keys, turned_key]), np.concatenate([values, value])
    return scaled_dot_product_attention(turned, known, kept)


def _twice(
    query: Numbers, key: Numbers, value: Numbers, keys: Numbers, values: Numbers, **at: int
) -> Numbers:
    """Rotate the cached keys again."""
    return _step(query, key, value, rotate(keys, np.arange(len(keys))), values, **at)


QUERY, KEY, VALUE = np.random.default_rng(6).normal(size=(3, 6, 6))
"""A new word, and a cache of five before it."""
LATE = "the position of the new word is the number of cached keys: turn it by that, not by 0"

check_step = Function(
    "`step(query, key, value, keys, values)`, one step of a decoder with rotations and a cache, "
    "from a new word's (1, d), (1, d), (1, v) and the cache, rotated keys (n, d) and values "
    "(n, v), to its output (1, v).",
    right=_step, cases=[(QUERY[5:], KEY[5:], VALUE[5:], rotate(KEY[:5], np.arange(5)), VALUE[:5])],
    mistakes={
        f"query: {LATE}": lambda *given: _step(*given, query_at=0),
        f"key: {LATE}": lambda *given: _step(*given, key_at=0),
        f"query and key: {LATE}": lambda *given: _step(*given, query_at=0, key_at=0),
        "cached keys have been rotated already: rotate the new key alone": _twice,
        "cached keys have been rotated already, and the new query comes after them":
            lambda *given: _twice(*given, query_at=0),
        "values are not rotated": lambda q, k, v, n, a: _step(
            q, k, rotate(v, np.array([len(n)])), n,
            rotate(a, np.arange(len(n))),
        ),
        "the new value is not rotated":
            lambda q, k, v, n, a: _step(q, k, rotate(v, np.array([len(n)])), n, a),
        "the new word attends to itself, too":
            lambda q, k, v, n, a: scaled_dot_product_attention(rotate(q, np.array([len(n)])), n, a),
    }, rtol=1e-6, atol=1e-6,
)  # fmt: skip
