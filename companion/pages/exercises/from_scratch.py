"""Check functions of "From scratch".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companion.attention import attend, masked_softmax, scaled_dot_product_attention
from companion.masks import causal_mask
from companion.pages.exercises.answers import as_number, called, fail, named
from companion.scores import dot_score

Numbers = NDArray[np.float64]
Attention = Callable[[Numbers, Numbers, Numbers], Numbers]


def check_softmax_backward(softmax_backward: Callable[..., Any]) -> None:
    """Check the way back through a softmax over the last axis.

    Args:
        softmax_backward: `softmax_backward(weights, gradient)`, from the weights and the gradient
            at them, both (h, q, k), to the gradient at the scores.

    Raises:
        AssertionError: the gradient is wrong; the message hints at the cause.
    """
    generator = np.random.default_rng(3)
    weights = masked_softmax(generator.normal(size=(2, 3, 5)))
    gradient = generator.normal(size=(2, 3, 5))
    right = np.empty_like(gradient)
    for row in np.ndindex(2, 3):
        jacobian = np.diag(weights[row]) - np.outer(weights[row], weights[row])
        right[row] = jacobian @ gradient[row]
    product = weights * gradient
    mistakes = {
        "only the diagonal of the Jacobian's first part: raising one score lowers the other "
        "weights, too": product,
        "that is the derivative of a sigmoid: the other keys of the row are missing": (
            product * (1 - weights)
        ),
        "the row's sum is taken off, but not times the weights": (
            product - product.sum(-1, keepdims=True)
        ),
        "the mean under the weights is a sum of weights times gradients; you have a plain mean": (
            weights * (gradient - gradient.mean(-1, keepdims=True))
        ),
        "the plain sum of the gradients is taken off: weigh them": (
            weights * (gradient - gradient.sum(-1, keepdims=True))
        ),
        "the sum goes over the queries; it belongs over the keys, the last axis": (
            weights * (gradient - product.sum(-2, keepdims=True))
        ),
        "the sum goes over everything; each row has its own": (
            weights * (gradient - product.sum())
        ),
        "the sign is wrong": -right,
    }
    got = called(softmax_backward, weights.copy(), gradient.copy())
    _compare(got, right, mistakes, "", "(h, q, k)")
    print("Right.")


def check_grouped_gradient(grouped_gradient: Callable[..., Any]) -> None:
    """Check the gradients of attention whose query heads share keys and values.

    Args:
        grouped_gradient: `grouped_gradient(query, key, value, gradient)`, from (h, q, d),
            (g, k, d), (g, k, v) and the gradient at the output, (h, q, v), to the gradients at
            query, key and value, each of the shape of what it belongs to.

    Raises:
        AssertionError: a gradient is wrong; the message hints at the cause.
    """
    h, g, q, k, d, v = 6, 3, 4, 5, 7, 2
    generator = np.random.default_rng(4)
    query, key, value, gradient = (
        generator.normal(size=shape) for shape in ((h, q, d), (g, k, d), (g, k, v), (h, q, v))
    )
    owner = np.arange(h) * g // h
    scale = d**-0.5
    weights = masked_softmax(scale * dot_score(query, key[owner]))
    at_weights = dot_score(gradient, value[owner])
    mean = (weights * at_weights).sum(-1, keepdims=True)
    at_scores = weights * (at_weights - mean)
    each = {
        "query": scale * at_scores @ key[owner],
        "key": scale * at_scores.mT @ query,
        "value": weights.mT @ gradient,
    }
    right = {
        name: part if name == "query" else part.reshape(g, h // g, *part.shape[1:]).sum(1)
        for name, part in each.items()
    }
    got = called(grouped_gradient, query.copy(), key.copy(), value.copy(), gradient.copy())
    if not isinstance(got, tuple | list) or len(got) != 3:
        fail(f"got {named(got)}, wanted three gradients: query, key, value")
    for name, part in zip(right, got, strict=True):
        wanted = right[name]
        mistakes = {"the scale is missing on the way back": wanted / scale}
        if name != "query":
            in_turns = each[name].reshape(h // g, g, *each[name].shape[1:]).sum(0)
            mistakes |= {
                "what the query heads of a group ask for is added, not averaged": wanted * g / h,
                "heads are shared by neighbours, [g0, g0, g1, g1]; you add them in turns": in_turns,
                "a gradient for each query head: those that share a head are added": each[name],
            }
        if name != "value":
            other = at_scores + weights * mean
            unshifted = {"query": other @ key[owner], "key": other.mT @ query}[name] * scale
            if name == "key":
                unshifted = unshifted.reshape(g, h // g, k, d).sum(1)
            mistakes["the row's mean, D, is not taken off"] = unshifted
        _compare(part, wanted, mistakes, f"{name}: ", f"{wanted.shape}")
    print("Right.")


def check_complex_step(complex_step: Callable[..., Any]) -> None:
    """Check a derivative that is taken by one step along the imaginary axis.

    Args:
        complex_step: `complex_step(function, x)`, from a function that takes complex numbers and
            a real place to the derivative there, right to 13 digits.

    Raises:
        AssertionError: a derivative is wrong or not exact enough; the message hints at the cause.
    """
    places: tuple[tuple[Callable[[Any], Any], float, float], ...] = (
        (lambda z: np.exp(2 * z), 1.5, 2 * math.exp(3.0)),
        (lambda z: z**3 / (1 + np.exp(-z)), 0.7, _cubed_sigmoid_slope(0.7)),
    )
    for function, x, right in places:
        got = called(complex_step, function, x)
        if isinstance(got, complex | np.complexfloating):
            fail("got a complex number: the derivative is in its imaginary part")
        number = as_number(got)
        if math.isclose(number, right, rel_tol=1e-13):
            continue
        if math.isclose(number, float(np.real(function(x))), rel_tol=1e-6):
            fail("that is the function itself: the derivative is in the imaginary part")
        if math.isclose(number, right, rel_tol=1e-4):
            fail(
                f"got {number!r}, and the derivative is {right!r}: nothing cancels here, so take a "
                "step so small that its square is nothing, such as 1e-30"
            )
        if abs(number) < 1e-3 * abs(right):
            fail("too small: divide by the step")
        fail(f"got {number:g}, the derivative is {right:g}")
    print("Right.")


def _cubed_sigmoid_slope(x: float) -> float:
    sigmoid = 1 / (1 + math.exp(-x))
    return 3 * x**2 * sigmoid + x**3 * sigmoid * (1 - sigmoid)


def check_test(test: Callable[..., Any]) -> None:
    """Check a test of causal attention: it passes what is right, and finds what is not.

    Args:
        test: `test(attention)`, to True if the attention is right. The attention takes arrays
            (h, q, d), (h, k, d) and (h, k, v) with q <= k, and gives (h, q, v); its last query
            stands at the last key, and no query sees a later key. False, or an error, says that
            it is wrong.

    Raises:
        AssertionError: the test turns down what is right, or lets a mistake pass.
    """
    for attention in (_causal, _causal_by_loops):
        if not _passes(test, attention):
            fail("your test turns down an attention that is right: is it too strict, or wrong?")
    for hint, mistake in MISTAKES.items():
        if _passes(test, mistake):
            fail(f"your test lets a mistake pass: {hint}")
    print("Right.")


def _passes(test: Callable[..., Any], attention: Attention) -> bool:
    """Say whether the attention passes; an error is a no."""
    try:
        verdict = test(attention)
    except Exception:
        return False
    if not isinstance(verdict, bool | np.bool_):
        fail(f"your test gives {named(verdict)}, wanted True or False")
    return bool(verdict)


def _allowed(query: Numbers, key: Numbers, shift: int = 0) -> NDArray[np.bool_]:
    q, k = query.shape[-2], key.shape[-2]
    allowed: NDArray[np.bool_] = causal_mask(q, k, offset=k - q + shift)
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


def _over_queries(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    scores, allowed = _scores(query, key), _allowed(query, key)
    return attend(masked_softmax(scores.mT, allowed.mT).mT, value)


def _swapped(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    return attend(masked_softmax(_scores(key, query), _allowed(query, key)), value)


def _late(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    return attend(masked_softmax(_scores(query, key)) * _allowed(query, key), value)


def _tiny(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    scores = np.where(_allowed(query, key), _scores(query, key), 1e-9)
    return attend(masked_softmax(scores), value)


def _viewed(query: Numbers, key: Numbers, value: Numbers) -> Numbers:
    output = _causal(query, key, value)
    h, q, v = output.shape
    return output.reshape(q, h, v).transpose(1, 0, 2)


MISTAKES: dict[str, Attention] = {
    "no scale": lambda query, key, value: attend(
        masked_softmax(dot_score(query, key), _allowed(query, key)), value
    ),
    "the scale is that of the values' width; give keys and values different widths": (
        lambda query, key, value: attend(
            masked_softmax(
                dot_score(query, key) / math.sqrt(value.shape[-1]), _allowed(query, key)
            ),
            value,
        )
    ),
    "the softmax goes over the queries": _over_queries,
    "query and key are swapped, which stops with an error only where their numbers differ": (
        _swapped
    ),
    "no mask": lambda query, key, value: attend(masked_softmax(_scores(query, key)), value),
    "the mask is upside down": lambda query, key, value: attend(
        masked_softmax(_scores(query, key), ~_allowed(query, key)), value
    ),
    "the mask is aligned with the first key; give it fewer queries than keys": (
        lambda query, key, value: attend(
            masked_softmax(_scores(query, key), causal_mask(query.shape[-2], key.shape[-2])), value
        )
    ),
    "the mask allows one key too many": lambda query, key, value: attend(
        masked_softmax(_scores(query, key), _allowed(query, key, shift=1)), value
    ),
    "the mask comes after the softmax, so that the future is in the denominator": _late,
    "forbidden scores are 1e-9 instead of minus infinity": _tiny,
    "heads and queries are mixed up on the way out; give it more than one head": _viewed,
}


def _compare(got: Any, wanted: Numbers, mistakes: dict[str, Numbers], name: str, axes: str) -> None:
    """Fail with the hint of the known wrong array that was given, if it is one."""
    try:
        array = np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"{name}got {named(got)}, wanted an array {axes}")
    if array.ndim == 0:
        fail(f"{name}got {named(got)}, wanted an array {axes}")
    if array.shape == wanted.shape and np.allclose(array, wanted, rtol=1e-6, atol=1e-9):
        return
    for hint, wrong in mistakes.items():
        if array.shape == wrong.shape and np.allclose(array, wrong, rtol=1e-6, atol=1e-9):
            fail(name + hint)
    if array.shape != wanted.shape:
        fail(f"{name}got shape {array.shape}, wanted {wanted.shape}")
    fail(f"{name}the shape is right, the numbers are not")
