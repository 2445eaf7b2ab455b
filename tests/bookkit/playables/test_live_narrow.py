"""The softmax in narrow numbers, in Python: its arithmetic is that of torch, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, narrow_softmax
from bookkit.playables.narrow import SHIFTS, TYPES, NumberType, round_to, softmax_steps
from companion import masked_softmax

WORDS = ["she", "works", "in", "the", "new", "<house>"]
SCORES = [0.0, -2.0, -1.0, 1.0, 2.0, 2.0]


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {"names": WORDS, "scores": SCORES}
    return narrow_softmax(**given | changes)


def drawn(**changes: Any) -> Tag:
    return BeautifulSoup(made(**changes)._repr_html_(), "html.parser")


def numbers(page: Tag, part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in page.select(f".am-narrow-{part}")]


def type_of(kind: NumberType) -> torch.dtype:
    found: torch.dtype = getattr(torch, kind.name)
    return found


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_a_type_has_the_largest_number_of_torch(kind: NumberType) -> None:
    limits = torch.finfo(type_of(kind))
    assert kind.largest == limits.max
    assert 2.0**kind.lowest == limits.smallest_normal
    assert 2.0 ** (1 - kind.digits) == limits.eps


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_rounding_is_that_of_torch(kind: NumberType) -> None:
    generator = np.random.default_rng(3)
    size = generator.uniform(-50, 50, 5000)
    given = (generator.normal(size=5000) * 2.0**size).astype(np.float32)
    ends = np.array([0, -0.0, np.inf, -np.inf, np.nan, 2.0**-25, 3 * 2.0**-25, 65519, 65520])
    given = np.concatenate([given, ends.astype(np.float32)])
    wanted = torch.tensor(given).to(type_of(kind)).double().numpy()
    np.testing.assert_array_equal(round_to(given, kind), wanted)


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("kind", TYPES[1:], ids=lambda kind: kind.name)
def test_the_steps_are_those_of_torch(kind: NumberType, safe: bool) -> None:
    for shift in SHIFTS:
        scores = (torch.tensor(SCORES) + shift).to(type_of(kind))
        exponents = scores - scores.max() if safe else scores
        powers = exponents.exp()
        total = torch.zeros((), dtype=scores.dtype)
        for power in powers:
            total = total + power
        found = softmax_steps(np.array(SCORES) + shift, kind, safe=safe)
        for ours, theirs in (
            (found.stored, scores), (found.exponents, exponents), (found.powers, powers),
            (found.total, total), (found.weights, powers / total),
        ):  # fmt: skip
            np.testing.assert_array_equal(ours, theirs.double().numpy(), err_msg=str(shift))


def test_with_the_largest_subtracted_float32_gives_the_weights_of_the_package() -> None:
    for shift in SHIFTS:
        found = softmax_steps(np.array(SCORES) + shift, TYPES[0], safe=True).weights
        wanted = masked_softmax(np.array([SCORES], dtype=np.float32) + np.float32(shift))[0]
        np.testing.assert_allclose(found, wanted, rtol=3e-7)


@pytest.mark.parametrize(
    ("kind", "shift", "finding"),
    [
        ("float16", 8, "The weights are numbers"),
        ("float16", 9, "their sum does not"),
        ("float16", 10, "too large"),
        ("float16", -19, "the worst of them is off by"),
        ("float16", -20, "0 / 0 is NaN"),
        ("bfloat16", 20, "The weights are numbers"),
        ("bfloat16", 86, "their sum does not"),
        ("bfloat16", 87, "too large"),
        ("float32", 86, "their sum does not"),
        ("float32", -104, "The weights are numbers"),
        ("float32", -120, "0 / 0 is NaN"),
    ],
)
def test_words_say_where_a_type_ends(kind: str, shift: int, finding: str) -> None:
    shown = made(kind=kind, shift=shift)
    assert finding in shown.alt
    assert finding in shown.state


def test_the_drawing_shows_the_steps() -> None:
    page = drawn(shift=10)
    assert numbers(page, "score") == [10, 8, 9, 11, 12, 12]
    assert numbers(page, "power")[4:] == [np.inf, np.inf]
    assert np.isnan(numbers(page, "weight")[4:]).all()
    assert numbers(page, "weight")[:4] == [0, 0, 0, 0]
    assert [mark.get_text() for mark in page.select(".am-narrow-lost")] == [
        "inf", "NaN", "inf", "NaN", "inf",
    ]  # fmt: skip
    assert page.select(".am-narrow-word")[5].get_text() == "<house>"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scores": [1.0]}, "scores: got"),
        ({"scores": [1.0, np.inf]}, "scores: got"),
        ({"names": ["a"]}, "names: got 1"),
        ({"shift": 1}, "shift: got 1"),
        ({"kind": "float8"}, "kind: got 'float8'"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
