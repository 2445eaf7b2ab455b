"""Rotary frequencies against the published formulas, one frequency at a time."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from companion.positions import Dynamic, Linear, Llama3, Yarn, rotary_frequencies
from tests.oracle import assert_matches
from tests.positions.test_rotary import radians as plain

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def linear(width: int, base: float, scaling: Linear) -> list[float]:
    return [frequency / scaling.factor for frequency in plain(width, base)]


def dynamic(width: int, base: float, scaling: Dynamic) -> list[float]:
    """Take the frequencies of another base, as Hugging Face has it."""
    length = max(scaling.length, scaling.original_length)
    stretch = scaling.factor * length / scaling.original_length - (scaling.factor - 1)
    return plain(width, base * stretch ** (width / (width - 2)))


def yarn(width: int, base: float, scaling: Yarn) -> list[float]:
    """Ramp from the last frequency that turns fast to the first that turns slowly."""

    def position(turns: float) -> float:
        wavelength = scaling.original_length / turns
        return width * math.log(wavelength / (2 * math.pi)) / (2 * math.log(base))

    low, high = position(scaling.beta_fast), position(scaling.beta_slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    if low == high:
        high += 0.001
    result = []
    for i, frequency in enumerate(plain(width, base)):
        ramp = min(max((i - low) / (high - low), 0.0), 1.0)
        result.append(frequency / scaling.factor * ramp + frequency * (1 - ramp))
    return result


def llama3(width: int, base: float, scaling: Llama3) -> list[float]:
    """Tell three kinds of wavelength apart, as Meta's code does."""
    longest = scaling.original_length / scaling.low_freq_factor
    shortest = scaling.original_length / scaling.high_freq_factor
    result = []
    for frequency in plain(width, base):
        wavelength = 2 * math.pi / frequency
        if wavelength < shortest:
            result.append(frequency)
        elif wavelength > longest:
            result.append(frequency / scaling.factor)
        else:
            span = scaling.high_freq_factor - scaling.low_freq_factor
            turns = scaling.original_length / wavelength
            smooth = (turns - scaling.low_freq_factor) / span
            result.append((1 - smooth) * frequency / scaling.factor + smooth * frequency)
    return result


FORMULAS: dict[type, Callable[[int, float, Any], list[float]]] = {
    Linear: linear, Dynamic: dynamic, Yarn: yarn, Llama3: llama3,
}  # fmt: skip
CASES: dict[str, tuple[int, float, Any]] = {
    "linear": (64, 10_000.0, Linear(4.0)),
    "dynamic": (128, 10_000.0, Dynamic(2.0, 4096, 8192)),
    "dynamic, the paper's": (64, 10_000.0, Dynamic(1.0, 2048, 7919)),
    "dynamic below its length": (64, 10_000.0, Dynamic(4.0, 2048, 17)),
    "yarn": (128, 10_000.0, Yarn(16.0, 4096)),
    "yarn, gpt-oss": (64, 150_000.0, Yarn(32.0, 4096, truncate=False)),
    "yarn past the last pair": (64, 10_000.0, Yarn(8.0, 131_072)),
    "yarn with a step for a ramp": (16, 10_000.0, Yarn(2.0, 50, beta_fast=8.0, beta_slow=7.9)),
    "yarn from the first pair": (10, 10_000.0, Yarn(3.0, 128, beta_fast=64.0)),
    "yarn where no pair turns once": (8, 10_000.0, Yarn(4.0, 1)),
    "yarn where every pair turns fast": (8, 10_000.0, Yarn(4.0, 10**9)),
    "llama 3.1": (128, 500_000.0, Llama3()),
    "llama 3, other bounds": (22, 1000.0, Llama3(5.0, 1.5, 7.0, 341)),
}


def test_frequencies(libraries: list[Any]) -> None:
    for xp in libraries:
        for width in [2, 4, 10, 64]:
            for base in [2, 10_000.0, 500_000.0]:
                actual = rotary_frequencies(width, base=base, like=xp.ones(1))
                assert actual.dtype == xp.float64
                assert_matches(actual, plain(width, base))


def test_rescalings() -> None:
    for case in CASES:
        width, base, scaling = CASES[case]
        expected = FORMULAS[type(scaling)](width, base, scaling)
        actual = rotary_frequencies(width, base=base, scaling=scaling, like=np.ones(1))
        assert actual.dtype == np.float64
        np.testing.assert_allclose(actual, expected, rtol=1e-12)
    single = rotary_frequencies(2, scaling=Dynamic(2.0, 8, 64))
    assert single.tolist() == [1.0]  # the formula would divide by zero


def test_yarns_attention_factor() -> None:
    for factor, mscale, expected in [
        (1.0, 1.0, 1.0), (16.0, 1.0, 1.2772588722), (40.0, 0.707, 1.2608037775), (8.0, 0.0, 1.0),
    ]:  # fmt: skip
        scaling = Yarn(factor, 4096, mscale=mscale)
        assert scaling.attention_factor == pytest.approx(expected, rel=1e-7)
    others = (Linear(4.0), Dynamic(4.0, 8, 16), Llama3())
    assert [scaling.attention_factor for scaling in others] == [1.0] * 3


def test_numbers_that_cannot_rescale_are_refused() -> None:
    with pytest.raises(ValueError, match=r"beta_fast: got 1.0, wanted a number above 1.0"):
        Yarn(4.0, 8, beta_fast=1.0)
    with pytest.raises(ValueError, match=r"high_freq_factor: got 1.0, wanted a number above"):
        Llama3(high_freq_factor=1.0)
