"""Other weights for the same words: erased, permuted, uniform."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from companion.interpret._checks import check_weights, checked_mask


def top_places(weights: Tensor) -> Tensor:
    """Return where the largest weight stands; of equal weights the first counts.

    Args:
        weights: (..., k).

    Returns:
        (...) places.

    Raises:
        TypeError: no tensor of floating numbers.
        ValueError: no words.

    >>> top_places(torch.tensor([[0.2, 0.8], [0.9, 0.1]]))
    tensor([1, 0])
    """
    check_weights(weights=weights)
    return weights.argmax(-1)


def other_places(
    weights: Tensor, mask: Tensor | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Draw a word that does not carry the largest weight, all others alike.

    It is what erasing the largest weight is held against. Where there is no other word, it is the
    only one.

    Args:
        weights: (..., k).
        mask: boolean, broadcast to (..., k), True = a word stands there. None allows all.
        generator: where the random numbers come from.

    Returns:
        (...) places.

    Raises:
        TypeError: no tensor of floating numbers, or a mask that is not boolean.
        ValueError: shapes that do not fit.

    >>> other_places(torch.tensor([[0.2, 0.8], [0.9, 0.1]]))
    tensor([0, 1])
    """
    check_weights(weights=weights)
    words = checked_mask(mask, weights)
    keys = torch.rand(weights.shape, generator=generator)
    top = top_places(weights.masked_fill(~words, -torch.inf))
    keys = keys.scatter(-1, top[..., None], -1.0).masked_fill(~words, -2.0)
    return keys.argmax(-1)


def erased(weights: Tensor, places: Tensor) -> Tensor:
    """Set one weight of every row to 0 and let the others sum to 1 (Serrano and Smith, 2019).

    Args:
        weights: (..., k).
        places: (...) integers, one a row.

    Returns:
        (..., k) weights; zeros where no other word has any.

    Raises:
        TypeError: no tensor of floating numbers, or places that are no integers.
        ValueError: not one place a row.

    >>> erased(torch.tensor([0.5, 0.3, 0.2]), torch.tensor(0)).round(decimals=3)
    tensor([0.0000, 0.6000, 0.4000])
    """
    check_weights(weights=weights)
    if not isinstance(places, Tensor) or places.dtype != torch.int64:
        came = places.dtype if isinstance(places, Tensor) else type(places).__name__
        raise TypeError(f"places: got {came}, wanted a tensor of 64-bit integers")
    if places.shape != weights.shape[:-1]:
        raise ValueError(
            f"places: got shape {tuple(places.shape)}, wanted {tuple(weights.shape[:-1])}, "
            "one a row of weights"
        )
    left = weights.scatter(-1, places[..., None], 0.0)
    total = left.sum(-1, keepdim=True)
    return left / torch.where(total > 0, total, 1.0)


def permuted_weights(
    weights: Tensor, mask: Tensor | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Deal the weights of every row out to its words anew, at random (Jain and Wallace, 2019).

    Args:
        weights: (..., k).
        mask: boolean, broadcast to (..., k), True = a word stands there. None allows all.
        generator: where the random numbers come from.

    Returns:
        (..., k) the same weights in another order; what the mask forbids keeps its place.

    Raises:
        TypeError: no tensor of floating numbers, or a mask that is not boolean.
        ValueError: shapes that do not fit.

    >>> permuted_weights(torch.tensor([0.5, 0.3, 0.2])).sort().values
    tensor([0.2000, 0.3000, 0.5000])
    """
    check_weights(weights=weights)
    words = checked_mask(mask, weights)
    places = torch.arange(weights.shape[-1]).expand(weights.shape)
    keys = torch.rand(weights.shape, generator=generator)
    # Words come first in both orders, so the n-th word in place gets the n-th one drawn.
    drawn = keys.masked_fill(~words, 2.0).argsort(dim=-1, stable=True)
    in_place = places.masked_fill(~words, weights.shape[-1]).argsort(dim=-1, stable=True)
    return torch.empty_like(weights).scatter(-1, in_place, weights.gather(-1, drawn))


def uniform_weights(mask: Tensor, *, dtype: torch.dtype | None = None) -> Tensor:
    """Give every word of a row the same weight.

    Args:
        mask: (..., k) boolean, True = a word stands there.
        dtype: of the weights; by default torch's.

    Returns:
        (..., k) weights that sum to 1, or zeros in a row without words.

    Raises:
        TypeError: a mask that is not boolean.
        ValueError: no axis of words.

    >>> uniform_weights(torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"mask: got {came}, wanted a boolean tensor, True = may attend")
    if mask.ndim == 0:
        raise ValueError("mask: got shape (), wanted (..., k)")
    ones = mask.to(dtype or torch.get_default_dtype())
    return ones / ones.sum(-1, keepdim=True).clamp(min=1.0)
