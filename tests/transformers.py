"""Small Transformers with random weights, and torch's modules as ours."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from companion.models.transformer import TransformerConfig
from tests.tiers import often

SIZES: dict[str, Any] = {
    "vocab_size": 19, "embed_dim": 12, "num_heads": 6, "hidden_dim": 17, "num_layers": 2,
    "dropout_p": 0.0, "max_len": 23,
}  # fmt: skip
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"norm_order": "post", "tied": "all"},
    "llama": {
        "positions": "rotary", "norm": "rms", "activation": "silu", "gated": True,
        "num_kv_heads": 3, "head_dim": 4, "feed_forward_bias": False, "embedding_scale": False,
        "tied": "none",
    },
    "gpt2": {
        "positions": "learned", "activation": "gelu_tanh", "attention_bias": True,
        "embedding_scale": False,
    },
    "bert": {
        "positions": "learned", "norm_order": "post", "embedding_norm": True, "num_types": 2,
        "activation": "gelu", "attention_bias": True, "embedding_scale": False,
    },
    "bloom": {
        "positions": "alibi", "embedding_norm": True, "activation": "gelu_tanh",
        "attention_bias": True, "embedding_scale": False,
    },
    "t5": {
        "positions": "relative", "relative_buckets": 6, "relative_max_distance": 5, "norm": "rms",
        "feed_forward_bias": False, "embedding_scale": False, "tied": "all",
    },
}  # fmt: skip

FIRST = ("paper", "llama", "t5")
"""They differ in everything but learned positions and ALiBi."""
each_variant = pytest.mark.parametrize("variant", often(VARIANTS, FIRST.__contains__))


def config_of(variant: str, **changes: Any) -> TransformerConfig:
    return TransformerConfig(**{**SIZES, **VARIANTS[variant], **changes})


def randomised(model: Any, *, dtype: torch.dtype = torch.float64, std: float = 0.5) -> Any:
    """Draw every weight: ones and zeros would hide what they multiply and add to."""
    torch.manual_seed(3)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std)
    return model.to(dtype).eval()


Get = Callable[[nn.Parameter], Tensor]
"""What is wanted of a parameter of torch's: its value, or its gradient."""


def value(parameter: nn.Parameter) -> Tensor:
    return parameter.detach().clone()


def gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def attention_of(theirs: nn.MultiheadAttention, name: str, get: Get) -> dict[str, Tensor]:
    """Torch's attention under our names."""
    parts = zip(
        ("query", "key", "value"),
        get(theirs.in_proj_weight).chunk(3),
        get(theirs.in_proj_bias).chunk(3),
        strict=True,
    )
    found: dict[str, Tensor] = {}
    for part, weight, bias in parts:
        found |= {f"{name}.{part}_proj.weight": weight, f"{name}.{part}_proj.bias": bias}
    return found | module_of(theirs.out_proj, f"{name}.output_proj", get)


def module_of(theirs: nn.Module, name: str, get: Get) -> dict[str, Tensor]:
    return {f"{name}.{key}": get(parameter) for key, parameter in theirs.named_parameters()}


def block_of(theirs: Any, get: Get) -> dict[str, Tensor]:
    """An encoder or decoder layer of torch's under our names."""
    cross = hasattr(theirs, "multihead_attn")
    found = {
        **attention_of(theirs.self_attn, "self_attention", get),
        **module_of(theirs.norm1, "self_residual.norm", get),
        **module_of(theirs.linear1, "feed_forward.up_proj", get),
        **module_of(theirs.linear2, "feed_forward.down_proj", get),
        **module_of(theirs.norm3 if cross else theirs.norm2, "feed_forward_residual.norm", get),
    }
    if cross:
        found |= attention_of(theirs.multihead_attn, "cross_attention", get)
        found |= module_of(theirs.norm2, "cross_residual.norm", get)
    return found


def stack_of(theirs: Any, get: Get) -> dict[str, Tensor]:
    """A whole encoder or decoder of torch's under our names."""
    found = {} if theirs.norm is None else module_of(theirs.norm, "norm", get)
    for number, layer in enumerate(theirs.layers):
        names = block_of(layer, get).items()
        found |= {f"blocks.{number}.{name}": tensor for name, tensor in names}
    return found
