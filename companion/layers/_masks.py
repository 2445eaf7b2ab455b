"""Masks that a layer adds to those that it was called with."""

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
    return mask & allowed if mask.dtype == torch.bool else mask.where(allowed, -math.inf)
