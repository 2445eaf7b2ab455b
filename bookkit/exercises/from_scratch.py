"""The exercises of "From scratch"."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bookkit.exercises.answers import Answer, Flags, Numbers, Sign, fail, named
from bookkit.exercises.exercise import Function, Several, Value, Verdict
from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.masks import causal_mask
from companion.scores import dot_score

Attention = Callable[[Numbers, Numbers, Numbers], Numbers]

SENTENCE = ["she", "works", "in", "the", "new", "house"]


def _words(kept: Any) -> set[str]:
    if not isinstance(kept, list | tuple | set) or not all(isinstance(one, str) for one in kept):
        fail(f"got {named(kept)}, wanted a list of words")
    if unknown := set(kept) - set(SENTENCE):
        fail(f"got {', '.join(sorted(unknown))}, wanted words of the sentence: {SENTENCE}")
    return set(kept)


check_kept = Value(
    "The list of the words of *she works in the new house* that keep their output when a causal "
    "mask is left out.",
    right=["house"], mistakes={
        "got no word, but one of them sees all six words even with the mask": [],
        "she sees only itself with the mask, and all six words without it": Sign(
            lambda kept: "she" in kept, ["she", "house"]
        ),
    }, examples={
        "a word keeps its output only if the mask hides nothing from it": ["new", "house"],
        "got home, wanted words of the sentence": ["home"],
    }, read=_words, otherwise="a word keeps its output only if the mask hides nothing from it",
)  # fmt: skip

ALLOWED, EQUAL = causal_mask(3, like=np.zeros(1)), np.zeros((3, 3))
BY_COLUMNS = masked_softmax(EQUAL, ALLOWED.T).T

check_columns = Several(
    "Three words with equal scores and a causal mask, if the softmax goes down the columns.",
    weights=Value("(3, 3), a row for each query.", right=BY_COLUMNS, mistakes={
        "the rows sum to 1, as they should: here the columns do, by mistake":
            masked_softmax(EQUAL, ALLOWED),
        "queries and keys are exchanged: a row is a query, a column a key": BY_COLUMNS.T,
        "the mask is still there: a word that comes later has the weight 0":
            np.full((3, 3), 1 / 3),
    }, rtol=0, atol=0.006),
    sums=Value("(3,), what the rows sum to.", right=BY_COLUMNS.sum(1), mistakes={
        "these are the sums of the columns, which are 1; add up each row": np.ones(3),
        "from the first query to the last, please": BY_COLUMNS.sum(1)[::-1],
    }, rtol=0, atol=0.006),
)  # fmt: skip


def _of_heads(
    query: Numbers, key: Numbers, value: Numbers, gradient: Numbers, *, centred: bool = True
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the gradients of attention at the queries, and at a key and value for each."""
    owner, scale = np.arange(len(query)) * len(key) // len(query), query.shape[-1] ** -0.5
    weights = masked_softmax(scale * dot_score(query, key[owner]))
    at_weights = dot_score(gradient, value[owner])
    mean = (weights * at_weights).sum(-1, keepdims=True)
    at_scores = scale * weights * (at_weights - (mean if centred else 0))
    return at_scores @ key[owner], at_scores.mT @ query, weights.mT @ gradient


def _added(of_heads: Numbers, g: int) -> Any:
    """Add the gradients of the query heads that share a key or value head."""
    return of_heads.reshape(g, -1, *of_heads.shape[1:]).sum(1)


def _grouped(query: Numbers, key: Numbers, *rest: Any, centred: bool = True) -> tuple[Numbers, ...]:
    of_query, of_key, of_value = _of_heads(query, key, *rest, centred=centred)
    return of_query, _added(of_key, len(key)), _added(of_value, len(key))


NO_SCALE = "the scale is missing on the way back"
NO_MEAN = "the mean of the row is not subtracted"
SHARED: dict[str, Answer] = {
    NO_SCALE: lambda q, *rest: tuple(math.sqrt(q.shape[-1]) * one for one in _grouped(q, *rest)),
    "the gradients of the query heads that share a head are added, not averaged":
        lambda q, k, *rest: tuple(one * len(k) / len(q) for one in _grouped(q, k, *rest)),
    "neighbouring query heads share one, [g0, g0, g1, g1]; you added others": lambda q, k, *rest: (
        tuple(one.reshape(-1, len(k), *one.shape[1:]).sum(0) for one in _of_heads(q, k, *rest))
    ),
    "got a gradient for each query head: add those that share a head": _of_heads,
}  # fmt: skip
"""Mistakes at what is shared."""
UNCENTRED = {NO_MEAN: partial(_grouped, centred=False)}
DICE = np.random.default_rng(4)

check_grouped_gradient = Function(
    "`grouped_gradient(query, key, value, gradient)`, the gradients of attention whose query heads "
    "share keys and values, from (h, q, d), (g, k, d), (g, k, v) and the gradient at the output, "
    "(h, q, v), to those at query, key and value, each of the shape of what it belongs to.",
    right=_grouped,
    cases=[[DICE.normal(size=size) for size in ((6, 4, 7), (3, 5, 7), (3, 5, 2), (6, 4, 2))]],
    parts={
        "query": {NO_SCALE: SHARED[NO_SCALE], **UNCENTRED}, "key": SHARED | UNCENTRED,
        "value": SHARED,
    }, kind="three gradients: query, key, value", rtol=1e-6, atol=1e-9,
)  # fmt: skip


def _allowed(query: Numbers, key: Numbers, shift: int = 0) -> Any:
    q, k = query.shape[-2], key.shape[-2]
    return causal_mask(q, k, offset=k - q + shift)


def _scores(query: Numbers, key: Numbers) -> Numbers:
    return dot_score(query, key) / math.sqrt(query.shape[-1])


def _causal(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    return scaled_dot_product_attention(query, key, value, _allowed(query, key))


def _causal_by_loops(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    h, q, d = query.shape
    k = key.shape[1]
    output = np.zeros((h, q, value.shape[-1]))
    for head, i in np.ndindex(h, q):
        seen = range(i + k - q + 1)
        powers = [math.exp(float(query[head, i] @ key[head, j]) / math.sqrt(d)) for j in seen]
        for j in seen:
            output[head, i] += powers[j] / sum(powers) * value[head, j]
    return output


def _with_scale(scale: Callable[[Numbers], float]) -> Attention:
    return lambda q, k, v: scaled_dot_product_attention(q, k, v, _allowed(q, k), scale=scale(v))


def _with_mask(mask: Callable[[Numbers, Numbers], Flags]) -> Attention:
    return lambda q, k, v: scaled_dot_product_attention(q, k, v, mask(q, k))


def _with_weights(weights: Callable[[Numbers, Flags], Numbers]) -> Attention:
    """Make attention whose weights are a function of scaled scores and a causal mask."""
    return lambda q, k, v: attend(weights(_scores(q, k), _allowed(q, k)), v)


def _viewed(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    output = _causal(query, key, value)
    h, q, v = output.shape
    return output.reshape(q, h, v).transpose(1, 0, 2)


MISTAKES: dict[str, Attention] = {
    "no scale": _with_scale(lambda v: 1.0),
    "the scale is that of the values' width; give keys and values different widths":
        _with_scale(lambda v: v.shape[-1] ** -0.5),
    "the softmax goes over the queries":
        _with_weights(lambda s, m: masked_softmax(s.mT, m.mT).mT),
    "query and key are swapped, which raises an error only if there are more keys than queries":
        lambda q, k, v: attend(masked_softmax(_scores(k, q), _allowed(q, k)), v),
    "no mask": scaled_dot_product_attention,
    "the mask is upside down": _with_mask(lambda q, k: ~_allowed(q, k)),
    "the mask is aligned with the first key; give it fewer queries than keys":
        _with_mask(lambda q, k: causal_mask(q.shape[-2], k.shape[-2])),
    "the mask allows one key too many": _with_mask(partial(_allowed, shift=1)),
    "the mask comes after the softmax, so that the future is in the denominator":
        _with_weights(lambda s, m: masked_softmax(s) * m),
    "forbidden scores are 1e-9 instead of minus infinity":
        _with_weights(lambda s, m: masked_softmax(np.where(m, s, 1e-9))),
    "heads and queries are mixed up on the way out; give it more than one head": _viewed,
}  # fmt: skip


def _passes(test: Answer, attention: Attention) -> bool:
    """Say whether the attention passes; an error is a no."""
    try:
        verdict = test(attention)
    except Exception:
        return False
    if not isinstance(verdict, bool | np.bool_):
        fail(f"your test gives {named(verdict)}, wanted True or False")
    return bool(verdict)


check_test = Verdict(
    "`test(attention)`, True if an attention is right. The attention takes arrays (h, q, d), "
    "(h, k, d) and (h, k, v) with q <= k, and gives (h, q, v); its last query stands at the last "
    "key, and no query sees a later key. False, or an error, says that it is wrong.",
    suspects=[
        *(
            ((attention,), True, "your test rejects an attention that is right: is it too "
             "strict, or wrong?")
            for attention in (_causal, _causal_by_loops)
        ),
        *(
            ((mistake,), False, f"your test lets a mistake pass: {hint}")
            for hint, mistake in MISTAKES.items()
        ),
    ], ask=_passes,
)  # fmt: skip
