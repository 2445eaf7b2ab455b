"""Translators as files: eight bits a weight, read by Python and by a page alike.

A file is in the format of safetensors. A matrix is stored as whole numbers from -127 to 127 and one
scale a row; a vector, of which there are few, as float32. The metadata hold one text, "translator":
JSON with the model's configuration, its vocabularies, and where the weights come from.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from companion.contracts import contract
from companion.data.vocabulary import SPECIAL, Vocabulary
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import Transformer, TransformerConfig
from companion.translation import Translator

SCALE = ".scale"
"""What the name of a matrix's scales ends with."""

_LEVELS = 127
_SHARES = torch.linspace(1, 0.7, 61)
_FLOATS = {16: torch.float16, 32: torch.float32}


@contract(matrix="n e")
def quantize(matrix: Tensor, most: int = _LEVELS) -> tuple[Tensor, Tensor]:
    """Round every row of a matrix to whole multiples, from -most to most, of a scale of its own.

    Of some scales the one is taken whose rounding has the least squared error: it is often a
    little smaller than the row's largest entry would need, which is then cut off.

    Returns:
        (n, e) whole numbers of eight bits, and the (n,) scale of every row.

    >>> levels, scale = quantize(torch.tensor([[1.27, -0.4, 0.0]]))
    >>> levels, scale
    (tensor([[127, -40,   0]], dtype=torch.int8), tensor([0.0100]))
    """
    largest = matrix.abs().amax(-1)
    largest = torch.where(largest > 0, largest, 1.0)
    scales = largest[:, None] * _SHARES / most
    levels = (matrix[:, None] / scales[..., None]).round().clamp(-most, most)
    error = (levels * scales[..., None] - matrix[:, None]).square().sum(-1)
    best = error.argmin(-1, keepdim=True)
    rows = torch.arange(len(matrix))
    return levels[rows, best[:, 0]].to(torch.int8), scales.gather(-1, best)[:, 0]


def in_levels(weight: Tensor) -> dict[str, Any]:
    """Return a weight as a page holds it: whole numbers of eight bits, with a scale a row.

    A vector is one row, and a convolution has a row for every map that it makes.
    """
    shape = (1, -1) if weight.ndim == 1 else (len(weight), -1)
    levels, scale = quantize(weight.reshape(shape).float())
    return {
        "shape": list(levels.shape), "bits": "int8", "scale": [float(f"{x:.7g}") for x in scale],
        "base64": base64.b64encode(levels.numpy().tobytes()).decode("ascii"),
    }  # fmt: skip


def restore(levels: Tensor, scale: Tensor) -> Tensor:
    """Return the (n, e) matrix that whole numbers and the (n,) scales of their rows stand for.

    >>> restore(torch.tensor([[127, -40, 0]], dtype=torch.int8), torch.tensor([0.01]))
    tensor([[ 1.2700, -0.4000,  0.0000]])
    """
    return levels * scale[:, None]


def save_translator(
    translator: Translator,
    path: Path,
    *,
    bits: Literal[8, 16, 32] = 8,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Write a translator and its vocabularies to one file; a weight that is shared, once.

    Args:
        translator: its model is a `Seq2Seq` or a `Transformer`.
        path: the file.
        bits: of an entry of a matrix: 8 are quantized, 16 and 32 are floating-point numbers.
        about: what else the file says, as JSON: where the weights come from.
    """
    if not isinstance(translator.model, Seq2Seq | Transformer):
        name = type(translator.model).__name__
        raise TypeError(f"translator: got a {name}, wanted a Seq2Seq or a Transformer")
    said = {
        **(about or {}),
        "config": asdict(translator.model.config),
        "source": translator.source_vocab.tokens[len(SPECIAL) :],
        "target": translator.target_vocab.tokens[len(SPECIAL) :],
    }
    path.write_bytes(save(_stored(translator.model, bits), {"translator": _as_text(said)}))


def load_translator(path: Path) -> Translator:
    """Read a translator that `save_translator` wrote; it computes in float32."""
    about = read_about(path)
    config = about["config"]
    model: Seq2Seq | Transformer
    if "num_heads" in config:
        model = Transformer(TransformerConfig(**config))
    else:
        model = Seq2Seq(Seq2SeqConfig(**config))
    weights = _restored(path)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(weights[name])
    return Translator(model.eval(), Vocabulary(about["source"]), Vocabulary(about["target"]))


def read_about(path: Path) -> dict[str, Any]:
    """Return what a model's file says besides its weights."""
    with safe_open(path, framework="pt") as file:
        (text,) = file.metadata().values()
    return dict(json.loads(text))


def read_stored(path: Path) -> dict[str, Tensor]:
    """Return what a file holds, as it is stored: whole numbers of eight bits and their scales."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def _stored(model: nn.Module, bits: Literal[8, 16, 32]) -> dict[str, Tensor]:
    stored: dict[str, Tensor] = {}
    for name, parameter in model.named_parameters():
        weight = parameter.detach()
        if weight.ndim < 2:
            stored[name] = weight.contiguous()
        elif bits == 8:
            stored[name], stored[name + SCALE] = quantize(weight)
        else:
            stored[name] = weight.to(_FLOATS[bits]).contiguous()
    return stored


def _restored(path: Path) -> dict[str, Tensor]:
    stored = read_stored(path)
    return {
        name: restore(weight, stored[name + SCALE]) if name + SCALE in stored else weight.float()
        for name, weight in stored.items()
        if not name.endswith(SCALE)
    }


def _as_text(said: Mapping[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
