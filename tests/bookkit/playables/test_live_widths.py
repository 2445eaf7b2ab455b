"""Width and scale without a script: weights and gradients are the package's."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag
from numpy.typing import NDArray

from bookkit.figures import LiveOutput, width_explorer
from companion import masked_softmax, scaled_dot_product_attention, scaled_dot_score

Numbers = NDArray[np.float64]

WIDTHS = (4, 16, 64)
QUERIES, KEYS, MARKED = 6, 5, 2


def drawn(*shape: int) -> torch.Tensor:
    """Draw numbers that float32 holds exactly, since the output stores its numbers so."""
    numbers = torch.randn(*shape, generator=GENERATOR, dtype=torch.float64)
    return numbers.float().double()


GENERATOR = torch.Generator().manual_seed(11)
QUERY, KEY = drawn(QUERIES, 1, WIDTHS[-1]), drawn(QUERIES, KEYS, WIDTHS[-1])
VALUE, ABOVE = drawn(QUERIES, KEYS, 3), drawn(QUERIES, 1, 3)


def scale(width: int, *, divided: bool) -> float:
    return width**-0.5 if divided else 1.0


def weights(width: int, *, divided: bool) -> Numbers:
    """Return the weights of the marked query, (k,)."""
    query, key = QUERY[MARKED, :, :width], KEY[MARKED, :, :width]
    scores = scaled_dot_score(query, key, scale=scale(width, divided=divided))
    return np.asarray(masked_softmax(scores)[0])


@cache
def reached(width: int, *, divided: bool) -> Numbers:
    """Return the lengths of the gradients at the queries, (n,)."""
    query = QUERY[..., :width].clone().requires_grad_()
    how = scale(width, divided=divided)
    output = scaled_dot_product_attention(query, KEY[..., :width], VALUE, scale=how)
    (gradient,) = torch.autograd.grad((output * ABOVE).sum(), query)
    return np.asarray(gradient[:, 0].norm(dim=-1))


def made() -> tuple[Numbers, Numbers]:
    """Return what the output is given: scores (w, k) and lengths (2, w, n)."""
    scores = [(KEY[MARKED, :, :width] @ QUERY[MARKED, 0, :width]).numpy() for width in WIDTHS]
    lengths = [[reached(width, divided=divided) for width in WIDTHS] for divided in (False, True)]
    return np.array(scores), np.array(lengths)


def output(**options: Any) -> LiveOutput:
    scores, lengths = made()
    given: dict[str, Any] = {"widths": WIDTHS, "scores": scores, "lengths": lengths}
    given |= {"marked": MARKED, "width": 16}
    given |= options
    return width_explorer(given.pop("widths"), given.pop("scores"), given.pop("lengths"), **given)


def figure(**options: Any) -> Tag:
    page = BeautifulSoup(output(**options)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(part: str, **options: Any) -> list[float]:
    found = figure(**options).select(f".am-width-scale-{part}")
    return [float(str(one["data-am-value"])) for one in found]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("divided", [False, True])
def test_numbers_are_those_of_the_package(width: int, divided: bool) -> None:
    how = {"width": width, "divided": divided}
    lengths = reached(width, divided=divided)
    np.testing.assert_allclose(values("bar", **how), weights(width, divided=divided), atol=1e-8)
    np.testing.assert_allclose(values("dot", **how), lengths, rtol=1e-7)
    scaled = np.median(reached(width, divided=True))
    wanted = [weights(width, divided=divided).max(), np.median(lengths), scaled]
    np.testing.assert_allclose(values("reading", **how)[:3], wanted, rtol=1e-7)
    assert values("reading", **how)[3] == (lengths < scaled).sum()


def test_one_dot_is_marked_and_words_say_what_is_drawn() -> None:
    marked = [
        number
        for number, dot in enumerate(figure().select("circle"))
        if "am-width-scale-marked" in dot["class"]
    ]
    assert marked == [MARKED]
    largest, typical = weights(16, divided=False).max(), np.median(reached(16, divided=False))
    assert f"{largest:.3f}, gradient at the typical query {typical:.3f}" in repr(output())
    assert "Width d = 16, scores not divided by √d." in output()._repr_html_()
    assert output()._repr_html_() == output()._repr_html_()


def test_a_gradient_too_small_for_the_axis_stands_at_its_end() -> None:
    lengths = np.array([[[1e-9, 20.0]] * 2, [[0.1, 0.0]] * 2])
    drawn = figure(widths=(4, 9), scores=np.ones((2, 3)), lengths=lengths, marked=0, width=4)
    places = [float(str(dot["cx"])) for dot in drawn.select("circle")]
    assert places == [30.0, 466.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"widths": (16, 4, 64)}, r"widths: got \[16, 4, 64\], wanted two or more that rise"),
        ({"scores": np.ones((2, 5))}, r"scores: got shape \(2, 5\), wanted \(3, k\) finite"),
        ({"lengths": np.ones((3, 2, 6))}, r"lengths: got shape \(3, 2, 6\), wanted \(2, 3, n\)"),
        ({"lengths": -np.ones((2, 3, 6))}, "lengths: got one that is no length"),
        ({"marked": 6}, "marked: got 6, wanted 0 to 5"),
        ({"width": 8}, "width: got 8, wanted one of 4, 16, 64"),
    ],
    ids=["falling", "scores", "shape", "negative", "marked", "width"],
)
def test_wrong_calls(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        output(**options)
