"""Check functions of "From scratch".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Numbers, fail
from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.masks import causal_mask
from companion.scores import dot_score

Flags = NDArray[np.bool_]
Attention = Callable[[Numbers, Numbers, Numbers], Numbers]
NO_SCALE = "the scale is missing on the way back"
SWAPPED = "query and key are swapped, which stops with an error only where their numbers differ"


def check_kept(kept: Any) -> None:
    """Check which words keep their output when a causal mask is left out.

    Args:
        kept: the list of these words, of "she works in the new house".
    """
    sentence = ["she", "works", "in", "the", "new", "house"]
    if not isinstance(kept, list | tuple | set) or not all(isinstance(one, str) for one in kept):
        fail(f"got {answers.named(kept)}, wanted a list of words")
    given = set(kept)
    if unknown := given - set(sentence):
        fail(f"got {', '.join(sorted(unknown))}, wanted words of the sentence: {sentence}")
    if not given:
        fail("got no word: one of them sees all six words with the mask already")
    if "she" in given:
        fail("she sees only itself with the mask, and all six words without it")
    if given != {"house"}:
        fail("a word keeps its output only if the mask hides nothing from it")
    print("Right.")


def check_columns(weights: Any, sums: Any) -> None:
    """Check the weights of three words with equal scores, if the softmax goes down the columns.

    Args:
        weights: (3, 3), a row for each query; the mask is causal.
        sums: (3,), what the rows sum to.
    """
    allowed = causal_mask(3, like=np.zeros(1))
    right = masked_softmax(np.zeros((3, 3)), allowed.T).T
    by_rows = masked_softmax(np.zeros((3, 3)), allowed)
    ahead = masked_softmax(np.zeros((3, 3)), allowed.T)
    mistakes = {
        "the rows sum to 1, as they should: here the columns do, by mistake": by_rows,
        "queries and keys are exchanged: a row is a query, a column a key": ahead,
        "the mask is still there: a word that comes later has the weight 0": np.full((3, 3), 1 / 3),
    }
    parts = {
        "weights": (right, mistakes),
        "sums": (
            right.sum(1),
            {
                "these are the sums of the columns, which are 1; add up each row": np.ones(3),
                "from the first query to the last, please": right.sum(1)[::-1],
            },
        ),
    }
    answers.compare_parts((weights, sums), parts, "weights and sums", rtol=0, atol=0.006)
    print("Right.")


def check_grouped_gradient(grouped_gradient: Answer) -> None:
    """Check the gradients of attention whose query heads share keys and values.

    Args:
        grouped_gradient: `grouped_gradient(query, key, value, gradient)`, from (h, q, d),
            (g, k, d), (g, k, v) and the gradient at the output, (h, q, v), to the gradients at
            query, key and value, each of the shape of what it belongs to.
    """
    h, g, q, k, d, v = 6, 3, 4, 5, 7, 2
    generator = np.random.default_rng(4)
    shapes = (h, q, d), (g, k, d), (g, k, v), (h, q, v)
    query, key, value, gradient = (generator.normal(size=shape) for shape in shapes)
    owner, scale = np.arange(h) * g // h, d**-0.5
    weights = masked_softmax(scale * dot_score(query, key[owner]))
    at_weights = dot_score(gradient, value[owner])
    mean = (weights * at_weights).sum(-1, keepdims=True)
    at_scores = scale * weights * (at_weights - mean)
    unshifted = scale * weights * at_weights
    of_query = at_scores @ key[owner]
    of_keys, of_values = at_scores.mT @ query, weights.mT @ gradient
    no_mean = "the row's mean, D, is not taken off"
    parts = {
        "query": (of_query, {NO_SCALE: of_query / scale, no_mean: unshifted @ key[owner]}),
        "key": _of_groups(of_keys, g, scale),
        "value": _of_groups(of_values, g, scale),
    }
    parts["key"][1][no_mean] = _of_groups(unshifted.mT @ query, g, scale)[0]
    got = answers.called(grouped_gradient, query, key, value, gradient)
    wanted = "three gradients: query, key, value"
    answers.compare_parts(got, parts, wanted, rtol=1e-6, atol=1e-9)
    print("Right.")


def _of_groups(of_heads: Numbers, g: int, scale: float) -> tuple[Numbers, dict[str, Numbers]]:
    """Add the gradients of the query heads that share a key or value head."""
    h, *rest = of_heads.shape
    right = of_heads.reshape(g, h // g, *rest).sum(1)
    alternating = of_heads.reshape(h // g, g, *rest).sum(0)
    return right, {
        NO_SCALE: right / scale,
        "what the query heads of a group ask for is added, not averaged": right * g / h,
        "heads are shared by neighbours, [g0, g0, g1, g1]; you add them in turns": alternating,
        "a gradient for each query head: those that share a head are added": of_heads,
    }


def check_test(test: Answer) -> None:
    """Check a test of causal attention: it passes what is right, and finds what is not.

    Args:
        test: `test(attention)`, to True if the attention is right. The attention takes arrays
            (h, q, d), (h, k, d) and (h, k, v) with q <= k, and gives (h, q, v); its last query
            stands at the last key, and no query sees a later key. False, or an error, says that
            it is wrong.
    """
    for attention in (_causal, _causal_by_loops):
        if not _passes(test, attention):
            fail("your test turns down an attention that is right: is it too strict, or wrong?")
    for hint, mistake in MISTAKES.items():
        if _passes(test, mistake):
            fail(f"your test lets a mistake pass: {hint}")
    print("Right.")


def _passes(test: Answer, attention: Attention) -> bool:
    """Say whether the attention passes; an error is a no."""
    try:
        verdict = test(attention)
    except Exception:
        return False
    if not isinstance(verdict, bool | np.bool_):
        fail(f"your test gives {answers.named(verdict)}, wanted True or False")
    return bool(verdict)


def _allowed(query: Numbers, key: Numbers, shift: int = 0) -> Flags:
    q, k = query.shape[-2], key.shape[-2]
    allowed: Flags = causal_mask(q, k, offset=k - q + shift)
    return allowed


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
    return lambda query, key, value: scaled_dot_product_attention(
        query, key, value, _allowed(query, key), scale=scale(value)
    )


def _with_mask(mask: Callable[[Numbers, Numbers], Flags]) -> Attention:
    return lambda query, key, value: scaled_dot_product_attention(
        query, key, value, mask(query, key)
    )


def _with_weights(weights: Callable[[Numbers, Flags], Numbers]) -> Attention:
    """Make attention whose weights are a function of scaled scores and a causal mask."""
    return lambda query, key, value: attend(
        weights(_scores(query, key), _allowed(query, key)), value
    )


def _swapped(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    return attend(masked_softmax(_scores(key, query), _allowed(query, key)), value)


def _viewed(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    output = _causal(query, key, value)
    h, q, v = output.shape
    return output.reshape(q, h, v).transpose(1, 0, 2)


MISTAKES: dict[str, Attention] = {
    "no scale": _with_scale(lambda value: 1.0),
    "the scale is that of the values' width; give keys and values different widths": (
        _with_scale(lambda value: value.shape[-1] ** -0.5)
    ),
    "the softmax goes over the queries": (
        _with_weights(lambda scores, allowed: masked_softmax(scores.mT, allowed.mT).mT)
    ),
    SWAPPED: _swapped,
    "no mask": scaled_dot_product_attention,
    "the mask is upside down": _with_mask(lambda query, key: ~_allowed(query, key)),
    "the mask is aligned with the first key; give it fewer queries than keys": (
        _with_mask(lambda query, key: causal_mask(query.shape[-2], key.shape[-2]))
    ),
    "the mask allows one key too many": _with_mask(partial(_allowed, shift=1)),
    "the mask comes after the softmax, so that the future is in the denominator": (
        _with_weights(lambda scores, allowed: masked_softmax(scores) * allowed)
    ),
    "forbidden scores are 1e-9 instead of minus infinity": (
        _with_weights(lambda scores, allowed: masked_softmax(np.where(allowed, scores, 1e-9)))
    ),
    "heads and queries are mixed up on the way out; give it more than one head": _viewed,
}
