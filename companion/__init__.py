"""Attention mechanisms, defined once, tested and measured.

Every name resolves when it is first used: `import companion` loads no array library, and who works
with NumPy never loads torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from companion.attention import (
        attend,
        attention_with_lse,
        attention_with_weights,
        masked_softmax,
        scaled_dot_product_attention,
        self_attention,
    )
    from companion.cache import KVCache
    from companion.convolution import short_convolution
    from companion.differential import (
        differential_attention,
        differential_attention_with_weights,
        differential_factor,
        headwise_norm,
        initial_factor,
    )
    from companion.dispatch import definitions
    from companion.gates import (
        fixed_decay,
        l2_normalize,
        sigmoid_decay,
        softplus_decay,
    )
    from companion.indexed import (
        block_maxima,
        complete_blocks,
        indexer_divergence,
        indexer_scores,
        keys_of_blocks,
        keys_of_top_blocks,
        pool_blocks,
        top_keys,
    )
    from companion.latent import (
        absorbed_latent_attention,
        latent_attention,
        latent_attention_with_weights,
    )
    from companion.layers import (
        AdditiveAttention,
        FeedForward,
        LuongAttention,
        MultiHeadAttention,
    )
    from companion.linear import (
        chunked_linear_attention,
        elu_feature_map,
        linear_attention,
        recurrent_linear_attention,
    )
    from companion.masks import (
        causal_mask,
        document_mask,
        padding_mask,
        prefix_mask,
        sliding_window_mask,
    )
    from companion.models.pretrained import from_pretrained
    from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
    from companion.models.transformer import (
        LanguageModel,
        MaskedLanguageModel,
        TextEncoder,
        Transformer,
        TransformerConfig,
    )
    from companion.positions import (
        alibi_bias,
        alibi_slopes,
        relative_buckets,
        rotary_frequencies,
        rotate,
        sinusoidal_encoding,
    )
    from companion.scores import (
        additive_score,
        bilinear_score,
        dot_score,
        scaled_dot_score,
    )
    from companion.tiled import (
        merge_attention,
        online_softmax,
        tiled_attention,
        tiled_attention_with_lse,
        window_attention,
    )

__all__ = [
    "AdditiveAttention", "FeedForward", "KVCache", "LanguageModel", "LuongAttention",
    "MaskedLanguageModel", "MultiHeadAttention", "Seq2Seq", "Seq2SeqConfig", "TextEncoder",
    "Transformer", "TransformerConfig", "absorbed_latent_attention", "additive_score",
    "alibi_bias", "alibi_slopes", "attend", "attention_with_lse", "attention_with_weights",
    "bilinear_score", "block_maxima", "causal_mask", "chunked_linear_attention",
    "complete_blocks", "definitions", "differential_attention",
    "differential_attention_with_weights", "differential_factor", "document_mask", "dot_score",
    "elu_feature_map", "fixed_decay", "from_pretrained", "headwise_norm", "indexer_divergence",
    "indexer_scores", "initial_factor", "keys_of_blocks", "keys_of_top_blocks", "l2_normalize",
    "latent_attention", "latent_attention_with_weights", "linear_attention", "masked_softmax",
    "merge_attention", "online_softmax", "padding_mask", "pool_blocks", "prefix_mask",
    "recurrent_linear_attention", "relative_buckets", "rotary_frequencies", "rotate",
    "scaled_dot_product_attention", "scaled_dot_score", "self_attention", "short_convolution",
    "sigmoid_decay", "sinusoidal_encoding", "sliding_window_mask", "softplus_decay",
    "tiled_attention", "tiled_attention_with_lse", "top_keys", "window_attention",
]  # fmt: skip

_MODULES = {
    "attention": (
        "attend", "attention_with_lse", "attention_with_weights", "masked_softmax",
        "scaled_dot_product_attention", "self_attention",
    ),
    "cache": ("KVCache",),
    "convolution": ("short_convolution",),
    "differential": (
        "differential_attention", "differential_attention_with_weights", "differential_factor",
        "headwise_norm", "initial_factor",
    ),
    "dispatch": ("definitions",),
    "gates": ("fixed_decay", "l2_normalize", "sigmoid_decay", "softplus_decay"),
    "indexed": (
        "block_maxima", "complete_blocks", "indexer_divergence", "indexer_scores",
        "keys_of_blocks", "keys_of_top_blocks", "pool_blocks", "top_keys",
    ),
    "latent": (
        "absorbed_latent_attention", "latent_attention", "latent_attention_with_weights",
    ),
    "layers": ("AdditiveAttention", "FeedForward", "LuongAttention", "MultiHeadAttention"),
    "linear": (
        "chunked_linear_attention", "elu_feature_map", "linear_attention",
        "recurrent_linear_attention",
    ),
    "masks": ("causal_mask", "document_mask", "padding_mask", "prefix_mask", "sliding_window_mask"),
    "models.pretrained": ("from_pretrained",),
    "models.seq2seq": ("Seq2Seq", "Seq2SeqConfig"),
    "models.transformer": (
        "LanguageModel", "MaskedLanguageModel", "TextEncoder", "Transformer", "TransformerConfig",
    ),
    "positions": (
        "alibi_bias", "alibi_slopes", "relative_buckets", "rotary_frequencies", "rotate",
        "sinusoidal_encoding",
    ),
    "scores": ("additive_score", "bilinear_score", "dot_score", "scaled_dot_score"),
    "tiled": (
        "merge_attention", "online_softmax", "tiled_attention", "tiled_attention_with_lse",
        "window_attention",
    ),
}  # fmt: skip


def __getattr__(name: str) -> object:
    from importlib import import_module

    for module, names in _MODULES.items():
        if name in names:
            value: object = getattr(import_module(f"companion.{module}"), name)
            globals()[name] = (
                value  # the next look-up finds it without coming here
            )
            return value
    raise AttributeError(f"module 'companion' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
