"""Rotary frequencies for sequences longer than those that a model was trained on.

A rescaling knows the length that the model was trained on, `original_length`, and by what factor
the context grows. Hugging Face's configurations call them `original_max_position_embeddings` and
`factor`, and these classes "linear", "dynamic", "yarn" and "llama3". Rotated queries and keys are
to be multiplied by a rescaling's `attention_factor`, which is 1 for all but YaRN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from companion.arrays import ArrayT, device_of, namespace
from companion.contracts import contract


@contract(factor=">= 1")
@dataclass(frozen=True)
class Linear:
    """Position interpolation: all frequencies over a factor (Chen et al., 2023).

    Attributes:
        factor: by how much the context grows, at least 1.

    >>> import numpy as np
    >>> Linear(factor=4.0).rescale(np.array([1.0, 0.1]), base=100.0)
    array([0.25 , 0.025])
    """

    factor: float
    attention_factor: ClassVar[float] = 1.0

    def rescale(self, frequencies: ArrayT, base: float) -> ArrayT:
        """Return rescaled what was base^(-2 i / width), (width / 2,)."""
        return frequencies / self.factor


@contract(factor=">= 1", original_length=">= 1", length=">= 0")
@dataclass(frozen=True)
class Dynamic:
    """Dynamic NTK-aware scaling: a base that grows with the sequence (Peng et al., 2023).

    The base is multiplied by stretch^(width / (width - 2)): the lowest frequency is divided by
    the stretch, the highest stays. Up to the original length nothing changes.

    Attributes:
        factor: the stretch is factor * length / original_length - (factor - 1); 1 gives the
            ratio of the lengths, as the paper has it.
        original_length: length that the model was trained on.
        length: length of the present sequence, cached keys included.

    >>> import numpy as np
    >>> Dynamic(1.0, original_length=8, length=16).rescale(np.array([1.0, 0.1]), base=100.0)
    array([1.  , 0.05])
    """

    factor: float
    original_length: int
    length: int
    attention_factor: ClassVar[float] = 1.0

    def rescale(self, frequencies: ArrayT, base: float) -> ArrayT:
        """Return rescaled what was base^(-2 i / width), (width / 2,)."""
        growth = max(self.length, self.original_length) / self.original_length
        stretch = self.factor * growth - (self.factor - 1)
        return frequencies / stretch ** (
            _indices(frequencies) / max(frequencies.shape[0] - 1, 1)
        )


@contract(factor=">= 1", original_length=">= 1", beta_slow="> 0")
@dataclass(frozen=True)
class Yarn:
    """YaRN: low frequencies interpolated, high ones kept, a ramp between (Peng et al., 2023).

    The ramp is linear in the index of a frequency, as in the authors' code and the libraries that
    follow it. The paper prints it linear in the rotations, the number of full circles that a pair
    of features makes over the original length: that is `Llama3` with low_freq_factor=1 and
    high_freq_factor=32.

    Attributes:
        factor: by how much the context grows, at least 1.
        original_length: length that the model was trained on.
        beta_fast: rotations from which a frequency is kept, more than beta_slow.
        beta_slow: rotations up to which it is divided by the factor.
        truncate: begin and end the ramp at whole indices, as most models do.
        mscale: weight of the logarithm in `attention_factor`.

    >>> Yarn(factor=16.0, original_length=4096).attention_factor
    1.2772588722239782
    """

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    mscale: float = 1.0

    def __post_init__(self) -> None:
        _check_above(self.beta_slow, "beta_fast", self.beta_fast)

    @property
    def attention_factor(self) -> float:
        """Factor on rotated queries and keys, sqrt(1 / t) = 0.1 mscale ln(factor) + 1.

        `rotate` leaves it to its caller: multiply the features that it rotated, or, where it
        rotated all, give the scores the scale attention_factor**2 / sqrt(d).
        """
        return 0.1 * self.mscale * math.log(self.factor) + 1.0

    def rescale(self, frequencies: ArrayT, base: float) -> ArrayT:
        """Return rescaled what was base^(-2 i / width), (width / 2,)."""
        low, high = self._ramp(2 * frequencies.shape[0], base)
        interpolated = _clipped((_indices(frequencies) - low) / (high - low))
        return _interpolate(frequencies, 1 - interpolated, self.factor)

    def _ramp(self, width: int, base: float) -> tuple[float, float]:
        """Return the last index that is kept, and the first that is divided by the factor."""
        low, high = (
            width
            / 2
            * math.log(self.original_length / (2 * math.pi * rotations), base)
            for rotations in (self.beta_fast, self.beta_slow)
        )
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        # Not width / 2 - 1: as the authors do.
        low, high = (max(low, 0), min(high, width - 1))
        return low, max(high, low + 0.001)


@contract(factor=">= 1", low_freq_factor="> 0", original_length=">= 1")
@dataclass(frozen=True)
class Llama3:
    """The scaling of Llama 3.1's released code: YaRN's ramp as its paper prints it.

    A frequency is kept, divided by the factor or between, linearly in its rotations, the number of
    full circles that it makes over the original length (Peng et al., 2023, "NTK-by-parts"). The
    defaults are those of Llama 3.1.

    Attributes:
        factor: by how much the lowest frequencies are divided, at least 1.
        low_freq_factor: rotations up to which a frequency is divided by the whole factor.
        high_freq_factor: rotations from which it is kept, more than low_freq_factor.
        original_length: length that the model was trained on.

    >>> import numpy as np
    >>> Llama3().rescale(np.array([1.0, 1e-6]), base=500_000.0)
    array([1.00e+00, 1.25e-07])
    """

    factor: float = 8.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_length: int = 8192
    attention_factor: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        _check_above(
            self.low_freq_factor, "high_freq_factor", self.high_freq_factor
        )

    def rescale(self, frequencies: ArrayT, base: float) -> ArrayT:
        """Return rescaled what was base^(-2 i / width), (width / 2,)."""
        rotations = frequencies * (self.original_length / (2 * math.pi))
        span = self.high_freq_factor - self.low_freq_factor
        kept = _clipped((rotations - self.low_freq_factor) / span)
        return _interpolate(frequencies, kept, self.factor)


RotaryScaling = Linear | Dynamic | Yarn | Llama3


def _interpolate(frequencies: Any, kept: Any, factor: float) -> Any:
    return frequencies * (kept + (1 - kept) / factor)


def _clipped(ramp: Any) -> Any:
    return namespace(ramp).clip(ramp, 0.0, 1.0)


def _indices(frequencies: Any) -> Any:
    """Return 0, 1, ..., one for each frequency, in their dtype."""
    xp, (count,) = namespace(frequencies), frequencies.shape
    return xp.arange(
        count, dtype=frequencies.dtype, device=device_of(frequencies)
    )


def _check_above(bound: float, name: str, number: float) -> None:
    if not number > bound:
        raise ValueError(
            f"{name}: got {number}, wanted a number above {bound}"
        )
