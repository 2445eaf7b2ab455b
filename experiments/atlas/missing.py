"""Why architectures of the library are no rows of the atlas, where we know it."""

from collections.abc import Mapping

_PICTURES = "It also reads pictures. The part of it that reads text is the row of the same name."

REASONS: Mapping[str, str] = {
    "axk2": "Some of its norms have a small gate, and its queries and gates are computed from a "
    "short vector and its normalised form together.",
    "dots3_note": "In its latent attention, windows have heads of other widths than full layers, "
    "and the rotary key has a norm.",
    "gemma3": _PICTURES,
    "gemma3n_text": "It computes one of several residual streams and predicts the others, and in "
    "some layers it sets all but the largest activations to zero.",
    "gemma4": _PICTURES,
    "gemma4_unified": _PICTURES,
    "glm5_next_text": "Its indexer pools the keys of latent attention in blocks.",
    "gpt2": "Its positions are learned vectors. Another class of our package reads it, "
    "LanguageModel.",
    "inkling2_text": "It convolves keys and values, has relative positions and sinks that depend "
    "on the input, and its layers also attend to what earlier layers have given.",
    "jamba": "Its recurrent layers are those of the first Mamba, and the atlas has only the "
    "second.",
    "llama4": _PICTURES,
    "longcat_flash": "Some of its experts do nothing, so that the cost of a token depends on the "
    "token.",
    "mistral_large4_text": "Its rotary frequencies are learned, and layers share latents while "
    "they keep the keys of an indexer apart.",
    "modernbert-decoder": "Its first layer of attention has no norm, and what the last layer gives "
    "passes through another norm before the next token is scored.",
    "phimoe": "Its router chooses one expert after the other (SparseMixer). No row has such a "
    "router.",
    "qwen4_exp_text": "It mixes its residual streams in a way that no row has, and its indexer "
    "scores means of several keys.",
    "zamba2": "One layer of attention is used at several depths, each time with a small adapter "
    "that belongs to that depth.",
}
"""By model_type, a sentence."""
