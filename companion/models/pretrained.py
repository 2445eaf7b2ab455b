"""Models of Hugging Face's library, read from a local folder into the models of this package."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from companion.contracts import contract
from companion.models.atlas import FAMILIES, DecoderModel, read_weights
from companion.models.atlas.families import stored_spec, text_fields
from companion.models.atlas.families.shared import LLAMA, head_width, rotary_of
from companion.models.options import Options
from companion.models.pattern import NAMES
from companion.models.transformer.config import Tied, TransformerConfig
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.stored import Stored
from companion.models.transformer.text_encoder import (
    MaskedLanguageModel,
    TextEncoder,
)
from companion.models.transformer.weights import (
    build,
    check_dtype,
    check_tensors,
    read_json,
    shapes_of,
)
from companion.positions import RotaryScaling

Pretrained = LanguageModel | MaskedLanguageModel | TextEncoder | DecoderModel
Tensors = Mapping[str, Tensor]

# Modules of the package, and their names in the files; * is the number of a block.
_BERT = {
    "embedding.words": "embeddings.word_embeddings",
    "embedding.places": "embeddings.position_embeddings",
    "embedding.types": "embeddings.token_type_embeddings",
    "embedding.norm": "embeddings.LayerNorm",
    "encoder.blocks.*.self_attention.query_proj": "encoder.layer.*.attention.self.query",
    "encoder.blocks.*.self_attention.key_proj": "encoder.layer.*.attention.self.key",
    "encoder.blocks.*.self_attention.value_proj": "encoder.layer.*.attention.self.value",
    "encoder.blocks.*.self_attention.output_proj": "encoder.layer.*.attention.output.dense",
    "encoder.blocks.*.self_residual.norm": "encoder.layer.*.attention.output.LayerNorm",
    "encoder.blocks.*.feed_forward.up_proj": "encoder.layer.*.intermediate.dense",
    "encoder.blocks.*.feed_forward.down_proj": "encoder.layer.*.output.dense",
    "encoder.blocks.*.feed_forward_residual.norm": "encoder.layer.*.output.LayerNorm",
}
_GPT2 = {
    "embedding.words": "wte",
    "embedding.places": "wpe",
    "decoder.blocks.*.self_residual.norm": "h.*.ln_1",
    "decoder.blocks.*.self_attention.query_proj": "h.*.attn.c_attn",
    "decoder.blocks.*.self_attention.key_proj": "h.*.attn.c_attn",
    "decoder.blocks.*.self_attention.value_proj": "h.*.attn.c_attn",
    "decoder.blocks.*.self_attention.output_proj": "h.*.attn.c_proj",
    "decoder.blocks.*.feed_forward_residual.norm": "h.*.ln_2",
    "decoder.blocks.*.feed_forward.up_proj": "h.*.mlp.c_fc",
    "decoder.blocks.*.feed_forward.down_proj": "h.*.mlp.c_proj",
    "decoder.norm": "ln_f",
}
_LLAMA = {
    own: str(LLAMA[atlas]).removeprefix("model.")
    for atlas, own in NAMES.items()
    if atlas in LLAMA
}


_AROUND = (
    "audioflamingo3", "deepseek_vl", "exaone4_5", "gemma3", "gemma4", "gemma4_unified",
    "got_ocr2", "idefics2", "idefics3", "internvl", "janus", "lfm2_vl", "lfm3_vl", "llama4",
    "llava", "llava_next", "llava_next_video", "llava_onevision", "minicpmv4_6", "minicpmv4_7",
    "mistral3", "qwen2_audio", "qwen3_asr", "smolvlm", "video_llava", "vipllava", "voxtral",
)  # fmt: skip
"""Models that see or hear as well, and whose text model gives their logits of a text."""


class Layout(NamedTuple):
    """How the files of one architecture hold the weights of a model of the package.

    Attributes:
        model: the class of the model.
        config: its shape.
        modules: the names of its modules, and those in the files; * is the number of a block.
        ignored: patterns of tensors that the model does not need.
        transposed: patterns of matrices that are stored as (in, out).
        fused: patterns of tensors that hold queries, keys and values side by side.
    """

    model: type[Pretrained]
    config: TransformerConfig
    modules: dict[str, str]
    ignored: tuple[str, ...]
    transposed: tuple[str, ...] = ()
    fused: tuple[str, ...] = ()

    def name_of(self, own: str) -> str:
        """Return the name in the files of a weight of the package."""
        module, _, kind = own.rpartition(".")
        number = re.search(r"\d+", module)
        theirs = self.modules[re.sub(r"\d+", "*", module)]
        return f"{theirs.replace('*', number[0] if number else '')}.{kind}"

    def shape_of(self, own: str, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape in the files of a weight of the package."""
        name = self.name_of(own)
        if _matches(name, self.fused):
            shape = (3 * shape[0], *shape[1:])
        return shape[::-1] if _matches(name, self.transposed) else shape

    def weight_of(self, own: str, tensors: Tensors) -> Tensor:
        """Return a weight of the package, read from the tensors in the files."""
        name = self.name_of(own)
        weight = (
            tensors[name].T
            if _matches(name, self.transposed)
            else tensors[name]
        )
        if _matches(name, self.fused):
            number = next(
                i
                for i, part in enumerate(("query", "key", "value"))
                if part in own
            )
            weight = weight.chunk(3)[number]
        return weight


@contract()
def from_pretrained(
    folder: str | os.PathLike[str], *, dtype: torch.dtype | None = None
) -> Pretrained:
    """Read a model of Hugging Face's library from a local folder; nothing is downloaded.

    The folder holds `config.json` and the weights, as one `model.safetensors` or in shards with
    their index. A BERT with its head for masked words becomes a `MaskedLanguageModel`, one
    without a `TextEncoder`; GPT-2 and Llama become a `LanguageModel`, and every architecture of
    `companion.models.atlas` a `DecoderModel`. Of a model that also sees or hears, the text model
    is read. BERT's pooler and the heads of other tasks are left out, and so are special tokens,
    which the decoders take as arguments. Weights are read one by one, so that memory holds them
    only once.

    Args:
        folder: a local folder.
        dtype: of the weights; None means torch's default.

    Returns:
        The model in evaluation mode.

    Raises:
        FileNotFoundError: no such folder, or a file is missing.
        TypeError: a field of the configuration of another type.
        ValueError: another architecture, an option that these models do not have, or tensors that
            are missing, unknown, of another shape or quantized; the message lists them.
    """
    check_dtype(dtype)
    path = Path(folder) / "config.json"
    options = Options(read_json(path), path)
    layouts: dict[str, Callable[[Options, Tensors], Layout]] = {
        "bert": _bert,
        "gpt2": _gpt2,
        "llama": _llama,
    }
    named = str(options.get("model_type"))
    layout_of = layouts.get(named)
    known = {*layouts, *FAMILIES, *_AROUND}
    if named not in known:
        raise ValueError(
            f"folder: {path} has model_type {options.get('model_type')!r}, "
            f"wanted one of {', '.join(sorted(known))}"
        )
    inner = options.get("text_config") or {}
    if {**inner, **options}.get("quantization_config") is not None:
        raise ValueError(
            f"folder: {path} has a quantization_config, wanted plain weights"
        )
    name_of = _text_name if named in _AROUND else _modern_name
    stored = _open_weights(path.parent, name_of)
    if layout_of is None:
        return _of_the_atlas(
            options, stored, path, dtype or torch.get_default_dtype()
        )
    if layout_of is _llama:
        options = text_fields(options, path=str(path))
    layout = layout_of(options, stored)
    _check_weights(layout, stored, path.parent)
    return build(
        layout.model,
        layout.config,
        lambda own: layout.weight_of(own, stored),
        dtype or torch.get_default_dtype(),
    )


def _of_the_atlas(
    options: Options, stored: Stored, path: Path, dtype: torch.dtype
) -> DecoderModel:
    """Build what config.json describes, without drawing weights, and read those that are stored."""
    with torch.device("meta"):
        spec = stored_spec(options, stored, path=str(path))
        model = DecoderModel(spec).to(dtype)
    model.to_empty(device="cpu")
    if model.spec.tied:
        model.output.weight = model.embedding.weight
    read_weights(model, options, stored, path=str(path))
    return model.eval()


def _tied(
    options: Options, default: bool, head: Tensor | None, words: Tensor | None
) -> Tied:
    """Return what is tied: a head that is stored and differs from the embedding is not."""
    tied = options.flag("tie_word_embeddings", default)
    same = head is None or words is None or torch.equal(head, words)
    return "output" if tied and same else "none"


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _prefix(name: str, tensors: Tensors) -> str:
    """Return what stands before the names of the body: nothing in a model saved without a head."""
    return name if any(stored.startswith(name) for stored in tensors) else ""


def _bert(options: Options, tensors: Tensors) -> Layout:
    options.require(
        is_decoder=False,
        add_cross_attention=False,
        position_embedding_type="absolute",
    )
    body, head = _prefix("bert.", tensors), "cls.predictions"
    vectors = tensors.get(f"{head}.decoder.weight")
    tied = _tied(
        options,
        True,
        vectors,
        tensors.get(f"{body}embeddings.word_embeddings.weight"),
    )
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
        tied=tied,
        num_types=options["type_vocab_size"],
        dropout_p=options.get("hidden_dropout_prob", 0.1),
        attention_dropout_p=options.get("attention_probs_dropout_prob", 0.1),
    )
    masked = any(name.startswith(f"{head}.transform.") for name in tensors)
    text = "text." if masked else ""
    modules = {text + own: body + theirs for own, theirs in _BERT.items()}
    ignored = [
        f"{body}pooler.*",
        f"{body}embeddings.position_ids",
        "cls.seq_relationship.*",
    ]
    ignored += ["classifier.*", "qa_outputs.*"]
    ignored += [f"{head}.decoder.weight"] if tied == "output" else []
    if not masked:
        return Layout(TextEncoder, config, modules, tuple(ignored))
    modules["transform"] = f"{head}.transform.dense"
    modules["norm"] = f"{head}.transform.LayerNorm"
    modules["output.vectors"] = f"{head}.decoder"
    modules["output"] = head
    # Where both biases are stored, this one is added.
    if f"{head}.decoder.bias" in tensors:
        modules["output"] = f"{head}.decoder"
        ignored.append(f"{head}.bias")
    return Layout(MaskedLanguageModel, config, modules, tuple(ignored))


def _gpt2(options: Options, tensors: Tensors) -> Layout:
    options.require(
        scale_attn_weights=True,
        scale_attn_by_inverse_layer_idx=False,
        add_cross_attention=False,
    )
    body = _prefix("transformer.", tensors)
    tied = _tied(
        options,
        True,
        tensors.get("lm_head.weight"),
        tensors.get(f"{body}wte.weight"),
    )
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
        tied=tied,
        dropout_p=options.get("resid_pdrop", 0.1),
        attention_dropout_p=options.get("attn_pdrop", 0.1),
    )
    modules = {own: body + theirs for own, theirs in _GPT2.items()}
    # The causal mask of older files.
    masks = ("*.attn.bias", "*.attn.masked_bias")
    return Layout(
        LanguageModel,
        config,
        modules | {"output.vectors": "lm_head"},
        ignored=(*masks, "lm_head.weight") if tied == "output" else masks,
        transposed=("*.c_attn.weight", "*.c_proj.weight", "*.c_fc.weight"),
        fused=("*.c_attn.*",),
    )


def _llama(options: Options, tensors: Tensors) -> Layout:
    body = _prefix("model.", tensors)
    words = tensors.get(f"{body}embed_tokens.weight")
    tied = _tied(options, False, tensors.get("lm_head.weight"), words)
    base, scaling = _rotary(options)
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
        attention_bias=options.flag("attention_bias", False),
        feed_forward_bias=options.flag("mlp_bias", False),
        embedding_scale=False,
        tied=tied,
        dropout_p=0.0,
        attention_dropout_p=options.get("attention_dropout", 0.0),
    )
    modules = {own: body + theirs for own, theirs in _LLAMA.items()}
    ignored = ["*.rotary_emb.inv_freq"] + ["lm_head.weight"] * (
        tied == "output"
    )
    return Layout(
        LanguageModel,
        config,
        modules | {"output.vectors": "lm_head"},
        tuple(ignored),
    )


def _rotary(options: Options) -> tuple[float, RotaryScaling | None]:
    """Return base and rescaling, as the atlas reads them, if they are what these models have."""
    width = head_width(options)
    rotary = rotary_of(options, width)
    told = f"rope_parameters: {options.path} has {rotary}, wanted"
    if rotary.width != width:
        raise ValueError(f"{told} whole heads rotated")
    if rotary.scaling is not None and rotary.factor not in (
        None,
        rotary.scaling.attention_factor,
    ):
        raise ValueError(
            f"{told} yarn without a factor on attention of its own"
        )
    return rotary.base, rotary.scaling


def _open_weights(folder: Path, name_of: Callable[[str], str]) -> Stored:
    """Open the one file of weights, or else the shards that an index names."""
    single, index = (
        folder / "model.safetensors",
        folder / "model.safetensors.index.json",
    )
    if single.is_file() or not index.is_file():
        return Stored([single], name_of)
    listed = read_json(index).get("weight_map")
    if not isinstance(listed, dict):
        raise ValueError(f"folder: {index} has no weight_map")
    shards = sorted(set(map(str, listed.values())))
    if outside := [shard for shard in shards if Path(shard).name != shard]:
        raise ValueError(
            f"folder: {index} names {outside[0]!r}, wanted files of the folder"
        )
    stored = Stored([folder / shard for shard in shards], name_of)
    there = {"", *stored}
    if missing := sorted(n for n in listed if name_of(n) not in there):
        raise ValueError(
            f"tensors: {folder} lacks {', '.join(missing)}, which its index lists"
        )
    return stored


def _modern_name(name: str) -> str:
    """Return what a tensor is called today: the oldest files have TensorFlow's names of norms."""
    name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
    return re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name)


_INNER = re.compile(
    r"(model\.)?((language|text)_model\.(model\.)?|(?=(lm_head|layers|embed_tokens|norm)\.))(.+)"
)


def _text_name(name: str) -> str:
    """Return what the text model calls a tensor; nothing if it is not of the text model."""
    own = found[6] if (found := _INNER.match(name)) else ""
    return own if own[:8] in ("", "lm_head.") else f"model.{own}"


def _check_weights(layout: Layout, stored: Stored, folder: Path) -> None:
    """List what is wrong with the tensors, by their names in the files."""
    wanted = {
        layout.name_of(own): layout.shape_of(own, shape)
        for own, shape in shapes_of(layout.model, layout.config).items()
    }
    if "lm_head.weight" in wanted.keys() - stored.keys():
        raise ValueError(
            f"tensors: {folder} lacks lm_head.weight, which scores words: this is a base model, or "
            f"its tie_word_embeddings is wrong; wanted one saved with its head, as by "
            f"GPT2LMHeadModel or LlamaForCausalLM"
        )
    shapes = {
        n: shape
        for n, shape in stored.shapes.items()
        if not _matches(n, layout.ignored)
    }
    check_tensors(wanted, shapes, stored.dtypes, str(folder))
