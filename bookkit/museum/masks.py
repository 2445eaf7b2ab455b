"""Masks that let the future in."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.museum.exhibit import (
    Exhibit,
    attend_causally,
    seeded,
    two_inputs,
    two_texts,
)
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_agree, check_causal, check_mask
from companion.layers import MultiHeadAttention
from companion.masks import causal_mask
from companion.models.transformer import LanguageModel, TransformerConfig


def hidden_for_allowed(x: Tensor) -> Tensor:
    """Attend causally, with a mask that is True where a key is to be hidden."""
    n = x.shape[1]
    hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
    return nn.functional.scaled_dot_product_attention(
        x, x, x, attn_mask=hidden
    )


def mask_of_another_library(x: Tensor, mask: Tensor) -> Tensor:
    """Pass a mask in which True = may attend to torch's older layer."""
    layer = seeded(
        lambda: nn.MultiheadAttention(x.shape[-1], 2, batch_first=True)
    )
    output: Tensor = layer(x, x, x, attn_mask=mask, need_weights=False)[0]
    return output


def small_language_model() -> LanguageModel:
    """Make a causal language model of one block, with weights from torch's generator."""
    config = TransformerConfig(
        vocab_size=12,
        embed_dim=32,
        num_heads=2,
        num_layers=1,
        positions="learned",
        max_len=16,
        dropout_p=0.0,
    )
    return LanguageModel(config)


def all_at_once(
    query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any
) -> Tensor:
    """Attend to the own position and to all after it: what the causal mask was to hide."""
    upside_down = causal_mask(query.shape[-2], like=query).mT
    return scaled_dot_product_attention(query, key, value, upside_down)


def peeking_model() -> LanguageModel:
    """Make the same model with the mask upside down in its attention."""
    model = small_language_model()
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.attention_fn = all_at_once
    return model


def written_out(x: Tensor) -> Tensor:
    """Attend causally, slowly, as the model did in training."""
    scores = x @ x.mT / math.sqrt(x.shape[-1])
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf).softmax(-1) @ x


def fast_path(x: Tensor) -> Tensor:
    """Hand the mask of `written_out` to the fused kernel, in which True means the opposite."""
    future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
    return nn.functional.scaled_dot_product_attention(x, x, x, future)


MASKS = (
    Exhibit(
        "upside down", "A mask of what is hidden, given to a function that asks what may be seen",
        broken=hidden_for_allowed, sound=attend_causally,
        check=lambda attend: check_causal(attend, *two_inputs()), hint="upside down",
        threads=("rasbt/LLMs-from-scratch #1061 #1062",),
    ),
    Exhibit(
        "two libraries", "One mask, two libraries, two meanings", broken=mask_of_another_library,
        sound=lambda x, mask: seeded(lambda: MultiHeadAttention(8, 2))(x, attn_mask=mask),
        check=lambda attend: check_mask(attend, *two_inputs()), hint="True means must not attend",
        threads=("pytorch/pytorch #170400 #120668", "patrick-kidger/equinox #463"),
    ),
    Exhibit(
        "too good", "A model that is right too often, because it reads the answer",
        broken=peeking_model, sound=small_language_model,
        check=lambda make: check_causal(seeded(make), *two_texts()), hint="upside down",
        threads=("tensorflow/text #894",),
    ),
    Exhibit(
        "the fast path", "A trained model that is wrong on one backend only", broken=fast_path,
        sound=attend_causally,
        check=lambda attend: check_agree(written_out, attend, two_inputs()[0]),
        hint="the two differ", threads=("huggingface/transformers #38094",),
    ),
)  # fmt: skip
