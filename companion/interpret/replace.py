"""Other weights for the same words: erased, permuted, uniform."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from companion.contracts import contract
from companion.interpret._checks import allowed_words


@contract(weights="... k", k=">= 1")
def top_places(weights: Tensor) -> Tensor:
    """Return the position of the largest weight; of equal weights the first counts.

    Returns:
        (...) positions.

    >>> top_places(torch.tensor([[0.2, 0.8], [0.9, 0.1]]))
    tensor([1, 0])
    """
    return weights.argmax(-1)


@contract(weights="... k", mask="booleans: ~... ~k", k=">= 1")
def other_places(
    weights: Tensor,
    mask: Tensor | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Draw the position of a word that does not carry the largest weight, all others alike.

    Erasing the largest weight is compared with erasing this one. Where there is no other word, it
    is the only one.

    Args:
        mask: True = a word stands there; None allows all.
        generator: where the random numbers come from.

    Returns:
        (...) positions.

    >>> other_places(torch.tensor([[0.2, 0.8], [0.9, 0.1]]))
    tensor([0, 1])
    """
    words = allowed_words(mask, weights)
    keys = torch.rand(weights.shape, generator=generator)
    top = top_places(weights.masked_fill(~words, -torch.inf))
    keys = keys.scatter(-1, top[..., None], -1.0).masked_fill(~words, -2.0)
    return keys.argmax(-1)


def _check_places(weights: Tensor, places: Tensor) -> None:
    """Refuse other than one place for each row of weights."""
    if places.dtype != torch.int64:
        raise TypeError(
            f"places: got dtype {places.dtype}, wanted 64-bit integers"
        )
    if places.shape != weights.shape[:-1]:
        raise ValueError(
            f"places: got shape {tuple(places.shape)}, wanted {tuple(weights.shape[:-1])}, "
            "one for each row of weights"
        )


@contract(weights="... k", places="any: ...", k=">= 1")
def erased(weights: Tensor, places: Tensor) -> Tensor:
    """Set one weight of every row to 0 and let the others sum to 1 (Serrano and Smith, 2019).

    Args:
        places: position of the weight in every row.

    Returns:
        (..., k) weights; zeros where no other word has any.

    >>> erased(torch.tensor([0.5, 0.3, 0.2]), torch.tensor(0)).round(decimals=3)
    tensor([0.0000, 0.6000, 0.4000])
    """
    _check_places(weights, places)
    left = weights.scatter(-1, places[..., None], 0.0)
    total = left.sum(-1, keepdim=True)
    return left / torch.where(total > 0, total, 1.0)


@contract(weights="... k", mask="booleans: ~... ~k", k=">= 1")
def permuted_weights(
    weights: Tensor,
    mask: Tensor | None = None,
    *,
    generator: Generator | None = None,
) -> Tensor:
    """Deal the weights of every row out to its words anew, at random (Jain and Wallace, 2019).

    Args:
        mask: True = a word stands there; None allows all.
        generator: where the random numbers come from.

    Returns:
        (..., k) the same weights in another order; what the mask forbids stays where it is.

    >>> permuted_weights(torch.tensor([0.5, 0.3, 0.2])).sort().values
    tensor([0.2000, 0.3000, 0.5000])
    """
    words = allowed_words(mask, weights)
    keys = torch.rand(weights.shape, generator=generator)
    # Words come first in both orders, so the n-th word gets the weight of the n-th one drawn.
    drawn = keys.masked_fill(~words, 2.0).argsort(dim=-1, stable=True)
    in_order = (~words).long().argsort(dim=-1, stable=True)
    dealt = weights.gather(-1, drawn)
    return torch.empty_like(weights).scatter(-1, in_order, dealt)


@contract(mask="booleans: ... k")
def uniform_weights(
    mask: Tensor, *, dtype: torch.dtype | None = None
) -> Tensor:
    """Give every word of a row the same weight.

    Args:
        mask: True = a word stands there.
        dtype: of the weights; by default torch's.

    Returns:
        (..., k) weights that sum to 1, or zeros in a row without words.

    >>> uniform_weights(torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    ones = mask.to(dtype or torch.get_default_dtype())
    return ones / ones.sum(-1, keepdim=True).clamp(min=1.0)
