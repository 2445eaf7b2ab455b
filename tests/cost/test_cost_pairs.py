"""Pairs of queries and keys against masks, and tiled attention's products against torch's count."""

from typing import Any

import pytest
import torch

from companion.cost import band_pairs, measure_flops, multi_head_flops, tiled_flops, tiled_pairs
from companion.dispatch import definitions
from companion.layers import MultiHeadAttention
from companion.masks import causal_mask, sliding_window_mask
from companion.tiled import tiled_attention, window_attention


def test_the_pairs_of_a_band_are_those_of_its_mask() -> None:
    for offset in (0, 3, -2):
        for q_len, k_len in ((7, 7), (5, 13), (13, 5), (1, 1)):
            assert band_pairs(q_len, k_len, offset=offset) == q_len * k_len
            causal = causal_mask(q_len, k_len, offset=offset)
            assert band_pairs(q_len, k_len, right=0, offset=offset) == causal.sum()
            window = sliding_window_mask(q_len, k_len, left=3, right=2, offset=offset)
            assert band_pairs(q_len, k_len, left=3, right=2, offset=offset) == window.sum()


@pytest.mark.parametrize(
    "band", [{}, {"right": 0}, {"left": 3, "right": 0}, {"left": 200, "right": 7}], ids=str
)
def test_the_definition_does_the_products_of_its_tiles(band: dict[str, Any]) -> None:
    b, h, n, d, v = 3, 5, 43, 7, 11
    block_size = 7
    query, key = torch.zeros(2, b, h, n, d)
    value = torch.ones(b, h, n, v)
    pairs = tiled_pairs(n, block_size=block_size, **band)
    assert band_pairs(n, **band) <= pairs <= n * n
    result = tiled_flops(h, pairs, head_dim=d, value_dim=v, batch_size=b)

    def call() -> Any:
        return tiled_attention(query, key, value, block_size=block_size, **band)

    with definitions():
        assert measure_flops(call) == result.forward


@pytest.mark.parametrize(
    ("q_len", "k_len", "band"),
    [
        (301, 563, {"right": 0, "offset": 40}),
        (301, 563, {"left": 9, "right": 0, "offset": 40}),
        (613, 571, {"left": 31, "right": 2}),
        (613, 571, {"left": 31}),
    ],
)
def test_the_operator_does_the_products_of_its_blocks(
    q_len: int, k_len: int, band: dict[str, Any]
) -> None:
    query, key = (torch.zeros(1, 2, n, 3, requires_grad=True) for n in (q_len, k_len))
    result = tiled_flops(2, tiled_pairs(q_len, k_len, **band), head_dim=3)

    def call() -> Any:
        return tiled_attention(query, key, key, **band)

    assert measure_flops(call) == result.forward
    assert measure_flops(lambda: call().sum().backward()) == result.forward + result.backward


def test_a_layer_with_a_window_and_tiles() -> None:
    def windowed(query: Any, key: Any, value: Any, mask: Any, **_: Any) -> Any:
        return window_attention(query, key, value, left=4)

    layer, n = MultiHeadAttention(12, 3, attention_fn=windowed), 133
    pairs = tiled_pairs(n, left=4, right=0)
    x = torch.ones(2, n, 12)
    result = multi_head_flops(12, 3, q_len=n, pairs=pairs, batch_size=2)
    assert measure_flops(lambda: layer(x)) == result.total
    assert result.scores * n * n == multi_head_flops(12, 3, q_len=n, batch_size=2).scores * pairs
