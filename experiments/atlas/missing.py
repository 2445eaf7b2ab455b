"""Why architectures of the library are no rows of the atlas, where we know it."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "axk2": "Its norms have gates of low rank in some places only, and its queries and gates "
    "unfold "
    "from two sources.",
    "dots3_note": "Its latent attention has windows with widths of their own, and a norm on the "
    "rotary key.",
    "gemma3n_text": "It predicts parts of its residual stream, and cuts activations by a quantile.",
    "glm5_next_text": "Its indexer pools the keys of latent attention in blocks.",
    "gpt2": "Its positions are learned; the package reads it as a `LanguageModel`.",
    "inkling2_text": "It convolves keys and values, has relative positions and sinks that "
    "depend on "
    "the input, and attends over its own depth.",
    "jamba": "Its recurrent layers are those of the first Mamba.",
    "longcat_flash": "Some of its experts do nothing, so that the cost of a token depends on the "
    "token.",
    "mistral_large4_text": "Its rotary frequencies are learned, and layers share latents "
    "while they "
    "keep the keys of an indexer apart.",
    "modernbert-decoder": "Its first layer has no norm, and its scores pass through another layer.",
    "phimoe": "Its router draws experts by a rule of its own.",
    "qwen4_exp_text": "Its residual streams are mixed in another way, and its indexer reads "
    "means of "
    "keys.",
    "zamba2": "Its attention is one layer that many places share, each with an adapter.",
}
"""By model_type, a sentence."""
