"""Rotary frequencies against the published formulas, one frequency at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.positions import Dynamic, Linear, Llama3, Yarn, rotary_frequencies, rotate
from companion.scores import scaled_dot_score
from tests.oracle import assert_matches

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def plain(width: int, base: float = 10_000.0) -> list[float]:
    return [1 / base ** (2 * i / width) for i in range(width // 2)]


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
    Linear: linear,
    Dynamic: dynamic,
    Yarn: yarn,
    Llama3: llama3,
}
CASES: dict[str, tuple[int, float, Any]] = {
    "linear": (64, 10_000.0, Linear(4.0)),
    "linear 1": (6, 100.0, Linear(1.0)),
    "dynamic": (128, 10_000.0, Dynamic(2.0, 4096, 8192)),
    "dynamic, the paper's": (64, 10_000.0, Dynamic(1.0, 2048, 7919)),
    "dynamic at its length": (64, 10_000.0, Dynamic(4.0, 2048, 2048)),
    "dynamic below its length": (64, 10_000.0, Dynamic(4.0, 2048, 17)),
    "yarn": (128, 10_000.0, Yarn(16.0, 4096)),
    "yarn, Qwen 2.5": (128, 1_000_000.0, Yarn(4.0, 32_768)),
    "yarn, DeepSeek-V3": (64, 10_000.0, Yarn(40.0, 4096)),
    "yarn, gpt-oss": (64, 150_000.0, Yarn(32.0, 4096, truncate=False)),
    "yarn past the last pair": (64, 10_000.0, Yarn(8.0, 131_072)),
    "yarn with a step for a ramp": (16, 10_000.0, Yarn(2.0, 50, beta_fast=8.0, beta_slow=7.9)),
    "yarn from the first pair": (10, 10_000.0, Yarn(3.0, 128, beta_fast=64.0)),
    "llama 3.1": (128, 500_000.0, Llama3()),
    "llama 3.2": (64, 500_000.0, Llama3(factor=32.0)),
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


# Places and values that the formulas of Hugging Face's `modeling_rope_utils` gave in float32.
REFERENCE: dict[str, dict[int, float]] = {
    "llama 3.1": {0: 1.0, 20: 1.656044088e-2, 29: 2.166570630e-3, 32: 5.248460220e-4,
                  34: 1.785077911e-4, 35: 9.556212171e-5, 63: 3.068925878e-7},
    "yarn": {0: 1.0, 20: 5.623412877e-2, 21: 4.694085941e-2, 33: 4.600435495e-3,
             45: 1.517716446e-4, 46: 8.334509039e-5, 63: 7.217387065e-6},
    "yarn, gpt-oss": {0: 1.0, 8: 5.081327260e-2, 9: 3.170569614e-2, 13: 3.860359080e-3,
                      17: 1.293186942e-4, 18: 3.830881178e-5, 31: 3.023511397e-7},
    "dynamic": {0: 1.0, 1: 8.509942889e-1, 32: 5.723381881e-3, 63: 3.849273344e-5},
}  # fmt: skip


def test_values_of_another_library() -> None:
    for case in REFERENCE:
        width, base, scaling = CASES[case]
        actual = rotary_frequencies(width, base=base, scaling=scaling)
        for i, expected in REFERENCE[case].items():
            assert actual[i] == pytest.approx(expected, rel=5e-7)


def test_yarns_attention_factor_is_a_scale_of_the_scores() -> None:
    scaling = Yarn(16.0, 64)
    frequencies, factor = rotary_frequencies(6, scaling=scaling), scaling.attention_factor
    query, key = np.random.default_rng(0).normal(size=(2, 5, 6))
    positions = np.arange(5)
    turned = [rotate(array, positions, frequencies=frequencies) for array in (query, key)]
    tempered = scaled_dot_score(*(factor * array for array in turned))
    scaled = scaled_dot_score(*turned, scale=factor**2 / math.sqrt(6))
    assert_matches(scaled, tempered)


def test_yarn_as_its_paper_prints_it_is_llama_3s_rule() -> None:
    turns = [4096 * frequency / (2 * math.pi) for frequency in plain(128)]
    gammas = [0.0 if r < 1 else 1.0 if r > 32 else (r - 1) / (32 - 1) for r in turns]
    expected = [
        (1 - gamma) * frequency / 16 + gamma * frequency
        for gamma, frequency in zip(gammas, plain(128), strict=True)
    ]
    scaling = Llama3(16.0, low_freq_factor=1.0, high_freq_factor=32.0, original_length=4096)
    actual = rotary_frequencies(128, scaling=scaling)
    assert_matches(actual, expected)
    code = rotary_frequencies(128, scaling=Yarn(16.0, 4096))
    differ = ~np.isclose(actual, code, rtol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(differ), np.arange(21, 46))


def test_yarn_where_all_or_none_turn_fast() -> None:
    short = rotary_frequencies(8, scaling=Yarn(4.0, 1))  # no pair turns once: all divided
    np.testing.assert_allclose(short[1:], np.array(plain(8))[1:] / 4, rtol=1e-12)
    endless = rotary_frequencies(8, scaling=Yarn(4.0, 10**9))  # every pair turns fast: all kept
    np.testing.assert_allclose(endless, plain(8), rtol=1e-12)


def test_dynamic_leaves_a_single_pair_alone() -> None:
    assert_matches(rotary_frequencies(2, scaling=Dynamic(2.0, 8, 64)), [1.0])


def test_yarns_attention_factor() -> None:
    for factor, mscale, expected in [
        (1.0, 1.0, 1.0),
        (16.0, 1.0, 1.2772588722239782),
        (40.0, 0.707, 1.2608037775),
        (8.0, 0.0, 1.0),
    ]:
        scaling = Yarn(factor, 4096, mscale=mscale)
        assert scaling.attention_factor == pytest.approx(expected, rel=1e-7)


def test_the_other_rescalings_leave_the_temperature_alone() -> None:
    scalings = (Linear(4.0), Dynamic(4.0, 8, 16), Llama3())
    assert [scaling.attention_factor for scaling in scalings] == [1.0] * 3


def test_frequencies_live_where_like_does(torch: ModuleType) -> None:
    for scaling in [None, *(scaling for _, _, scaling in CASES.values())]:
        meta = rotary_frequencies(8, scaling=scaling, like=torch.ones(1, device="meta"))
        assert meta.device.type == "meta"
        strict = pytest.importorskip("array_api_strict")
        device = strict.Device("device1")
        like = strict.ones(1, dtype=strict.float32, device=device)
        assert rotary_frequencies(8, scaling=scaling, like=like).device == device
        assert type(rotary_frequencies(8, scaling=scaling)) is np.ndarray


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: Linear(0.5), ValueError, "factor: got 0.5, wanted at least 1"),
    (lambda: Llama3(math.nan), ValueError, "factor: got nan, wanted a finite number"),
    (lambda: Dynamic(0.0, 8, 8), ValueError, "factor: got 0.0, wanted at least 1"),
    (lambda: Dynamic(1.0, 0, 8), ValueError, "original_length: got 0, wanted at least 1"),
    (lambda: Dynamic(1.0, 8, -1), ValueError, "length: got -1, wanted at least 0"),
    (
        lambda: Dynamic(1.0, 8, 8.0),  # type: ignore[arg-type]
        TypeError,
        "length: got float, wanted a whole",
    ),
    (
        lambda: Yarn(4.0, 8, beta_fast=1.0, beta_slow=1.0),
        ValueError,
        "beta_fast: got 1.0, wanted a number above 1.0",
    ),
    (
        lambda: Yarn(4.0, 8, beta_slow=0.0),
        ValueError,
        "beta_slow: got 0.0, wanted a number above 0",
    ),
    (
        lambda: Llama3(low_freq_factor=0.0),
        ValueError,
        "low_freq_factor: got 0.0, wanted a number above 0",
    ),
    (
        lambda: Llama3(high_freq_factor=1.0),
        ValueError,
        "high_freq_factor: got 1.0, wanted a number above 1.0",
    ),
    (lambda: Llama3(original_length=0), ValueError, "original_length: got 0, wanted at least 1"),
]


def test_wrong_calls_say_what_is_wrong() -> None:
    for call, error, message in WRONG:
        with pytest.raises(error, match="^" + re.escape(message)):
            call()
