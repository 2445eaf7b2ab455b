"""Models in GGUF, the format of llama.cpp: one file has the weights, the shape and the words."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from companion.contracts import contract
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.weights import (
    build,
    check_dtype,
    check_tensors,
    shapes_of,
)
from companion.positions import (
    Linear,
    Llama3,
    RotaryScaling,
    Yarn,
    rotary_frequencies,
)

try:
    from gguf import GGUFReader, dequantize
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "companion: files of GGUF are read with the library gguf: "
        "pip install 'attention-companion[real]'",
        name="gguf",
    ) from error

_BLOCK = {
    "self_residual.norm": "attn_norm",
    "self_attention.query_proj": "attn_q",
    "self_attention.key_proj": "attn_k",
    "self_attention.value_proj": "attn_v",
    "self_attention.output_proj": "attn_output",
    "feed_forward_residual.norm": "ffn_norm",
    "feed_forward.gate_proj": "ffn_gate",
    "feed_forward.up_proj": "ffn_up",
    "feed_forward.down_proj": "ffn_down",
}
_NAMES = {
    "embedding.words": "token_embd",
    "decoder.norm": "output_norm",
    "output.vectors": "output",
    **{
        f"decoder.blocks.*.{own}": f"blk.*.{theirs}"
        for own, theirs in _BLOCK.items()
    },
}
"""Modules of a `LanguageModel`, and what the files call them; * is the number of a block."""

_FREQUENCIES = "rope_freqs.weight"


class _Reader(GGUFReader):
    """The format's own reader, over a plain array: a memory map is four times as slow to cut."""

    @property
    def data(self) -> Any:
        return self._plain

    @data.setter
    def data(self, mapped: Any) -> None:
        self._plain = np.asarray(mapped)


class GgufFile(dict[str, Any]):
    """What a file says of a model, by the names of its fields, and its tensors.

    Attributes:
        path: of the file.
        tensors: by name, still quantised.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no GGUF file, or one that was cut off.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise FileNotFoundError(f"path: got no file {path}")
        try:
            reader = _Reader(self.path)
            fields = {
                name: field.contents() for name, field in reader.fields.items()
            }
        except (ValueError, IndexError, KeyError, TypeError) as error:
            raise ValueError(
                f"path: {path} is no GGUF file, or not a whole one: {error}"
            ) from error
        super().__init__(fields)
        self.tensors = {tensor.name: tensor for tensor in reader.tensors}

    def __missing__(self, name: str) -> Any:
        raise ValueError(f"path: {self.path} has no field {name}")

    def require(self, name: str, *wanted: object) -> None:
        """Refuse a field with another value than some; one that is missing has the first."""
        if (given := self.get(name, wanted[0])) not in wanted:
            listed = " or ".join(map(repr, wanted))
            raise ValueError(
                f"{name}: {self.path} has {given!r}, wanted {listed}"
            )

    def read(self, name: str) -> Tensor:
        """Return a tensor in float32, in memory of its own.

        Raises:
            ValueError: a quantisation that the library gguf cannot undo.
        """
        stored = self.tensors[name]
        try:
            numbers = dequantize(stored.data, stored.tensor_type)
        except NotImplementedError as error:
            raise ValueError(
                f"{name}: {self.path} has it as {stored.tensor_type.name}, wanted F32, F16, BF16 "
                f"or a quantisation that gguf can undo"
            ) from error
        # What is stored in float32 would be a view of the file, which may not be written into.
        return torch.from_numpy(np.require(numbers, np.float32, "W"))


@contract()
def from_gguf(
    path: str | os.PathLike[str] | GgufFile,
    *,
    dtype: torch.dtype | None = None,
) -> LanguageModel:
    """Read a model of Llama's family; quantised weights become the numbers that they stand for.

    Weights are read one by one, so that memory holds them only once.

    Args:
        path: of the file, or the file as it was opened.
        dtype: of the weights; None means float32.

    Returns:
        The model in evaluation mode.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no whole GGUF file, another architecture, a field with a value or a quantisation
            that is not read, or tensors that are missing, unknown or of another shape.
    """
    check_dtype(dtype)
    file = path if isinstance(path, GgufFile) else GgufFile(path)
    config = _config(file)
    wanted = {
        _name_of(own): shape
        for own, shape in shapes_of(LanguageModel, config).items()
    }
    given = {  # the file has shapes backwards
        name: tuple(stored.shape.tolist()[::-1])
        for name, stored in file.tensors.items()
        if name != _FREQUENCIES
    }
    check_tensors(wanted, given, dict.fromkeys(given, "F32"), str(file.path))
    weight_of = partial(_weight_of, file, config)
    return build(LanguageModel, config, weight_of, dtype)


def _config(file: GgufFile) -> TransformerConfig:
    file.require("general.architecture", "llama")
    heads = file["llama.attention.head_count"]
    e = file["llama.embedding_length"]
    width = file.get("llama.attention.key_length", e // heads)
    file.require("llama.attention.value_length", width)
    file.require("llama.rope.dimension_count", width)
    file.require("llama.attention.causal", True)
    for without in ("expert_count", "attention.sliding_window"):
        file.require(f"llama.{without}", 0)
    base = file.get("llama.rope.freq_base", 10_000.0)
    return TransformerConfig(
        vocab_size=file.get("llama.vocab_size")
        or len(file["tokenizer.ggml.tokens"]),
        embed_dim=e,
        num_heads=heads,
        num_kv_heads=file.get("llama.attention.head_count_kv"),
        head_dim=width,
        hidden_dim=file["llama.feed_forward_length"],
        num_layers=file["llama.block_count"],
        positions="rotary",
        max_len=file["llama.context_length"],
        rotary_base=base,
        rotary_scaling=_scaling(file, width, base),
        norm="rms",
        norm_eps=file["llama.attention.layer_norm_rms_epsilon"],
        activation="silu",
        gated=True,
        attention_bias="blk.0.attn_q.bias" in file.tensors,
        feed_forward_bias="blk.0.ffn_up.bias" in file.tensors,
        embedding_scale=False,
        tied="none" if "output.weight" in file.tensors else "output",
        dropout_p=0.0,
    )


def _scaling(file: GgufFile, width: int, base: float) -> RotaryScaling | None:
    """Return how the rotary frequencies are rescaled."""
    rope = "llama.rope.scaling"
    file.require(f"{rope}.type", "none", "linear", "yarn")
    kind = file.get(f"{rope}.type")
    original = f"{rope}.original_context_length"
    if kind == "linear":
        return Linear(file[f"{rope}.factor"])
    if kind == "yarn":
        file.require(f"{rope}.attn_factor", 1.0)
        return Yarn(file[f"{rope}.factor"], file[original])
    if _FREQUENCIES not in file.tensors:
        return None
    # Llama 3.1 and later: the divisors themselves are stored, and not what they were made from.
    divisors = file.read(_FREQUENCIES).numpy()
    factor, length = float(divisors.max()), file.get(original, 8192)
    scaling = Llama3(factor, original_length=length)
    scaled = rotary_frequencies(width, base=base, scaling=scaling)
    plain = rotary_frequencies(width, base=base)
    if not np.allclose(plain / scaled, divisors, rtol=1e-3):
        raise ValueError(
            f"{_FREQUENCIES}: {file.path} has {divisors.tolist()}, wanted those of {scaling}"
        )
    return scaling


def _name_of(own: str) -> str:
    """Return the name in the files of a weight of the package."""
    module, _, kind = own.rpartition(".")
    number = re.search(r"\d+", module)
    theirs = _NAMES[re.sub(r"\d+", "*", module)]
    return f"{theirs.replace('*', number[0] if number else '')}.{kind}"


def _weight_of(file: GgufFile, config: TransformerConfig, own: str) -> Tensor:
    weight = file.read(_name_of(own))
    turned = {"query_proj": config.num_heads, "key_proj": config.groups}
    heads = turned.get(own.split(".")[-2])
    if heads is None:
        return weight
    # Numbers that are turned together are neighbours in the files, here they are half a head apart.
    pairs = weight.view(heads, -1, 2, *weight.shape[1:])
    return pairs.transpose(1, 2).reshape(weight.shape)
