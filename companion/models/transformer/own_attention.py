"""Somebody's own attention in the place of the package's, called as simply as can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from companion.heads import offset_beside_heads, repeat_kv
from companion.layers._masks import narrow
from companion.masks import causal_mask


def simply_called(
    attention: Callable[..., Any], *, repeat: bool, as_numpy: bool
) -> Callable[..., Any]:
    """Return an `attention_fn` of a layer that calls attention(query, key, value, mask).

    Args:
        attention: see `LanguageModel.with_attention`.
        repeat: repeat key and value heads, so that there are as many as query heads.
        as_numpy: pass NumPy's arrays.
    """

    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        *,
        is_causal: bool = False,
        offset: int | Tensor = 0,
        enable_gqa: bool = False,
        **others: Any,
    ) -> Any:
        shape = query.shape[-2], key.shape[-2]
        if is_causal:
            first = offset_beside_heads(offset, query, key)
            causal = causal_mask(*shape, offset=first, like=query)
            attn_mask = narrow(attn_mask, causal)
        elif attn_mask is None:
            attn_mask = query.new_ones(shape, dtype=torch.bool)
        if enable_gqa and repeat:
            key, value = repeat_kv(key, query), repeat_kv(value, query)
        given: tuple[Any, ...] = (query, key, value, attn_mask)
        if as_numpy:
            given = tuple(x.detach().cpu().numpy() for x in given)
        found = attention(*given, **others)
        return _checked(found, query, value.shape[-1])

    return attend


def _checked(found: Any, query: Tensor, width: int) -> Any:
    """Return an output, and the weights that may be beside it, as tensors of the query's dtype."""
    if isinstance(found, tuple):
        output, weights = found
        return _checked(output, query, width), torch.as_tensor(weights)
    wanted = *query.shape[:-1], width
    if getattr(found, "shape", None) != wanted:
        came = tuple(getattr(found, "shape", (type(found).__name__,)))
        raise ValueError(
            f"attention: gave {came}, wanted an array (b, h, q, d), {wanted}"
        )
    return torch.as_tensor(found).to(query)
