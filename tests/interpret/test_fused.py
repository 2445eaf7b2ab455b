"""Weights from a log-sum-exp: those that the definition gives, and of torch's fused kernel, too."""

from typing import Any

import numpy as np
import torch
from torch.testing import assert_close

from companion.attention import attention_with_weights
from companion.interpret import weights_of_rows
from companion.masks import causal_mask
from companion.tiled import tiled_attention_with_lse

DRAW = torch.Generator().manual_seed(8)
QUERY, KEY, VALUE = (
    torch.randn(2, 6, n, 5, generator=DRAW, dtype=torch.float64) for n in (7, 11, 11)
)
SINKS = torch.randn(6, generator=DRAW, dtype=torch.float64)

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "scale": {"scale": 0.7},
    "softcap": {"softcap": 1.5},
    "sinks": {"sinks": SINKS},
    "mask": {"attn_mask": causal_mask(7, 11, offset=4, like=QUERY)},
    "bias": {"attn_mask": torch.randn(7, 11, generator=DRAW, dtype=torch.float64)},
    "all": {
        "attn_mask": causal_mask(7, 11, like=QUERY), "softcap": 2.0, "sinks": SINKS, "scale": 1.3
    },
}  # fmt: skip


def own(options: dict[str, Any]) -> dict[str, Any]:
    """What the function is told: the mask by another name, and no sinks, which the lse has."""
    kept = {name: value for name, value in options.items() if name not in ("sinks", "attn_mask")}
    return kept | {"mask": options.get("attn_mask")}


def test_weights_are_those_of_the_definition() -> None:
    for options in OPTIONS.values():
        _, wanted = attention_with_weights(QUERY, KEY, VALUE, **options)
        _, lse = tiled_attention_with_lse(QUERY, KEY, VALUE, **options)
        assert_close(weights_of_rows(QUERY, KEY, lse, **own(options)), wanted)


def test_grouped_heads_share_keys_and_a_row_with_nothing_allowed_is_zeros() -> None:
    key, value = KEY[:, :2], VALUE[:, :2]
    mask = causal_mask(7, 11, like=QUERY)
    mask[3] = False
    _, wanted = attention_with_weights(QUERY, key, value, mask, enable_gqa=True)
    _, lse = tiled_attention_with_lse(QUERY, key, value, mask, enable_gqa=True)
    weights = weights_of_rows(QUERY, key, lse, mask, enable_gqa=True)
    assert_close(weights, wanted)
    assert (weights[:, :, 3] == 0).all()


def test_numpy_and_half_precision() -> None:
    query, key, value = (x.numpy() for x in (QUERY, KEY, VALUE))
    lse = tiled_attention_with_lse(query, key, value)[1]
    wanted = attention_with_weights(query, key, value)[1]
    np.testing.assert_allclose(weights_of_rows(query, key, lse), wanted, rtol=1e-12)
    half = [x.to(torch.bfloat16) for x in (QUERY, KEY, VALUE)]
    half_lse = tiled_attention_with_lse(half[0], half[1], half[2])[1]
    got = weights_of_rows(half[0], half[1], half_lse)
    assert got.dtype == torch.bfloat16
    assert_close(got.double(), QUERY.new_tensor(wanted), rtol=0.05, atol=0.02)


def test_the_kernel_of_torch_gives_such_a_log_sum_exp() -> None:
    # no public name of torch 2.8 to 2.13 gives it on the CPU but flex_attention's
    kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
    query, key, value = (x[:, :, :7] for x in (QUERY, KEY, VALUE))
    output, lse = kernel(query, key, value, 0.0, True)
    mask = causal_mask(7, like=query)
    weights = weights_of_rows(query, key, lse, mask)
    assert_close(weights @ value, output)
    assert_close(weights.sum(-1), torch.ones(2, 6, 7, dtype=torch.float64))
