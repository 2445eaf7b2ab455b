"""A growing cache without a script: its numbers are the package's, and wrong calls are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup, Tag

from bookkit.figures import LiveOutput, growing_cache
from companion import scaled_dot_product_attention
from companion.cache import KVCache

WORDS = ["she", "works", "in", "the", "<new>", "house"]
VECTORS = np.random.default_rng(4).normal(size=(6, 2)) * 1.5


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {"words": WORDS, "vectors": VECTORS, "prompt": 2, "step": 2}
    given |= changes
    return growing_cache(given.pop("words"), given.pop("vectors"), **given)


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(figure: Tag, where: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in figure.select(where)]


def with_caches(pieces: list[int], window: int | None) -> list[float]:
    """Return the last output of two layers that keep what they need in a `KVCache` each."""
    caches = [KVCache(1, 1, 6, 2, window=window, dtype=torch.float64) for _ in range(2)]
    start = 0
    for size in pieces:
        x = torch.tensor(VECTORS[start : start + size])[None, None]
        for cache in caches:
            queries = cache.query_positions(size)
            keys, values = cache.update(x, x)
            far = queries[:, None] - cache.key_positions
            near = (far >= 0) & (far < (window or 6))
            x = scaled_dot_product_attention(x, keys, values, near, scale=1.0)
        start += size
    last: list[float] = x[0, 0, -1].tolist()
    return last


@pytest.mark.parametrize("step", [0, 1, 4])
@pytest.mark.parametrize(("rule", "window"), [("causal", None), ("window", 3)])
def test_both_outputs_are_those_of_the_packages_cache(
    rule: str, window: int | None, step: int
) -> None:
    figure = drawn(rule=rule, step=step)
    wanted = with_caches([2] + [1] * step, window)
    found = values(figure, ".am-growing-output .am-growing-number")
    np.testing.assert_allclose(found, [*wanted, *wanted], atol=1e-8)


def test_a_mask_that_looks_ahead_makes_the_second_layer_stale() -> None:
    figure = drawn(rule="both ways", step=2)
    first, second = figure.select("tbody")[0].select("tr")
    assert not first.select(".am-growing-stale")
    assert [cell.text != "" for cell in second.select(".am-growing-stale")] == [True] * 3
    mine, theirs = np.reshape(values(figure, ".am-growing-output .am-growing-number"), (2, 2))
    assert np.abs(mine - theirs).max() > 0.01


def test_without_an_offset_the_new_word_sees_the_first_alone() -> None:
    figure = drawn(rule="offset forgotten", step=2)
    rows = figure.select("tbody")[1].select("tr")
    assert [cell.text for cell in rows[3].select(".am-growing-now")] == ["1.00"]
    assert len(rows[3].select(".am-growing-blocked")) == 3


@pytest.mark.parametrize(
    ("rule", "wanted"),
    [("causal", []), ("window", [0, 1]), ("window and first word", [1]), ("both ways", [])],
)
def test_what_is_dropped(rule: str, wanted: list[int]) -> None:
    figure = drawn(rule=rule, step=3, window=3)
    for line in figure.select("tbody")[0].select("tr"):
        cells = line.select("td")
        dropped = [i for i, one in enumerate(cells) if "am-growing-dropped" in str(one["class"])]
        assert dropped == wanted


def test_with_the_cache_one_row_is_computed_and_without_it_all_are() -> None:
    for cached, rows in ((True, [0, 0, 0, 4, 0, 0]), (False, [1, 2, 3, 4, 0, 0])):
        figure = drawn(cached=cached)
        lines = figure.select("tbody")[1].select("tr")
        assert [len(line.select(".am-growing-now")) for line in lines] == rows
        counts = [int(one.text) for one in figure.select(".am-growing-count")]
        assert counts == [1, 4, 4, 2 + 3 + 4]


def test_what_it_says_in_words() -> None:
    output = made(caption="Step.", rule="both ways")
    assert output.state.startswith(
        "Reading “the”, both ways: this step computes 1 word, and 4 without a cache."
    )
    assert output.state.endswith("Out of date in layer 2: 3 of the vectors that were kept.")
    assert "Out of date" not in made().state
    assert "<new>" not in output._repr_html_()
    assert output._repr_html_() == made(caption="Step.", rule="both ways")._repr_html_()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": WORDS[:5]}, "words: got 5 labels"),
        ({"vectors": np.ones((6, 3))}, r"vectors: got shape \(6, 3\)"),
        ({"vectors": np.full((6, 2), np.inf)}, "wanted .* finite numbers"),
        ({"prompt": 0}, "prompt: got 0, wanted 1 to 5"),
        ({"prompt": 6}, "prompt: got 6, wanted 1 to 5"),
        ({"step": 5}, "step: got 5, wanted 0 to 4"),
        ({"window": 0}, "window: got 0, wanted at least 1"),
        ({"rule": "none"}, "rule: got 'none', wanted one of causal, window"),
    ],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
