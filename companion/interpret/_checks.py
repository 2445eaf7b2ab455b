"""What every test of an explanation asks of its tensors."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.arrays import broadcasts_to


def check_weights(**tensors: Tensor) -> None:
    """Refuse what is not a tensor of floating numbers over at least one word.

    Raises:
        TypeError: no tensor, or no floating numbers.
        ValueError: no axis of words, or one of size 0.

    >>> check_weights(weights=torch.ones(3, 0))
    Traceback (most recent call last):
    ValueError: weights: got shape (3, 0), wanted (..., k) with k at least 1
    """
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}: got {type(tensor).__name__}, wanted a tensor")
        if not tensor.is_floating_point():
            raise TypeError(f"{name}: got dtype {tensor.dtype}, wanted a floating dtype")
        if tensor.ndim == 0 or tensor.shape[-1] == 0:
            raise ValueError(
                f"{name}: got shape {tuple(tensor.shape)}, wanted (..., k) with k at least 1"
            )


def check_same_shape(first: str, reference: Tensor, **tensors: Tensor) -> None:
    """Refuse tensors that are shaped differently from a reference.

    Args:
        first: the reference's name, for the message.
        reference: a tensor.
        **tensors: the others, under the names of their arguments.

    Raises:
        ValueError: another shape.

    >>> check_same_shape("a", torch.ones(2), b=torch.ones(3))
    Traceback (most recent call last):
    ValueError: b: got shape (3,), wanted (2,), the shape of a
    """
    for name, tensor in tensors.items():
        if tensor.shape != reference.shape:
            raise ValueError(
                f"{name}: got shape {tuple(tensor.shape)}, wanted {tuple(reference.shape)}, "
                f"the shape of {first}"
            )


def checked_mask(mask: Tensor | None, weights: Tensor) -> Tensor:
    """Return a boolean mask in the shape of the weights; None allows every word.

    Raises:
        TypeError: a mask that is not boolean.
        ValueError: a shape that does not stretch to that of the weights.

    >>> checked_mask(None, torch.ones(2)).tolist()
    [True, True]
    """
    if mask is None:
        return torch.ones_like(weights, dtype=torch.bool)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"mask: got {came}, wanted a boolean tensor, True = may attend")
    if not broadcasts_to(tuple(mask.shape), tuple(weights.shape)):
        raise ValueError(
            f"mask: got shape {tuple(mask.shape)}, wanted one that broadcasts to "
            f"{tuple(weights.shape)}"
        )
    return mask.expand(weights.shape)
