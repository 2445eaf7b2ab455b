"""Bytes by formula against the bytes of the tensors that are there."""

from functools import partial
from itertools import product
from typing import Any

import pytest
import torch

from companion import cost
from companion.attention import attention_with_weights, scaled_dot_product_attention
from companion.cache import KVCache
from companion.layers import FeedForward, MultiHeadAttention
from companion.models.transformer import LanguageModel
from tests.transformers import config_of, each_variant

DTYPES = [torch.float32, torch.float64, torch.bfloat16]


def test_a_cache() -> None:
    rows: list[tuple[Any, Any, int, torch.dtype]] = [
        (11, None, 6, torch.float32),
        (11, 5, 3, torch.bfloat16),
        (None, 7, 1, torch.float64),
        (3, 5, 1, torch.float32),
    ]
    for max_len, window, groups, dtype in rows:
        with cost.LiveBytes() as count:
            cache = KVCache(3, groups, max_len, 5, window=window, value_dim=7, dtype=dtype)
        sizes: dict[str, Any] = {"window": window, "value_dim": 7, "dtype": dtype}
        assert count.live == cost.kv_cache_bytes(3, groups, max_len, 5, **sizes)
        assert cost.kv_cache_bytes(3, groups, max_len, 5, num_layers=4, **sizes) == 4 * count.live
        del cache


@each_variant
def test_a_models_weights_and_caches(variant: str) -> None:
    config = config_of(variant)
    with cost.LiveBytes() as count:
        model = LanguageModel(config)
    assert count.live == cost.array_bytes(cost.count_parameters(config, "language_model").total)
    ids = torch.ones(3, 5, dtype=torch.int64)
    with torch.no_grad():
        # The angles of rotary, which stay for all models, are there from now on.
        model.eval().start(ids, max_len=7)
    with cost.LiveBytes() as count, torch.no_grad():
        state = model.start(ids, max_len=7)
    sizes = 3, config.groups, 5 - 1 + 7, config.width_of_head
    held = cost.kv_cache_bytes(*sizes, num_layers=config.num_layers)
    assert count.live == held + state.last.untyped_storage().nbytes()


def test_the_matrix_of_attention_is_there_only_where_weights_are_wanted() -> None:
    query = torch.ones(2, 3, 67, 5)
    matrix, output = cost.array_bytes(2, 3, 67, 67), cost.array_bytes(2, 3, 67, 5)
    with torch.no_grad(), cost.LiveBytes() as count:
        weighed = attention_with_weights(query, query, query)
    assert count.live == matrix + output
    assert count.peak >= 3 * matrix
    with torch.no_grad(), cost.LiveBytes() as count:
        fused = scaled_dot_product_attention(query, query, query)
    assert count.live == output
    assert count.peak == output + cost.array_bytes(2, 3, 67)  # and a log-sum-exp a row
    torch.testing.assert_close(weighed[0], fused)


def test_what_feed_forward_keeps() -> None:
    activations: Any = "relu", "gelu", "gelu_tanh", "silu"
    sizes = (2, 7, 5, 11), (1, 1, 13, 3), (1, 13, 13, 3), (3, 4, 13, 5)
    for gated, activation, dtype in product((False, True), activations, DTYPES):
        for b, n, e, f in sizes:
            layer = FeedForward(e, f, activation=activation, gated=gated).to(dtype)
            x = torch.ones(b, n, e, dtype=dtype, requires_grad=True)
            result = cost.feed_forward_saved_bytes(
                e, f, tokens=b * n, activation=activation, gated=gated, dtype=dtype
            )
            assert cost.measure_saved_bytes(partial(layer, x), layer) == result


def by_definition(*arrays: Any, **options: Any) -> Any:
    return attention_with_weights(*arrays, **options)[0]


METHODS: dict[Any, Any] = {"fused": scaled_dot_product_attention, "definition": by_definition}


def test_what_attention_keeps() -> None:
    for dtype in DTYPES[:2]:
        for method in METHODS:
            for b, n, g, r, d in (
                (2, 7, 3, 1, 5), (3, 11, 1, 3, 5), (1, 5, 3, 5, 7), (2, 13, 1, 1, 3),
                (1, 17, 2, 1, 5), (1, 17, 2, 3, 5), (1, 16, 2, 3, 5), (9, 2, 2, 2, 4),
                (2, 70, 4, 1, 8), (1, 1, 2, 3, 5), (20, 1, 2, 3, 5), (20, 1, 3, 1, 5),
                (20, 1, 1, 1, 5),
            ):  # fmt: skip
                layer = MultiHeadAttention(
                    17, g * r, num_kv_heads=g, head_dim=d, attention_fn=METHODS[method]
                ).to(dtype)
                sizes: dict[str, Any] = {
                    "q_len": n, "num_kv_heads": g, "head_dim": d, "batch_size": b, "method": method,
                    "dtype": dtype,
                }  # fmt: skip
                x = torch.randn(b, n, 17, dtype=dtype, requires_grad=True)
                for is_causal in (False, True):
                    kept = cost.measure_saved_bytes(partial(layer, x, is_causal=is_causal), layer)
                    assert kept == cost.multi_head_saved_bytes(
                        17, g * r, is_causal=is_causal, **sizes
                    )
                memory = torch.randn(b, n + 4, 17, dtype=dtype, requires_grad=True)
                kept = cost.measure_saved_bytes(partial(layer, x, memory), layer)
                assert kept == cost.multi_head_saved_bytes(17, g * r, k_len=n + 4, **sizes)


def test_impossible_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="max_len: got None without a window"):
        cost.kv_cache_bytes(1, 1, None, 3)
    with pytest.raises(TypeError, match=r"dtype: got torch\.bfloat16, wanted float32 or float64"):
        cost.multi_head_saved_bytes(4, 2, q_len=1, dtype=torch.bfloat16)
