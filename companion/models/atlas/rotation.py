"""Which features of a head are rotated by the position, and how fast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from companion.contracts import contract
from companion.positions import RotaryScaling, rotary_frequencies, rotate


@contract(width=">= 2 and even", base="> 1", still=">= 0")
@dataclass(frozen=True)
class RotarySpec:
    """Rotary positions of one layer (Su et al., 2021).

    Attributes:
        width: number of features that are rotated, the first of each head.
        base: ratio of the frequencies.
        scaling: rescaling of the frequencies for longer texts.
        interleaved: pair neighbours rather than halves.
        still: number of pairs that follow the rotated ones and stand still: they count when the
            head is divided into halves (Gemma 4).
        factor: what rotated features are multiplied by; None means what the scaling says, which
            is 1 for all but YaRN.

    >>> RotarySpec(width=4, base=100.0).frequencies()
    array([1. , 0.1])
    """

    width: int
    base: float = 10_000.0
    scaling: RotaryScaling | None = None
    interleaved: bool = False
    still: int = 0
    factor: float | None = None

    def frequencies(self) -> Any:
        """Return the radians a position of every pair, those that stand still included."""
        import numpy as np

        whole = self.width + 2 * self.still
        turning = rotary_frequencies(whole, base=self.base)[: self.width // 2]
        if self.scaling is not None:
            turning = self.scaling.rescale(turning, self.base)
        return np.concatenate([turning, np.zeros(self.still)])

    @property
    def magnitude(self) -> float:
        """What rotated features are multiplied by."""
        if self.factor is not None:
            return self.factor
        return 1.0 if self.scaling is None else self.scaling.attention_factor

    def turn(self, heads: Tensor, positions: Tensor) -> Tensor:
        """Rotate the features of (b, h, n, d) by positions (n,)."""
        turned = rotate(
            heads,
            positions,
            frequencies=self.frequencies(),
            interleaved=self.interleaved,
        )
        if self.magnitude == 1.0:
            return turned
        part = self.width + 2 * self.still
        turned = turned.clone()
        turned[..., :part] = turned[..., :part] * self.magnitude
        return turned


def positions_of(x: Tensor, start: int) -> Tensor:
    """Return the positions of (..., n, d), the first of which is `start`."""
    return torch.arange(start, start + x.shape[-2], device=x.device)
