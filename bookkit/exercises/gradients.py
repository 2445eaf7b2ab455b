"""The exercises of "Gradients by hand", and the wrong backward passes that its pages try."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bookkit.exercises.answers import Answer, Numbers, refuse, softmax
from bookkit.exercises.exercise import Function, Several, Value
from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.scores import scaled_dot_score

Gradients = tuple[Numbers, Numbers, Numbers]
Backward = Callable[[Numbers, Numbers, Numbers, Numbers], Gradients]
"""From query, key, value and the gradient at the output to the gradients at the first three."""

PARTS = ("query", "key", "value")


def backward(
    query: Numbers, key: Numbers, value: Numbers, above: Numbers, *,
    mean: Callable[[Numbers, Numbers], Any] | None = None,
) -> Gradients:  # fmt: skip
    """Return the gradients of scaled dot-product attention, by hand.

    Args:
        query: (n, d).
        key: (n, d).
        value: (n, d).
        above: (n, d), the gradient at the output.
        mean: what is taken off the gradients at the weights, of these and the weights; by default
            their mean under the weights, which is right.

    >>> one = np.ones((1, 2))
    >>> backward(one, one, one, one)[2]
    array([[1., 1.]])
    """
    weights = _weights(query, key)
    at_products = _at_products(weights, query, above @ value.T, mean or _weighted_mean)
    return at_products @ key, at_products.T @ query, weights.T @ above


def _weights(query: Numbers, key: Numbers) -> Numbers:
    return masked_softmax(scaled_dot_score(query, key))


def _at_products(weights: Numbers, query: Numbers, at_weights: Numbers, mean: Answer) -> Any:
    """Return the gradients at the dot products, before the scale."""
    return weights * (at_weights - mean(weights, at_weights)) / math.sqrt(query.shape[-1])


def _weighted_mean(weights: Numbers, at_weights: Numbers) -> Any:
    return (weights * at_weights).sum(-1, keepdims=True)


def _mean(mean: Answer) -> Backward:
    return lambda *given: backward(*given, mean=mean)


def _changed(change: Answer) -> Backward:
    """Return a backward pass that changes the right gradients before it returns them."""
    return lambda *given: change(backward(*given), *given)


def _query_for_key(right: Gradients, q: Numbers, k: Numbers, v: Numbers, above: Numbers) -> Any:
    return _at_products(_weights(q, k), q, above @ v.T, _weighted_mean) @ q, *right[1:]


QUERY_AND_KEY = frozenset({"query", "key"})
MISTAKES: dict[str, tuple[Backward, frozenset[str]]] = {
    "the mean is left out": (_mean(lambda w, a: 0.0), QUERY_AND_KEY),
    "a plain mean, not the mean under the weights":
        (_mean(lambda w, a: a.mean(-1, keepdims=True)), QUERY_AND_KEY),
    "the mean is taken over the queries":
        (_mean(lambda w, a: (w * a).sum(-2, keepdims=True)), QUERY_AND_KEY),
    "the scale is left out": (
        _changed(lambda g, q, *_: (*(math.sqrt(q.shape[-1]) * one for one in g[:2]), g[2])),
        QUERY_AND_KEY,
    ),
    "the sign at the key is wrong":
        (_changed(lambda r, *_: (r[0], -r[1], r[2])), frozenset({"key"})),
    "the weights are not transposed at the value": (
        _changed(lambda r, q, k, v, a: (*r[:2], attend(_weights(q, k), a))),
        frozenset({"value"}),
    ),
    "the query stands where the key belongs": (_changed(_query_for_key), frozenset({"query"})),
}  # fmt: skip
"""Wrong backward passes, each with the gradients that are wrong; they run if all shapes agree."""


def lowers_loss(wrong: Backward, seed: int, *, n: int = 5, d: int = 4, rate: float = 0.01) -> bool:
    """Tell whether a step against some gradients lowers the loss from a random start.

    The loss is half the squared distance of attention's output from random numbers.

    >>> lowers_loss(backward, 0)
    True
    """
    query, key, value, wanted = np.random.default_rng(seed).normal(size=(4, n, d))
    before = scaled_dot_product_attention(query, key, value) - wanted
    found = wrong(query, key, value, before)
    moved = (x - rate * slope for x, slope in zip((query, key, value), found, strict=True))
    after = scaled_dot_product_attention(*moved) - wanted
    return bool((after**2).sum() < (before**2).sum())


MEMORY, WANTED = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]), np.array([2.0, 0.0])
SATURATED = softmax(np.array([3.0, 15.0, 4.0]))
AT_WEIGHTS = MEMORY @ (SATURATED @ MEMORY - WANTED)
CENTRED = AT_WEIGHTS - SATURATED @ AT_WEIGHTS

check_saturated = Value(
    "(3,) the gradients of half the squared distance at three scores, 3, 15 and 4, of which one "
    "takes nearly all the weight; the memory is (0, 1), (1, 1) and (2, 0), and (2, 0) is wanted.",
    right=SATURATED * CENTRED, mistakes={
        "those are the gradients at the weights: go one step further back": AT_WEIGHTS,
        "the mean under the weights is not taken off": SATURATED * AT_WEIGHTS,
        "the sign: the error is the blend less what was wanted": -SATURATED * CENTRED,
        "multiply by the weights at the end": CENTRED,
    }, axes="(3,)", rtol=1e-3, atol=1e-9,
)  # fmt: skip

WEIGHTS, FROM_ABOVE = np.array([0.5, 0.25, 0.25]), np.array([1.0, 3.0, -1.0])
KEYS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
OFF = FROM_ABOVE - WEIGHTS @ FROM_ABOVE

check_by_hand = Several(
    "A small backward pass by hand: the weights are 1/2, 1/4 and 1/4, the gradients at the weights "
    "are 1, 3 and -1, and the keys are (1, 0), (0, 1) and (1, 1); there is no scale.",
    at_scores=Value("(3,) the gradients at the scores.", right=WEIGHTS * OFF, mistakes={
        "the mean is missing: take it off before you multiply by the weights":
            WEIGHTS * FROM_ABOVE,
        "multiply by the weights, too": OFF,
        "the sign: it is the gradient less the mean": -WEIGHTS * OFF,
    }, axes="(3,)", atol=0.005),
    at_query=Value("(2,) the gradient at the query.", right=WEIGHTS * OFF @ KEYS, mistakes={
        "blend the keys with the gradients at the scores, not with the weights": WEIGHTS @ KEYS,
        "blend with the gradients at the scores, not with those at the weights":
            FROM_ABOVE @ KEYS,
    }, axes="(2,)", atol=0.005),
)  # fmt: skip

DICE = np.random.default_rng(6)

check_general = Function(
    "`general_backward(query, key, weight, at_scores)`, the way back through the general score, "
    "query @ weight @ key^T, from (q, d), (k, e), (d, e) and (q, k) to the gradients at query, key "
    "and weight.",
    right=lambda q, k, w, s: (s @ k @ w.T, s.T @ q @ w, q.T @ s @ k),
    cases=[[DICE.normal(size=shape) for shape in ((3, 2), (4, 5), (2, 5), (3, 4))]], parts={
        "query": {
            "those are the gradients at query @ weight: go on to the query":
                lambda q, k, w, s: s @ k,
        },
        "key": {
            "the matrix is missing": lambda q, k, w, s: s.T @ q,
            "the sign is wrong": lambda q, k, w, s: -s.T @ q @ w,
        },
        "weight": {
            "the gradient has the shape of the matrix: transpose it":
                lambda q, k, w, s: k.T @ s.T @ q,
            "every pair of a query and a key counts with its gradient":
                lambda q, k, w, s: np.outer(q.sum(0), k.sum(0)),
        },
    }, kind="three gradients: query, key, weight", why="Do the shapes meet? Transpose.", rtol=1e-6,
    atol=1e-9,
)  # fmt: skip

SUSPECTS = {"": (backward, frozenset[str]())} | MISTAKES


def _named(suspect: Backward) -> tuple[str, frozenset[str]]:
    """Return the name of a suspect, and the gradients that are wrong."""
    return next((name, wrong) for name, (one, wrong) in SUSPECTS.items() if one is suspect)


def _names(found: Any, *_: Backward) -> Any:
    if not isinstance(found, set | frozenset):
        refuse(found, 'a set, such as {"key"}, or set() if nothing is wrong')
    return found


def _listed(names: Any) -> str:
    return " and ".join(sorted(map(str, names)))


def _misjudged(found: Any, suspect: Backward) -> str:
    name, wrong = _named(suspect)
    if not name:
        return f"a backward pass that is right is turned down at {_listed(found)}"
    if missed := wrong - found:
        return f"a mistake passes: {name}, so that it is wrong at {_listed(missed)}"
    return f"{name}: that does no harm at {_listed(found - wrong)}"


check_wrong_parts = Function(
    "`wrong_parts(suspect)`, from a function `suspect(query, key, value, above)` that returns "
    'three gradients to the set of the names of those that are wrong: "query", "key" and "value". '
    "It is tried on a backward pass that is right, and on seven that are not.",
    right=lambda suspect: _named(suspect)[1],
    cases=[(suspect,) for suspect, _ in SUSPECTS.values()], examples={
        "a backward pass that is right is turned down at key": lambda suspect: {"key"},
        "a mistake passes: the mean is left out, so that it is wrong at key and query":
            lambda suspect: set(),
        "the mean is left out: that does no harm at value":
            lambda suspect: set() if suspect is backward else set(PARTS),
    }, read=_names, otherwise=_misjudged,
)  # fmt: skip
