"""Attention functions that are right, each in the manner of another library or author."""

import functools
import math
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import companion
from companion.conformance._outputs import Function
from tests.conformance.broken import attention, own_backward, tiled


def jax_like(
    query: Any, key: Any, value: Any, bias: Any = None, mask: Any = None, *,
    scale: float | None = None, is_causal: bool = False, local_window_size: Any = None,
) -> Any:  # fmt: skip
    """Masks have four axes, grouped heads need no word, positions stand before heads."""
    if mask is not None and mask.ndim != 4:
        raise ValueError(f"mask must be 4D, got {mask.ndim}D")
    window = None if local_window_size is None else local_window_size[0] + 1
    added = mask if bias is None else bias if mask is None else bias.masked_fill(~mask, -math.inf)
    q, k, v = (x.transpose(1, 2) for x in (query, key, value))
    return attention(
        q, k, v, added, is_causal=is_causal, scale=scale, enable_gqa=True, window=window,
    ).transpose(1, 2)  # fmt: skip


def flash_like(
    q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: float | None = None,
    causal: bool = False, window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0,
    return_attn_probs: bool = False,
) -> Any:  # fmt: skip
    """No mask; a window is two numbers."""
    window = None if window_size[0] < 0 else window_size[0] + 1
    return attention(
        q, k, v, None, dropout_p, causal, scale=softmax_scale, window=window, enable_gqa=True,
        softcap=softcap or None, need_weights=return_attn_probs,
    )  # fmt: skip


def keras_like(
    query: Any, value: Any, key: Any, attention_mask: Any = None,
    return_attention_scores: bool = False, use_causal_mask: bool = False,
) -> Any:  # fmt: skip
    """The value comes second."""
    return attention(
        query, key, value, attention_mask, 0.0, use_causal_mask,
        need_weights=return_attention_scores,
    )  # fmt: skip


def annotated(query: Any, key: Any, value: Any, mask: Any = None, dropout: Any = None) -> Any:
    """Numbers in a mask are booleans, dropout is a module, and the weights come always."""
    scores, mask = query / math.sqrt(query.size(-1)) @ key.mT, 1 if mask is None else mask
    alive = torch.as_tensor(mask != 0).expand(scores.shape)
    scores = scores.masked_fill(~alive & alive.any(-1, keepdim=True), -math.inf)
    weights = scores.softmax(-1) * alive
    weights = weights if dropout is None else dropout(weights)
    return weights @ value, weights


class Module(nn.Module):
    """A layer in training, which gives its weights unless it is told not to."""

    def __init__(self) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.3)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, need_weights: bool = True,
        attn_mask: Tensor | None = None, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        output, weights = attention(
            query, key, value, attn_mask, is_causal=is_causal, need_weights=True
        )
        return self.dropout(output), weights if need_weights else None


def einsums(q: Any, k: Any, v: Any, mask: Any) -> Any:
    """For NumPy; the mask has no default."""
    scores = np.einsum("...qd,...kd->...qk", q.astype("f8") / q.shape[-1] ** 0.5, k.astype("f8"))
    scores = scores if mask is None else np.where(mask, scores, -1e300)
    powers = np.exp(scores - scores.max(-1, keepdims=True)) * (scores > -1e299)
    total = powers.sum(-1, keepdims=True)
    return np.einsum("...qk,...kv->...qv", powers / np.where(total, total, 1), v).astype(q.dtype)


def torch_einsum(q: Any, k: Any, v: Any) -> Any:
    weights = torch.einsum("bhqd,bhkd->bhqk", q * q.shape[-1] ** -0.5, k).softmax(-1)
    return torch.einsum("bhqk,bhkv->bhqv", weights, v)


def refusing(error: type[Exception], wanted: Function) -> Function:
    def function(q: Any, k: Any, v: Any, attn_mask: Any = None, is_causal: bool = False) -> Any:
        if not wanted(q, k, v, attn_mask, is_causal):
            raise error("not that, please")
        return attention(q, k, v, attn_mask, is_causal=is_causal)

    return function


def one_boolean_mask(q: Any, k: Any, v: Any, mask: Any, is_causal: bool) -> bool:
    return mask is None or (mask.dtype == torch.bool and not is_causal)


def anything(*args: Any, **kwargs: Any) -> Any:
    return attention(*args, **kwargs)


def more(q: Any, k: Any, v: Any, *args: Any) -> Any:
    return attention(q, k, v, *args)


def by_place(q: Any, k: Any, v: Any, attn_mask: Any = None, p: float = 0.0, /) -> Any:
    return attention(q, k, v, attn_mask, p)


def transformers_like(
    query: Any, key: Any, value: Any, attention_mask: Any = None, scaling: float | None = None,
    dropout: float = 0.0, is_causal: bool | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """Takes any keyword, and ignores it."""
    output = attention(query, key, value, attention_mask, dropout, bool(is_causal), scale=scaling)
    return output, None


def scripted(
    q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None, is_causal: bool = False
) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask, 0.0, is_causal)


def other_names(q: Any, k: Any, v: Any, allowed: Any = None, past: bool = False) -> Any:
    return attention(q, k, v, allowed, is_causal=past)


NOT_OURS = "offset window softcap sinks weights lse"
PLAIN = f"scale-argument grouped dropout {NOT_OURS}"
NO_CAUSALITY = "causal prefixes both-masks first-key offset cached window softcap"
NO_MASK = "mask bias both-masks offset cached batch-mask padding mask-shapes dead-row"
RIGHT: dict[str, tuple[Any, dict[str, Any], str]] = {
    # the function, how it is asked, and the checks that it does not pass
    "torch": (F.scaled_dot_product_attention, {}, NOT_OURS),
    "ours": (companion.scaled_dot_product_attention, {"dtype": "float64"}, "window weights lse"),
    "ours, NumPy": (
        companion.scaled_dot_product_attention, {"arrays": "numpy"},
        "window weights lse bfloat16 gradient"),
    "ours, tiled": (companion.tiled_attention, {}, "weights lse dropout"),
    "base": (attention, {}, ""),
    "base, NumPy": (attention, {"arrays": "numpy"}, "bfloat16 gradient"),
    "tiles": (tiled, {}, f"bias {PLAIN}"),
    "own backward": (
        own_backward, {}, f"grouped dropout sinks weights lse window softcap {NO_MASK}"),
    "JAX": (jax_like, {"layout": "bnhd"}, "dropout offset softcap sinks weights lse"),
    "flash-attn": (flash_like, {}, f"sinks lse {NO_MASK}"),
    "Keras": (keras_like, {}, "scale-argument grouped dropout offset window softcap sinks lse"),
    "Annotated Transformer": (
        annotated, {}, f"scale-argument grouped bias dropout sinks lse {NO_CAUSALITY}"),
    "module": (Module(), {}, "scale-argument grouped dropout offset window softcap sinks lse"),
    "einsum, NumPy": (
        einsums, {"arrays": "numpy"}, f"bias bfloat16 gradient {PLAIN} {NO_CAUSALITY}"),
    "einsum, torch": (torch_einsum, {}, f"pairs {PLAIN} {NO_CAUSALITY} {NO_MASK}"),
    "one mask, of booleans": (
        refusing(TypeError, one_boolean_mask), {}, f"bias both-masks {PLAIN}"),
    "equal lengths": (
        refusing(NotImplementedError, lambda q, k, *_: q.shape == k.shape), {},
        f"first-key cached {PLAIN}"),
    "equal widths": (
        refusing(AssertionError, lambda q, k, v, *_: q.shape[-1] == v.shape[-1] < 99), {}, PLAIN),
    "float32 only": (
        refusing(RuntimeError, lambda q, *_: q.dtype == torch.float32), {},
        f"float16 bfloat16 float64 {PLAIN}"),
    "anything": (anything, {}, ""),
    "arguments by place": (more, {}, f"scale-argument grouped {NOT_OURS}"),
    "by place only": (
        by_place, {}, f"scale-argument grouped sinks weights lse {NO_CAUSALITY}"),
    "partial": (functools.partial(attention, is_causal=True, dropout_p=0.5), {}, ""),
    "transformers": (transformers_like, {}, f"grouped {NOT_OURS}"),
    "no_grad": (torch.no_grad()(attention), {}, "gradient"),
    "inference_mode": (torch.inference_mode()(attention), {}, "gradient"),
    "scripted": (torch.jit.script(scripted), {}, PLAIN),
    "other names": (
        other_names, {"names": {"allowed": "attn_mask", "past": "is_causal"}}, PLAIN),
}  # fmt: skip
