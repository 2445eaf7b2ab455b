"""What most families have in common: the names of their weights, and how their fields are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from companion.models.atlas.experts import ExpertsSpec
from companion.models.atlas.families.family import Made, Make
from companion.models.atlas.feed_forward import FeedForwardSpec
from companion.models.atlas.mixers.softmax import AttentionSpec
from companion.models.atlas.norms import NormSpec
from companion.models.atlas.rotation import RotarySpec
from companion.models.atlas.specs import LayerSpec, MixerSpec, ModelSpec
from companion.models.options import ACTIVATIONS, Options
from companion.positions import Linear, Llama3, RotaryScaling, Yarn

_LAYER, _THEIRS = "layers.*", "model.layers.*"

TEXT = {
    "embedding": "model.embed_tokens",
    "norm": "model.norm",
    "output": "lm_head",
}
ATTENTION = {
    f"{_LAYER}.mixer.query_proj": f"{_THEIRS}.self_attn.q_proj",
    f"{_LAYER}.mixer.key_proj": f"{_THEIRS}.self_attn.k_proj",
    f"{_LAYER}.mixer.value_proj": f"{_THEIRS}.self_attn.v_proj",
    f"{_LAYER}.mixer.output_proj": f"{_THEIRS}.self_attn.o_proj",
    f"{_LAYER}.mixer.query_norm": f"{_THEIRS}.self_attn.q_norm",
    f"{_LAYER}.mixer.key_norm": f"{_THEIRS}.self_attn.k_norm",
    f"{_LAYER}.mixer.sinks": f"{_THEIRS}.self_attn.sinks",
    f"{_LAYER}.mixer.gate_proj": f"{_THEIRS}.self_attn.gate_proj",
}
PRE_NORMS = {
    f"{_LAYER}.mixer_norm": f"{_THEIRS}.input_layernorm",
    f"{_LAYER}.feed_forward_norm": f"{_THEIRS}.post_attention_layernorm",
}
POST_NORMS = {
    f"{_LAYER}.mixer_post_norm": f"{_THEIRS}.post_attention_layernorm",
    f"{_LAYER}.feed_forward_post_norm": f"{_THEIRS}.post_feedforward_layernorm",
}
BOTH_NORMS = {
    **POST_NORMS,
    f"{_LAYER}.mixer_norm": f"{_THEIRS}.input_layernorm",
    f"{_LAYER}.feed_forward_norm": f"{_THEIRS}.pre_feedforward_layernorm",
}

SANDWICH = {
    **PRE_NORMS,
    f"{_LAYER}.mixer_post_norm": f"{_THEIRS}.post_self_attn_layernorm",
    f"{_LAYER}.feed_forward_post_norm": f"{_THEIRS}.post_mlp_layernorm",
}


def feed_forward_names(block: str = "mlp") -> dict[str, str]:
    """Return the names of a dense feed-forward layer that the files call `block`."""
    return _projections(f"{_LAYER}.feed_forward", f"{_THEIRS}.{block}")


def _projections(ours: str, theirs: str) -> dict[str, str]:
    parts = ("gate_proj", "up_proj", "down_proj")
    return {f"{ours}.{part}": f"{theirs}.{part}" for part in parts}


def expert_names(
    block: str = "mlp", *, router: str = "gate", shared: str = "shared_experts",
    correction: str = "gate.e_score_correction_bias",
) -> dict[str, str]:  # fmt: skip
    """Return the names of a layer of experts that the files call `block`."""
    ours, theirs = f"{_LAYER}.feed_forward", f"{_THEIRS}.{block}"
    return {
        f"{ours}.router.proj": f"{theirs}.{router}",
        f"{ours}.router.correction": f"{theirs}.{correction}",
        f"{ours}.gate_up": f"{theirs}.experts.gate_up_proj",
        f"{ours}.down": f"{theirs}.experts.down_proj",
        f"{ours}.gate_up_bias": f"{theirs}.experts.gate_up_proj_bias",
        f"{ours}.down_bias": f"{theirs}.experts.down_proj_bias",
        f"{ours}.shared_gate": f"{theirs}.shared_expert_gate",
        **_projections(f"{ours}.shared", f"{theirs}.{shared}"),
    }


LLAMA = {**TEXT, **ATTENTION, **PRE_NORMS, **feed_forward_names()}


def norm_of(
    options: Options, *, eps: str = "rms_norm_eps", **choices: Any
) -> NormSpec:
    """Return the norm of a family that has one epsilon for all, under the name `eps`."""
    return NormSpec(eps=options[eps], **choices)


def head_width(options: Options) -> int:
    """Return the width of a head."""
    width, heads = options.get("head_dim"), options["num_attention_heads"]
    return int(width or options["hidden_size"] // heads)


def kinds(options: Options) -> list[str]:
    """Return the kind of every layer, as the library calls it."""
    return list(options["layer_types"])


def layer_bases(options: Options, still: int = 0) -> list[float]:
    """Return the base of every layer's rotary positions; 0 means that it has none.

    Args:
        options: the fields of a config.json.
        still: one layer in so many has none, counted from the last, where the file does not say.
    """
    if given := options.get("layer_rope_theta"):
        return list(given)
    base, depth = (
        options["rope_parameters"]["rope_theta"],
        options["num_hidden_layers"],
    )
    return [
        0 if still and (depth - 1 - i) % still == 0 else base
        for i in range(depth)
    ]


def sparse_layers(options: Options) -> list[bool]:
    """Return which layers have experts, where the files name the kind of every layer."""
    return [kind == "sparse" for kind in options["mlp_layer_types"]]


def behind_dense(options: Options) -> list[bool]:
    """Return which layers have experts, where these follow on some dense ones."""
    first, depth = "first_k_dense_replace", options["num_hidden_layers"]
    return [number >= options[first] for number in range(int(depth))]


def every_step(options: Options) -> list[bool]:
    """Return which layers have experts, where every so many have but for some that are named."""
    dense = options.get("mlp_only_layers") or []
    step = options.get("decoder_sparse_step", 1)
    depth = options["num_hidden_layers"]
    return [i not in dense and (i + 1) % step == 0 for i in range(depth)]


def feed_forward_of(
    options: Options, *, width: int | None = None, **choices: Any
) -> FeedForwardSpec:
    """Return the dense feed-forward layer; `choices` say what is different."""
    given = {
        "activation": choices.get("activation") or _activation(options),
        "bias": options.flag("mlp_bias", False),
    }
    width = width or options["intermediate_size"]
    return FeedForwardSpec(width, **(given | choices))


def experts_of(options: Options, **choices: Any) -> ExpertsSpec:
    """Return a layer of experts; `choices` say what the fields do not."""
    counts = "num_local_experts num_experts n_routed_experts moe_num_experts"
    used = "num_experts_per_tok moe_topk moe_k"
    widths = "moe_intermediate_size intermediate_size"
    given = {
        "num_experts": _first(options, counts),
        "experts_per_token": _first(options, used),
        "hidden_dim": _first(options, widths),
        "activation": choices.get("activation") or _activation(options),
    }
    return ExpertsSpec(**(given | choices))


def _activation(options: Options) -> Any:
    """Return the activation, which the files call by one of three names."""
    names = ("hidden_act", "hidden_activation", "mlp_hidden_act")
    name = next((name for name in names if options.get(name)), names[0])
    return options.one_of(name, {**ACTIVATIONS, "xielu": "xielu"})


def _first(options: Options, names: str) -> Any:
    """Return the first field of several names that is there."""
    given = (name for name in names.split() if options.get(name) is not None)
    return options[next(given, names.split()[0])]


def balanced_experts_of(options: Options, **choices: Any) -> ExpertsSpec:
    """Return experts with DeepSeek-V3's router: sigmoids, a correction, and groups."""
    given = {
        "scores": "sigmoid",
        "corrected": True,
        "normalised": options.flag("norm_topk_prob", True),
        "scale": options.get("routed_scaling_factor", 1.0),
        "groups": options.get("n_group") or 1,
        "groups_per_token": options.get("topk_group") or 1,
    }
    shared = options.get("n_shared_experts")
    shared = shared or options.get("num_shared_experts")
    if shared and "shared_dim" not in choices:
        given["shared_dim"] = shared * options["moe_intermediate_size"]
    return experts_of(options, **(given | choices))


def attention_of(
    options: Options, kind: str = "full_attention", **choices: Any
) -> AttentionSpec:
    """Return grouped-query attention with rotary positions; `choices` say what is different."""
    width, heads = head_width(options), options["num_attention_heads"]
    bias = options.flag("attention_bias", False)
    near = kind == "sliding_attention"
    given = {
        "num_heads": heads,
        "num_kv_heads": options.get("num_key_value_heads") or heads,
        "head_dim": width,
        "window": options["sliding_window"] if near else None,
        "bias": bias,
        "output_bias": bias,
    }
    if "rotary" not in choices:
        given["rotary"] = rotary_of(options, width, kind=kind)
    return AttentionSpec(**(given | choices))


def attentions(
    options: Options, turned: Iterable[Any] | None = None, *, interleaved: bool = False,
    **choices: Any,
) -> list[AttentionSpec]:  # fmt: skip
    """Return the attention of every layer; `choices` say what is different.

    With `turned`, those layers alone have rotary positions for which it is true, and with either
    option the positions do not depend on the kind of a layer.
    """
    named = kinds(options)
    if turned is None and not interleaved:
        return [attention_of(options, kind, **choices) for kind in named]
    rotary = rotary_of(options, head_width(options), interleaved=interleaved)
    flags = [True] * len(named) if turned is None else turned
    return [
        attention_of(options, kind, rotary=rotary if flag else None, **choices)
        for kind, flag in zip(named, flags, strict=True)
    ]


def windows(options: Options) -> list[bool]:
    """Return which layers have a window."""
    return [kind == "sliding_attention" for kind in kinds(options)]


def turned_in_windows(options: Options) -> list[bool]:
    """Return which layers have rotary positions: those with windows, or all if there are none."""
    everywhere = options.get("sliding_window") is None
    return [everywhere or window for window in windows(options)]


def model_of(
    options: Options, layers: Sequence[LayerSpec], *, norm: NormSpec | None = None,
    tied: bool = False, **choices: Any,
) -> ModelSpec:  # fmt: skip
    """Return the specification around some layers."""
    return ModelSpec(
        options["vocab_size"], options["hidden_size"], tuple(layers), norm=norm or norm_of(options),
        tied=options.flag("tie_word_embeddings", tied), **choices,
    )  # fmt: skip


def stacked(
    options: Options, mixers: Sequence[MixerSpec], computing: Any = None, *,
    norm: NormSpec | None = None, **choices: Any,
) -> ModelSpec:  # fmt: skip
    """Return a model whose layers differ in what mixes, and perhaps in what computes.

    Args:
        options: the fields of a config.json.
        mixers: of every layer.
        computing: a specification for all layers, or a list; None means a dense layer.
        norm: before every part, and behind the last layer.
        choices: more fields of the layers and of the model, which have no name in common.
    """
    norm = norm or norm_of(options)
    computing = computing or feed_forward_of(options)
    if not isinstance(computing, list):
        computing = [computing] * len(mixers)
    names = {part.name for part in fields(ModelSpec)}
    whole = {name: choices.pop(name) for name in names & choices.keys()}
    given = {"pre_norm": norm} | choices
    layers = [
        LayerSpec(mixer, computes, **given)
        for mixer, computes in zip(mixers, computing, strict=True)
    ]
    return model_of(options, layers, norm=norm, **whole)


def mixed_model(
    options: Options, mixers: Sequence[MixerSpec], experts: ExpertsSpec,
    sparse: Iterable[bool] | None = None, *, dense: FeedForwardSpec | None = None, **choices: Any,
) -> ModelSpec:  # fmt: skip
    """Return a model with experts in the layers for which `sparse` is true, or in all."""
    dense = dense or feed_forward_of(options)
    routed = [True] * len(mixers) if sparse is None else sparse
    computing = [experts if one else dense for one in routed]
    return stacked(options, mixers, computing, **choices)


def granite_scales(options: Options) -> dict[str, Any]:
    """Return the factors that Granite has on its parts, its embeddings and its scores."""
    return {
        "residual_scale": options["residual_multiplier"],
        "embedding_scale": options["embedding_multiplier"],
        "logit_scale": 1 / options["logits_scaling"],
    }


def rotary_of(
    options: Options, width: int, *, kind: str | None = None, **choices: Any
) -> RotarySpec:
    """Return the rotary positions of a head of some width, for a kind of layer."""
    rope = _rope(options, kind)
    base = choices.pop("base", rope.get("rope_theta", 10_000.0))
    part = rope.get("partial_rotary_factor", 1.0)
    name = rope.get("rope_type", "default")
    if name == "proportional":
        pairs = int(part * width // 2)
        still = width // 2 - pairs
        return RotarySpec(2 * pairs, base=base, still=still, **choices)
    scaling, factor = _scaling(options, rope, name)
    return RotarySpec(
        int(width * (1.0 if part is None else part)),
        base=base, scaling=scaling, factor=factor, **choices,
    )  # fmt: skip


def transposed(stored: Tensor, _: LayerSpec) -> Tensor:
    """Return a weight that is stored with input and output exchanged."""
    return stored.mT


def flat(stored: Tensor, _: LayerSpec) -> Tensor:
    """Return a weight that is stored with more axes than it has."""
    return stored.flatten()


def channels_first(stored: Tensor, _: LayerSpec) -> Tensor:
    """Return the weights (c, w) of a convolution of torch, (c, 1, w)."""
    return stored[:, 0]


def of_each_head(number: int, count: int, heads: str = "num_heads") -> Make:
    """Return what takes one of `count` parts that a projection has, head by head."""

    def take(stored: Tensor, layer: LayerSpec) -> Tensor:
        parts = (getattr(layer.mixer, heads), count, -1)
        return torch.unflatten(stored, 0, parts)[:, number].flatten(0, 1)

    return take


def half(number: int) -> Make:
    """Return what takes the gate (0) or the other factor (1) out of one stored projection."""
    return lambda stored, _: stored.chunk(2)[number]


def halves(theirs: str, ours: str = "layers.*.feed_forward") -> dict[str, Any]:
    """Return the names of a gate and the other factor that lie in one stored projection."""
    return {
        f"{ours}.gate_proj": Made(theirs, half(0)),
        f"{ours}.up_proj": Made(theirs, half(1)),
    }


def _rope(options: Options, kind: str | None) -> Options:
    given = options.get("rope_parameters") or {}
    if kind in given:
        given = given[kind] or {}
    return Options(given, f"rope_parameters of {options.path}")


def _scaling(
    options: Options, rope: Options, name: str
) -> tuple[RotaryScaling | None, float | None]:
    """Return a rescaling of frequencies, and the factor on what is rotated where it is given."""
    if name == "default":
        return None, None
    if name == "linear":
        return Linear(rope["factor"]), None
    length = rope.get("original_max_position_embeddings")
    length = length or options["max_position_embeddings"]
    if name == "llama3":
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        return Llama3(rope["factor"], low, high, length), None
    if name == "yarn":
        scaling = Yarn(
            rope["factor"], length, beta_fast=rope.get("beta_fast") or 32.0,
            beta_slow=rope.get("beta_slow") or 1, truncate=rope.flag("truncate", True),
        )  # fmt: skip
        return scaling, _yarn_factor(rope)
    raise ValueError(
        f"{rope.path} has rope_type {name!r}, wanted rope_type default, linear, llama3 or yarn"
    )


def _yarn_factor(rope: Options) -> float:
    """Return what YaRN multiplies rotated features by: given, or made of one or two numbers."""
    if rope.get("attention_factor") is not None:
        return float(rope["attention_factor"])
    stretch = math.log(max(rope["factor"], 1.0))
    sizes = (rope.get(name) for name in ("mscale", "mscale_all_dim"))
    over, under = (float(size or 0) for size in sizes)
    if over and under:
        return (0.1 * over * stretch + 1) / (0.1 * under * stretch + 1)
    return 0.1 * stretch + 1
