"""The bill of a text in Node: each part as the package counts it."""

from typing import Any

import numpy as np
import pytest

from bookkit.figures import text_bill
from bookkit.playables.bills import LENGTHS, WIDTHS
from bookkit.playables.calculator import published
from companion.cost import (
    band_pairs,
    count_flops,
    crossover_length,
    multi_head_flops,
    outer_weights,
    token_cost,
)
from companion.models.atlas import read_config
from companion.models.transformer import TransformerConfig
from tests.bookkit.playables.node import ask

MODELS = ["GPT-2", "Llama 3.1 8B", "Gemma 3 27B", "gpt-oss-120b"]
MADE = text_bill(MODELS)
TRIED = [LENGTHS.index(n) for n in (16, 96, 1536, 4096)]


@pytest.mark.parametrize("width", [0, 4])
def test_a_plain_block_costs_what_the_package_counts(width: int) -> None:
    e = WIDTHS[width]
    config = TransformerConfig(1, embed_dim=e, num_heads=4, num_layers=1)
    states: list[dict[str, Any]] = [
        {"width": width, "length": at, "allowed": allowed}
        for at in TRIED
        for allowed in (False, True)
    ]
    for state, shown in zip(states, ask(MADE, *states), strict=True):
        n = LENGTHS[state["length"]]
        assert shown["tokens"] == n
        whole, twice = (count_flops(config, "language_model", length=k) for k in (n, 2 * n))
        pairs = band_pairs(n, right=0 if state["allowed"] else None)
        parts = multi_head_flops(e, 4, q_len=n, pairs=pairs)
        wanted = [parts.projections, whole.feed_forward, parts.scores + parts.blend]
        np.testing.assert_allclose(shown["now"], wanted, rtol=1e-9)
        if not state["allowed"]:
            assert sum(shown["now"]) == whole.attention + whole.feed_forward
            ratio = (twice.attention + twice.feed_forward) / sum(wanted)
            assert shown["factor"] == pytest.approx(ratio, rel=1e-9)
            assert shown["factor"] == pytest.approx(2 * (6 * e + 2 * n) / (6 * e + n), rel=1e-9)
            assert shown["half"] == 6 * e
    # Where the drawn lines cross: the pairs and the feed-forward layer, n = 4 e
    shown = ask(MADE, {"width": width})[0]
    over = [
        n for n, (_, feed, pairs) in zip(LENGTHS, shown["curves"], strict=True) if pairs >= feed
    ]
    assert over[0] == crossover_length(config, with_projections=False)


@pytest.mark.parametrize("name", MODELS[1:])
def test_a_published_model_costs_the_sum_of_its_tokens(name: str) -> None:
    spec, which = read_config(published()[name]), 1 + MODELS.index(name)
    weights = token_cost(spec, 0).weights - outer_weights(spec)
    parts = [part for layer in spec.layers for part in layer.reads()]
    states = [{"which": which, "length": at, "allowed": True} for at in TRIED]
    for at, shown in zip(TRIED, ask(MADE, *states), strict=True):
        n, (*products, pairs) = LENGTHS[at], shown["now"]
        read = sum(part.read_operations(before) for part in parts for before in range(n))
        np.testing.assert_allclose([sum(products), pairs], [2 * weights * n, read], rtol=1e-9)


def test_half_of_the_work_is_where_it_is_said() -> None:
    states = [{"which": which, "allowed": allowed} for which in range(1, 5) for allowed in (0, 1)]
    found = [shown["half"] for shown in ask(MADE, *states)]
    assert found[0] == 6 * 1600
    assert found[2:4] == [26_624, 53_247]  # Llama: weights of a layer / (2 h d), and twice that
    assert all(later > sooner for sooner, later in zip(found[::2], found[1::2], strict=True))


def test_what_has_no_softmax_is_refused() -> None:
    with pytest.raises(ValueError, match="a softmax"):
        text_bill(["Bamba 9B"])
