"""The softmax in narrow numbers, in Node: its arithmetic is that of torch, bit for bit."""

from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import narrow_softmax
from bookkit.playables.narrow import SHIFTS, TYPES
from companion import masked_softmax
from tests.bookkit.playables.node import ask

WORDS = ["she", "works", "in", "the", "new", "house"]
SCORES = [0.0, -2.0, -1.0, 1.0, 2.0, 2.0]
STEPS = ("stored", "exponents", "powers", "total", "weights")
MADE = narrow_softmax(WORDS, SCORES)


def state(kind: str, shift: int, *, safe: bool = False) -> dict[str, Any]:
    names = [one.name for one in TYPES]
    return {"kind": names.index(kind), "shift": SHIFTS.index(shift), "safe": safe}


def numbers(shown: Any, step: str) -> Any:
    return np.array(shown[step], dtype=float)  # "Infinity" and "NaN" included


def test_a_type_has_the_numbers_of_torch() -> None:
    for kind in TYPES:
        limits = torch.finfo(getattr(torch, kind.name))
        found = kind.largest, 2.0**kind.lowest, 2.0 ** (1 - kind.digits)
        assert found == (limits.max, limits.smallest_normal, limits.eps)


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_the_steps_are_those_of_torch(kind: str, safe: bool) -> None:
    answers = ask(MADE, *(state(kind, shift, safe=safe) for shift in SHIFTS))
    for shift, shown in zip(SHIFTS, answers, strict=True):
        scores = (torch.tensor(SCORES) + shift).to(getattr(torch, kind))
        exponents = scores - scores.max() if safe else scores
        powers = exponents.exp()
        total = torch.zeros((), dtype=scores.dtype)
        for power in powers:
            total = total + power
        wanted = scores, exponents, powers, total, powers / total
        for step, theirs in zip(STEPS, wanted, strict=True):
            np.testing.assert_array_equal(numbers(shown, step), theirs.double().numpy(), step)


def test_with_the_largest_subtracted_float32_gives_the_weights_of_the_package() -> None:
    answers = ask(MADE, *(state("float32", shift, safe=True) for shift in SHIFTS))
    for shift, shown in zip(SHIFTS, answers, strict=True):
        wanted = masked_softmax(np.array([SCORES], dtype=np.float32) + np.float32(shift))[0]
        np.testing.assert_allclose(numbers(shown, "weights"), wanted, rtol=3e-7)
