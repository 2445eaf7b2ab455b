"""What contracts do not say about explanations: equal shapes, what a function gave, the words."""

from __future__ import annotations

import torch
from torch import Tensor


def check_same_shape(**tensors: Tensor) -> None:
    """Refuse a second argument of another shape than the first, even if they would broadcast.

    >>> check_same_shape(a=torch.ones(2), b=torch.ones(1))
    Traceback (most recent call last):
    ValueError: b: got shape (1,), wanted (2,) as of a
    """
    (first, x), (second, other) = tensors.items()
    wanted, shape = tuple(x.shape), tuple(other.shape)
    if shape != wanted:
        raise ValueError(
            f"{second}: got shape {shape}, wanted {wanted} as of {first}"
        )


def distributions(name: str, output: object) -> Tensor:
    """Return what a function gave, or refuse what is no tensor of floating numbers (..., c).

    >>> distributions("read", torch.ones(3, 0))
    Traceback (most recent call last):
    ValueError: read: got shape (3, 0), wanted (..., c) with c at least 1
    """
    if not isinstance(output, Tensor):
        raise TypeError(
            f"{name}: got {type(output).__name__}, wanted a tensor"
        )
    if not output.is_floating_point():
        raise TypeError(
            f"{name}: got dtype {output.dtype}, wanted a floating dtype"
        )
    if output.ndim == 0 or output.shape[-1] == 0:
        raise ValueError(
            f"{name}: got shape {tuple(output.shape)}, wanted (..., c) with c at least 1"
        )
    return output


def allowed_words(mask: Tensor | None, weights: Tensor) -> Tensor:
    """Return a mask in the shape of the weights; None allows every word.

    >>> allowed_words(None, torch.ones(2)).tolist()
    [True, True]
    """
    if mask is None:
        return torch.ones_like(weights, dtype=torch.bool)
    return mask.expand(weights.shape)
