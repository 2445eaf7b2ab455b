"""Models of Hugging Face's library, read from a local folder into the models of this package."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from companion.models.transformer.config import Activation, TransformerConfig
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.stored import Stored
from companion.models.transformer.text_encoder import MaskedLanguageModel, TextEncoder
from companion.models.transformer.weights import (
    check_dtype,
    check_tensors,
    filled,
    path_of,
    read_json,
    shapes_of,
)
from companion.positions import Linear, Llama3, RotaryScaling, Yarn

NOTHING = r"(?!)"
"""A pattern that matches no name."""

Pretrained = LanguageModel | MaskedLanguageModel | TextEncoder
Tensors = Mapping[str, Tensor]

_ACTIVATIONS: dict[str, Activation] = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}


class Layout(NamedTuple):
    """How one architecture is written down.

    Attributes:
        model: the class that can hold it.
        config: its shape.
        names: pairs of a pattern of the package's names and what stands in the files instead.
        ignored: pattern of tensors that the model does without.
        transposed: pattern of matrices that the files hold as (in, out).
        fused: pattern of what holds queries, keys and values side by side.
    """

    model: type[Pretrained]
    config: TransformerConfig
    names: tuple[tuple[str, str], ...]
    ignored: str
    transposed: str = NOTHING
    fused: str = NOTHING

    def name_of(self, own: str) -> str:
        """Return the name in the files of a weight of the package."""
        for pattern, theirs in self.names:
            if match := re.fullmatch(pattern, own):
                return match.expand(theirs)
        return own  # what the files cannot have is then listed as missing

    def shape_of(self, theirs: str, own: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in the files of a weight of the package."""
        rows, *rest = own
        shape = (3 * rows if re.fullmatch(self.fused, theirs) else rows, *rest)
        return shape[::-1] if re.fullmatch(self.transposed, theirs) else shape

    def weight_of(self, own: str, stored: Tensor) -> Tensor:
        """Return a weight of the package from what is stored under its name in the files."""
        theirs = self.name_of(own)
        if re.fullmatch(self.transposed, theirs):
            stored = stored.T
        if re.fullmatch(self.fused, theirs):
            part = next(i for i, name in enumerate(("query", "key", "value")) if name in own)
            stored = stored.chunk(3)[part]
        return stored


def from_pretrained(
    folder: str | os.PathLike[str], *, dtype: torch.dtype | None = None
) -> Pretrained:
    """Read a BERT, GPT-2 or Llama from a local folder of Hugging Face; nothing is downloaded.

    The folder holds `config.json` and the weights, as one `model.safetensors` or in shards with
    their index. A BERT with its head for masked words becomes a `MaskedLanguageModel`, one
    without a `TextEncoder`, the others a `LanguageModel`. BERT's pooler and the heads of other
    tasks are left out. Of special tokens nothing is read: the decoders are told them. A weight is
    read when its place in the model is there, so that memory holds the weights once.

    Args:
        folder: a local folder.
        dtype: of the weights; None means torch's default.

    Returns:
        The model in evaluation mode.

    Raises:
        FileNotFoundError: no such folder, or a file is missing.
        TypeError: a folder that is no path, a field of the configuration of another type, or a
            dtype that is not floating.
        ValueError: another architecture, an option that these models do not have, or tensors that
            are missing, unknown, of another shape or quantized; the message lists them.
    """
    check_dtype(dtype)
    folder = path_of(folder)
    described = read_json(folder / "config.json")
    layouts: dict[str, Callable[[dict[str, Any], Tensors], Layout]] = {
        "bert": _bert,
        "gpt2": _gpt2,
        "llama": _llama,
    }
    kind = described.get("model_type")
    if not isinstance(kind, str) or kind not in layouts:
        raise ValueError(
            f"folder: {folder / 'config.json'} has model_type {kind!r}, "
            f"wanted one of {', '.join(layouts)}"
        )
    options = _Options(described, folder / "config.json")
    if options.get("quantization_config") is not None:
        raise ValueError(f"folder: {options.path} has a quantization_config, wanted plain weights")
    stored = _stored(folder)
    layout = layouts[kind](options, stored)
    _check_weights(layout, stored, folder)
    return filled(
        layout.model,
        layout.config,
        lambda own: layout.weight_of(own, stored[layout.name_of(own)]),
        dtype or torch.get_default_dtype(),
    )


class _Options(dict[str, Any]):
    """The fields of a config.json; one that is not there is an error that names it."""

    def __init__(self, described: dict[str, Any], path: Path | str) -> None:
        super().__init__(described)
        self.path = path

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"folder: {self.path} has no {name}")

    def activation(self, name: str) -> Activation:
        """Return the package's name of an activation."""
        if not isinstance(self[name], str) or self[name] not in _ACTIVATIONS:
            known = ", ".join(_ACTIVATIONS)
            raise ValueError(f"{name}: {self.path} has {self[name]!r}, wanted one of {known}")
        return _ACTIVATIONS[self[name]]

    def switch(self, name: str, default: bool) -> bool:
        """Return an option that is true or false: the text "false" would count as true."""
        value = self.get(name, default)
        if not isinstance(value, bool):
            raise TypeError(f"{name}: {self.path} has {value!r}, wanted true or false")
        return value

    def refuse(self, **wanted: Any) -> None:
        """Refuse options with another value than the only one that the models here have."""
        for name, value in wanted.items():
            if isinstance(value, bool):
                self.switch(name, value)
            if self.get(name, value) != value:
                raise ValueError(f"{name}: {self.path} has {self[name]!r}, wanted {value!r}")


def _present_name(name: str) -> str:
    """Return what a tensor is called today: the oldest files have TensorFlow's names of norms."""
    for old, new in (("LayerNorm.gamma", "LayerNorm.weight"), ("LayerNorm.beta", "LayerNorm.bias")):
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def _is_tied(options: Any, default: bool, tensors: Mapping[str, Tensor], *names: str) -> bool:
    """Say whether head and embedding are one: a head that is stored and differs is its own."""
    head, embedding = (tensors.get(name) for name in names)
    if not options.switch("tie_word_embeddings", default):
        return False
    return head is None or embedding is None or torch.equal(head, embedding)


def _bert(options: Any, tensors: Mapping[str, Tensor]) -> Layout:
    theirs = "bert." if any(name.startswith("bert.") for name in tensors) else ""
    head, words = "cls.predictions.decoder", f"{theirs}embeddings.word_embeddings.weight"
    options.refuse(is_decoder=False, add_cross_attention=False, position_embedding_type="absolute")
    config = TransformerConfig(
        vocab_size=options["vocab_size"],
        embed_dim=options["hidden_size"],
        num_heads=options["num_attention_heads"],
        hidden_dim=options["intermediate_size"],
        num_layers=options["num_hidden_layers"],
        positions="learned",
        max_len=options["max_position_embeddings"],
        norm_order="post",
        norm_eps=options.get("layer_norm_eps", 1e-12),
        embedding_norm=True,
        activation=options.activation("hidden_act"),
        attention_bias=True,
        embedding_scale=False,
        tied="output" if _is_tied(options, True, tensors, f"{head}.weight", words) else "none",
        num_types=options["type_vocab_size"],
        dropout_p=options.get("hidden_dropout_prob", 0.1),
        attention_dropout_p=options.get("attention_probs_dropout_prob", 0.1),
    )
    masked = any(name.startswith("cls.predictions.transform.") for name in tensors)
    text = r"text\." if masked else ""
    # Both names of the bias may be there; the first is the one that is added.
    biases = [name for name in (f"{head}.bias", "cls.predictions.bias") if name in tensors]
    bias = biases[0] if biases else "cls.predictions.bias"
    block, new = text + r"encoder\.blocks\.(\d+)\.", rf"{theirs}encoder.layer.\1."
    names = (
        (text + r"embedding\.words\.(.*)", rf"{theirs}embeddings.word_embeddings.\1"),
        (text + r"embedding\.places\.(.*)", rf"{theirs}embeddings.position_embeddings.\1"),
        (text + r"embedding\.types\.(.*)", rf"{theirs}embeddings.token_type_embeddings.\1"),
        (text + r"embedding\.norm\.(.*)", rf"{theirs}embeddings.LayerNorm.\1"),
        (block + r"self_attention\.output_proj\.(.*)", new + r"attention.output.dense.\2"),
        (block + r"self_attention\.(\w+)_proj\.(.*)", new + r"attention.self.\2.\3"),
        (block + r"self_residual\.norm\.(.*)", new + r"attention.output.LayerNorm.\2"),
        (block + r"feed_forward\.up_proj\.(.*)", new + r"intermediate.dense.\2"),
        (block + r"feed_forward\.down_proj\.(.*)", new + r"output.dense.\2"),
        (block + r"feed_forward_residual\.norm\.(.*)", new + r"output.LayerNorm.\2"),
        (r"transform\.(.*)", r"cls.predictions.transform.dense.\1"),
        (r"norm\.(.*)", r"cls.predictions.transform.LayerNorm.\1"),
        (r"output\.bias", bias),
        (r"output\.vectors\.weight", "cls.predictions.decoder.weight"),
    )
    ignored = (
        r"(?:bert\.)?(?:pooler\..*|embeddings\.position_ids)|cls\.seq_relationship\..*"
        r"|(?:classifier|qa_outputs)\..*"
    )
    if len(biases) > 1:
        ignored += r"|cls\.predictions\.bias"
    if config.tied == "output":
        ignored += r"|cls\.predictions\.decoder\.weight"
    return Layout(MaskedLanguageModel if masked else TextEncoder, config, names, ignored)


def _gpt2(options: Any, tensors: Mapping[str, Tensor]) -> Layout:
    options.refuse(
        scale_attn_weights=True,
        scale_attn_by_inverse_layer_idx=False,
        add_cross_attention=False,
    )
    theirs = "transformer." if any(name.startswith("transformer.") for name in tensors) else ""
    tied = _is_tied(options, True, tensors, "lm_head.weight", f"{theirs}wte.weight")
    config = TransformerConfig(
        vocab_size=options["vocab_size"],
        embed_dim=options["n_embd"],
        num_heads=options["n_head"],
        hidden_dim=options.get("n_inner"),
        num_layers=options["n_layer"],
        positions="learned",
        max_len=options["n_positions"],
        norm_eps=options.get("layer_norm_epsilon", 1e-5),
        activation=options.activation("activation_function"),
        attention_bias=True,
        embedding_scale=False,
        tied="output" if tied else "none",
        dropout_p=options.get("resid_pdrop", 0.1),
        attention_dropout_p=options.get("attn_pdrop", 0.1),
    )
    block, new = r"decoder\.blocks\.(\d+)\.", rf"{theirs}h.\1."
    names = (
        (r"embedding\.words\.(.*)", rf"{theirs}wte.\1"),
        (r"embedding\.places\.(.*)", rf"{theirs}wpe.\1"),
        (block + r"self_residual\.norm\.(.*)", new + r"ln_1.\2"),
        (block + r"feed_forward_residual\.norm\.(.*)", new + r"ln_2.\2"),
        (block + r"self_attention\.output_proj\.(.*)", new + r"attn.c_proj.\2"),
        (block + r"self_attention\.\w+_proj\.(.*)", new + r"attn.c_attn.\2"),
        (block + r"feed_forward\.up_proj\.(.*)", new + r"mlp.c_fc.\2"),
        (block + r"feed_forward\.down_proj\.(.*)", new + r"mlp.c_proj.\2"),
        (r"decoder\.norm\.(.*)", rf"{theirs}ln_f.\1"),
        (r"output\.vectors\.weight", "lm_head.weight"),
    )
    return Layout(
        LanguageModel,
        config,
        names,
        ignored=r".*\.attn\.(?:masked_)?bias"  # the causal mask of older files
        + (r"|lm_head\.weight" if tied else ""),
        transposed=r".*\.(?:c_attn|c_proj|c_fc)\.weight",
        fused=r".*\.c_attn\..*",
    )


def _llama(options: Any, tensors: Mapping[str, Tensor]) -> Layout:
    base, scaling = _rotary(options)
    theirs = "model." if any(name.startswith("model.") for name in tensors) else ""
    tied = _is_tied(options, False, tensors, "lm_head.weight", f"{theirs}embed_tokens.weight")
    config = TransformerConfig(
        vocab_size=options["vocab_size"],
        embed_dim=options["hidden_size"],
        num_heads=options["num_attention_heads"],
        num_kv_heads=options.get("num_key_value_heads"),
        head_dim=options.get("head_dim"),
        hidden_dim=options["intermediate_size"],
        num_layers=options["num_hidden_layers"],
        positions="rotary",
        max_len=options["max_position_embeddings"],
        rotary_base=base,
        rotary_scaling=scaling,
        norm="rms",
        norm_eps=options.get("rms_norm_eps", 1e-6),
        activation=options.activation("hidden_act"),
        gated=True,
        attention_bias=options.switch("attention_bias", False),
        feed_forward_bias=options.switch("mlp_bias", False),
        embedding_scale=False,
        tied="output" if tied else "none",
        dropout_p=0.0,
        attention_dropout_p=options.get("attention_dropout", 0.0),
    )
    block, new = r"decoder\.blocks\.(\d+)\.", rf"{theirs}layers.\1."
    names = (
        (r"embedding\.words\.(.*)", rf"{theirs}embed_tokens.\1"),
        (block + r"self_attention\.(q|k|v|o)\w+_proj\.(.*)", new + r"self_attn.\2_proj.\3"),
        (block + r"feed_forward\.(\w+)_proj\.(.*)", new + r"mlp.\2_proj.\3"),
        (block + r"self_residual\.norm\.(.*)", new + r"input_layernorm.\2"),
        (block + r"feed_forward_residual\.norm\.(.*)", new + r"post_attention_layernorm.\2"),
        (r"decoder\.norm\.(.*)", rf"{theirs}norm.\1"),
        (r"output\.vectors\.weight", "lm_head.weight"),
    )
    ignored = r".*\.rotary_emb\.inv_freq" + (r"|lm_head\.weight" if tied else "")
    return Layout(LanguageModel, config, names, ignored)


def _rotary(options: Any) -> tuple[float, RotaryScaling | None]:
    """Return base and rescaling, from the fields of version 5 or of those before.

    Where a file holds both, the older ones count, as in the library itself. So does an original
    length that stands beside them.
    """
    given = options.get("rope_scaling") or options.get("rope_parameters") or {}
    if not isinstance(given, dict):
        raise ValueError(f"rope_parameters: {options.path} has {given!r}, wanted an object")
    found = _Options(given, f"rope_parameters of {options.path}")
    base = found.get("rope_theta", options.get("rope_theta", 10_000.0))
    kind = found.get("rope_type", found.get("type", "default"))
    part = found.get("partial_rotary_factor", options.get("partial_rotary_factor"))
    if part not in (None, 1.0):
        raise ValueError(f"rope_parameters: {options.path} has {found}, wanted whole heads rotated")
    if kind == "default":
        return base, None
    length = "original_max_position_embeddings"
    original = found.get(length, options["max_position_embeddings"])
    original = options.get(length, original)
    if kind == "linear":
        return base, Linear(found["factor"])
    if kind == "llama3":
        low, high = found["low_freq_factor"], found["high_freq_factor"]
        return base, Llama3(found["factor"], low, high, original)
    own = ("attention_factor", "mscale", "mscale_all_dim")
    if kind == "yarn" and all(found.get(name) is None for name in own):
        return base, Yarn(
            found["factor"],
            original,
            beta_fast=found.get("beta_fast") or 32.0,
            beta_slow=found.get("beta_slow") or 1.0,
            truncate=found.switch("truncate", True),
        )
    raise ValueError(
        f"rope_parameters: {options.path} has {found}, wanted rope_type default, linear, llama3, "
        f"or yarn without a factor on attention of its own"
    )


def _stored(folder: Path) -> Stored:
    """Open the one file of weights, or else the shards that an index names."""
    single, index = folder / "model.safetensors", folder / "model.safetensors.index.json"
    if single.is_file() or not index.is_file():
        return Stored([single], _present_name)
    listed = read_json(index).get("weight_map")
    if not isinstance(listed, dict):
        raise ValueError(f"folder: {index} has no weight_map")
    shards = sorted(set(map(str, listed.values())))
    for shard in shards:
        if Path(shard).name != shard:
            raise ValueError(f"folder: {index} names {shard!r}, wanted files of the folder")
    stored = Stored([folder / shard for shard in shards], _present_name)
    if missing := sorted(name for name in listed if _present_name(name) not in stored):
        raise ValueError(f"tensors: {folder} lacks {', '.join(missing)}, which its index lists")
    return stored


def _check_weights(layout: Layout, stored: Stored, folder: Path) -> None:
    """List what is wrong with the tensors, in the files' words."""
    wanted = {
        layout.name_of(own): layout.shape_of(layout.name_of(own), shape)
        for own, shape in shapes_of(layout.model, layout.config).items()
    }
    if "lm_head.weight" in wanted.keys() - stored.keys():
        raise ValueError(
            f"tensors: {folder} lacks lm_head.weight, which scores words: this is a base model, or "
            f"its tie_word_embeddings is wrong; wanted one saved with its head, as by "
            f"GPT2LMHeadModel or LlamaForCausalLM"
        )
    came = {
        name: shape
        for name, shape in stored.shapes.items()
        if not re.fullmatch(layout.ignored, name)
    }
    check_tensors(wanted, came, str(folder), stored.dtypes)
