"""What is unusual about each architecture, in a few sentences whose numbers come from its spec."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.models.atlas.specs import ModelSpec
from companion.pages.atlas.kinds import kind_of, parts_of
from companion.pages.atlas.rows import AtlasRow

UNUSUAL: Mapping[str, str] = {
    "llama": "This is the plain form from which nearly all others here start: grouped heads of"
    " keys and values, rotary positions in every layer, an RMS norm before each part. In the"
    " default configuration all {num_heads} heads keep keys and values of their own.",
    "mistral": "Every layer has a window of {window:,} tokens, so the cache stops growing at that"
    " length. A token can still learn of earlier ones, because each layer reads what the layer"
    " below has already gathered.",
    "ministral3": "It multiplies queries by a factor that grows with the logarithm of their"
    " position, a step at every {length_step:,} tokens, so that the softmax stays sharp when there"
    " are many keys. Its rotary frequencies are stretched by YaRN.",
    "qwen2": "The projections to queries, keys and values have biases and the output projection has"
    " none, which was rare by then. The rest is Llama.",
    "qwen3": "It took the biases of Qwen2 away and put a norm on queries and keys in their place,"
    " one head at a time and before the rotation, which bounds how large a score can become.",
    "smollm3": "Every fourth layer, {still} of {layers}, has no positions at all: there only the"
    " causal mask tells tokens apart. The library's file calls these layers NoPE.",
    "olmo2": "The norms stand after each part instead of before it, inside the residual branch, so"
    " the stream itself is never normalised before it is read. Queries and keys get a norm over all"
    " heads together, where most others norm each head by itself.",
    "olmo3": "It is OLMo 2 with a window of {window:,} tokens in {windows} of its {layers} layers:"
    " three windows, then one layer that reads everything.",
    "exaone4": "Layers with a window have rotary positions, and the full layers between them have"
    " none. So order is a local matter, and what is far away is found by what it says. The norms"
    " stand after each part, as in OLMo 2.",
    "granite": "Four factors are set by hand where others have fixed ones: on the embeddings, on"
    " the scores in place of one over the root of the width, on every residual branch, and on the"
    " logits. They keep sizes alike when the model is made wider.",
    "cohere2": "Attention and feed-forward run side by side: both read the same LayerNorm, and"
    " both results are added. Windows of {window:,} tokens have rotary positions, and every fourth"
    " layer reads everything and has none.",
    "gemma2": "Scores are bounded by {softcap:g} through a hyperbolic tangent, and so are the"
    " logits, by {logit_softcap:g}. Windows and full layers alternate, and every part has a norm"
    " before it and another after it.",
    "gemma3_text": "It gave up the bound on the scores of Gemma 2 and put a norm on queries and"
    " keys. Only {full} of {layers} layers read everything, and those turn with a base of"
    " {base_full:,.0f}, the windows with {base_window:,.0f}, because slow rotations tell distances"
    " apart over a longer text.",
    "mixtral": "Its attention is Mistral's. What was new stands beside it: each token passes"
    " through {experts_per_token} of {num_experts} feed-forward layers, which a router chooses.",
    "qwen3_moe": "Its attention is that of Qwen3, with only {num_kv_heads} heads of keys and values"
    " for {num_heads} query heads. Every layer has {num_experts} small experts, of which a token"
    " uses {experts_per_token}.",
    "gpt_oss": "Each head has a learned sink: a score that belongs to no token and takes its share"
    " of the softmax, so a head may attend to almost nothing. Every second layer has a window of"
    " only {window:,} tokens, and all projections have biases again.",
}
"""By model_type, up to three sentences; a number in braces is one of `numbers_of`."""


def unusual(row: AtlasRow) -> str:
    """Return what is unusual about an architecture; nothing where nobody has written it.

    >>> from companion.pages.atlas.rows import load_atlas
    >>> unusual(load_atlas().row("mistral")).partition(",")[0]
    'Every layer has a window of 4'
    """
    return UNUSUAL.get(row.model_type, "").format(**numbers_of(row.spec))


def numbers_of(spec: ModelSpec) -> dict[str, Any]:
    """Return the numbers of a specification by their names.

    Those of parts of a layer are of the first layer that has them; `windows`, `full`, `states` and
    `still` count layers by what they reach and those without positions.
    """
    found: dict[str, Any] = {"layers": len(spec.layers)}
    for part in ("embed_dim", "logit_softcap", "embedding_scale", "logit_scale"):
        found[part] = getattr(spec, part)
    for layer in spec.layers:
        for whole in (layer.mixer, layer.feed_forward):
            for name, value in parts_of(whole) if whole is not None else ():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    found.setdefault(name, value)
        length_scale = getattr(layer.mixer, "length_scale", None)
        if length_scale is not None:
            found["length_step"] = length_scale[1]
        rotary = getattr(layer.mixer, "rotary", None)
        if rotary is not None:
            found.setdefault(f"base_{kind_of(layer).reach}", rotary.base)
            found.setdefault(f"rotary_{kind_of(layer).reach}", rotary.width)
    reaches = [kind_of(layer).reach for layer in spec.layers]
    names = {"windows": "window", "states": "state", "latents": "latent", "indexed": "indexed"}
    counts = {name: reaches.count(reach) for name, reach in names.items()}  # type: ignore[arg-type]
    still = sum("without positions" in kind_of(layer).one for layer in spec.layers)
    shared = sum(layer.shares is not None for layer in spec.layers)
    return found | counts | {"full": reaches.count("full"), "still": still, "shared": shared}
