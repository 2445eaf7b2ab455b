"""A layer of attention with mistakes that raise no error, and the checks that look for them.

The layer is causal self-attention in several heads, for arrays and tensors. Without a mistake it
is what `companion.layers.MultiHeadAttention` computes, which a test holds it to.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bookkit.playables.switchboard import SWITCHES
from companion.attention import attend, masked_softmax
from companion.masks import causal_mask
from companion.scores import scaled_dot_score

MISTAKES = tuple(SWITCHES)
CHECKS = ("shape", "gradient", "rows", "future", "order", "cache", "loops")
"""What looks for a mistake, from what asks the least to what asks the most."""
TOLERANCE = 1e-9

_SHIFTS = {"one word too many": 1, "one word too few": -1}
_ON_THE_MASK: Mapping[str, Callable[[Any, Any], Any]] = {
    "no mask": lambda scores, allowed: masked_softmax(scores),
    "mask upside down": lambda scores, allowed: masked_softmax(scores, ~allowed),
    "1e-9 for -1e9": lambda scores, allowed: masked_softmax(scores * allowed + 1e-9 * ~allowed),
    "masked too late": lambda scores, allowed: masked_softmax(scores) * allowed,
    "softmax over queries": lambda scores, allowed: masked_softmax(scores.mT, allowed.mT).mT,
}


def weigh(query: Any, key: Any, mistake: str = "", *, causal: bool = True) -> Any:
    """Turn queries and keys into weights, with a mistake if there is one.

    Args:
        query: (..., q, d).
        key: (..., k, d); the last query stands at the last key.
        mistake: one of `MISTAKES`; "" for none.
        causal: whether a query may see no later key; without it no mask is at fault.

    >>> weigh(np.zeros((2, 1)), np.zeros((2, 1)), "one word too few")
    array([[0., 0.],
           [1., 0.]])
    """
    if mistake == "query and key swapped":
        query, key = key, query
    scores = scaled_dot_score(query, key, scale=1.0 if mistake == "no scale" else None)
    q_len, k_len = scores.shape[-2:]
    offset = k_len - q_len + _SHIFTS.get(mistake, 0)
    if mistake == "first-key corner":
        offset = 0
    if not causal:
        offset = k_len
    allowed = causal_mask(q_len, k_len, offset=offset, like=scores)
    if mistake not in _ON_THE_MASK or (not causal and mistake == "mask upside down"):
        return masked_softmax(scores, allowed)
    return _ON_THE_MASK[mistake](scores, allowed)


def layer_with(
    mistake: str, x: Any, weights: Mapping[str, Any], heads: int, *, causal: bool = True,
    last: int | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Let every word look at the words before it, with a mistake if there is one.

    Args:
        mistake: one of `MISTAKES`; "" for none.
        x: (n, e) words.
        weights: matrices "query", "key" and "value", (e, h * d), and "output", (h * d, e).
        heads: their number h.
        causal: whether a word may see none that comes later.
        last: how many of the last words ask, as with a cache; None means all.

    Returns:
        (q, e), and the weights (h, q, k).

    Raises:
        ValueError: shapes do not meet, which some mistakes lead to where there are fewer queries
            than keys.

    >>> same = dict.fromkeys(("query", "key", "value", "output"), np.eye(2))
    >>> layer_with("no mask", np.eye(2), same, 1)[0].round(2)
    array([[0.67, 0.33],
           [0.33, 0.67]])
    """
    asking = x if last is None else x[-last:]
    views = mistake == "heads by a view"
    projected = asking @ weights["query"], x @ weights["key"], x @ weights["value"]
    query, key, value = (_cut(part, heads, views) for part in projected)
    found = weigh(query, key, mistake, causal=causal)
    blend = attend(found, value)
    if not (views or mistake == "joined by a view"):
        blend = blend.swapaxes(0, 1)
    return blend.reshape(-1, projected[0].shape[-1]) @ weights["output"], found


def _cut(rows: Any, heads: int, by_view: bool) -> Any:
    """Cut (n, h * d) into heads (h, n, d)."""
    n = len(rows)
    if by_view:
        return rows.reshape(heads, n, -1)
    return rows.reshape(n, heads, -1).swapaxes(0, 1)


def differences(
    mistake: str, x: Any, weights: Mapping[str, Any], heads: int, *, other: Any, wanted: Any
) -> dict[str, float]:
    """Measure by how much a layer, as of `layer_with`, fails each check but that of the gradient.

    Args:
        other: (e,) what the last word is changed to.
        wanted: (n, e) the right output, by another program.

    Returns:
        The largest difference, by check; infinite where a shape is wrong or an error is raised.
    """

    def run(x: Any, **options: Any) -> Any:
        return layer_with(mistake, x, weights, heads, **options)[0]

    output, found = layer_with(mistake, x, weights, heads)
    later, turned = np.concatenate([x[:-1], other[None]]), np.roll(x, -1, axis=0)
    try:
        two = run(x, last=2)
    except ValueError:
        two = np.empty((0, 0))
    return {
        "shape": 0.0 if output.shape == x.shape else math.inf,
        "rows": float(abs(found.sum(-1) - 1).max()),
        "future": largest_difference(run(later)[:-1], output[:-1]),
        "order": largest_difference(
            run(turned, causal=False), np.roll(run(x, causal=False), -1, axis=0)
        ),
        "cache": largest_difference(two, output[-2:]),
        "loops": largest_difference(output, wanted),
    }


def largest_difference(one: Any, other: Any) -> float:
    """Return the largest difference of two arrays; infinite if their shapes are not the same.

    >>> largest_difference(np.ones(2), np.zeros(2)), largest_difference(np.ones(2), np.ones(3))
    (1.0, inf)
    """
    return float(abs(one - other).max()) if one.shape == other.shape else math.inf


def gradient_is_right(mistake: str, x: Any, weights: Mapping[str, Any], heads: int) -> bool:
    """Tell whether autograd agrees with central differences on a layer with a mistake."""
    import torch

    matrices = {name: torch.tensor(matrix) for name, matrix in weights.items()}
    leaf = torch.tensor(x).requires_grad_()
    return torch.autograd.gradcheck(
        lambda t: layer_with(mistake, t, matrices, heads)[0],
        leaf,
        fast_mode=True,  # along one random direction, not entry by entry
        raise_exception=False,
    )


def found_by(
    mistake: str, x: Any, weights: Mapping[str, Any], heads: int, *, other: Any, wanted: Any
) -> dict[str, bool]:
    """Tell of every check whether it finds something wrong; the arguments of `differences`."""
    sizes = differences(mistake, x, weights, heads, other=other, wanted=wanted)
    gradient = not gradient_is_right(mistake, x, weights, heads)
    finds = {check: size > TOLERANCE for check, size in sizes.items()} | {"gradient": gradient}
    return {check: finds[check] for check in CHECKS}
