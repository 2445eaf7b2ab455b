"""Masks that a layer is called with, and those that it adds to them."""

from __future__ import annotations

import math
from typing import overload

import torch
from torch import Tensor


@overload
def narrow(mask: Tensor | None, allowed: Tensor) -> Tensor: ...
@overload
def narrow(mask: Tensor | None, allowed: Tensor | None) -> Tensor | None: ...
def narrow(mask: Tensor | None, allowed: Tensor | None) -> Tensor | None:
    """Allow, of the keys that a mask allows, those that `allowed` does too; None allows all."""
    if mask is None or allowed is None:
        return allowed if mask is None else mask
    if mask.dtype == torch.bool:
        return mask & allowed
    return mask.where(allowed, -math.inf)


def check_covers(name: str, mask: Tensor | None, k_len: int) -> None:
    """Refuse a mask whose last axis does not count the keys; None passes.

    Args:
        name: of the argument.
        mask: (..., k).
        k_len: the number of keys.
    """
    if mask is not None and (mask.ndim == 0 or mask.shape[-1] != k_len):
        raise ValueError(
            f"{name}: got shape {tuple(mask.shape)}, wanted (..., {k_len}): a mask covers every "
            "key, cached ones too"
        )
