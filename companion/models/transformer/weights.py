"""A model in a folder: config.json says its shape, model.safetensors holds its weights."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.encoder_decoder import Transformer
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.text_encoder import MaskedLanguageModel, TextEncoder
from companion.positions import Dynamic, Linear, Llama3, Yarn

Model = Transformer | LanguageModel | MaskedLanguageModel | TextEncoder
ModelT = TypeVar("ModelT", bound=nn.Module)

_MODELS: dict[str, type[Model]] = {
    kind.__name__: kind for kind in (Transformer, LanguageModel, MaskedLanguageModel, TextEncoder)
}
_SCALINGS = {scaling.__name__: scaling for scaling in (Linear, Dynamic, Yarn, Llama3)}


def save(model: Model, folder: str | os.PathLike[str]) -> None:
    """Write a model as `config.json` and `model.safetensors`; tied weights are written once.

    Args:
        model: a model of `companion.models.transformer`.
        folder: where to; it is made if it is not there.

    Raises:
        TypeError: another model.

    >>> from tempfile import TemporaryDirectory
    >>> model = LanguageModel(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3))
    >>> with TemporaryDirectory() as folder:
    ...     save(model, folder)
    ...     load(folder).config == model.config
    True
    """
    if type(model) not in _MODELS.values():
        came = type(model).__name__
        raise TypeError(f"model: got {came}, wanted one of {', '.join(_MODELS)}")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: weight.detach().contiguous() for name, weight in model.named_parameters()}
    partial = folder / "model.safetensors.partial"
    save_file(tensors, partial)
    partial.replace(folder / "model.safetensors")
    described = {"model": type(model).__name__, "config": _described(model.config)}
    text = json.dumps(described, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf8")


def load(folder: str | os.PathLike[str], *, dtype: torch.dtype | None = None) -> Model:
    """Read a model that `save` wrote; it is in evaluation mode.

    Args:
        folder: a local folder.
        dtype: of the weights; None means as they were saved.

    Raises:
        FileNotFoundError: no such folder, or a file is missing.
        ValueError: another configuration or other tensors than a model of the package has; the
            message lists them.
    """
    folder = Path(folder)
    described = read_json(folder / "config.json")
    kind = _MODELS.get(described.get("model", ""))
    if kind is None:
        raise ValueError(
            f"folder: {folder / 'config.json'} has model {described.get('model')!r}, wanted one of "
            f"{', '.join(_MODELS)}; `from_pretrained` reads folders of Hugging Face"
        )
    config = _configured(described.get("config", {}), folder)
    return filled(kind, config, read_tensors(folder / "model.safetensors"), str(folder), dtype)


def filled(
    kind: type[ModelT],
    config: TransformerConfig,
    tensors: Mapping[str, Tensor],
    source: str,
    dtype: torch.dtype | None = None,
) -> ModelT:
    """Build a model around tensors, without drawing weights that they would replace.

    Args:
        kind: the class of the model.
        config: its shape.
        tensors: its weights by their names.
        source: where they come from, for the message.
        dtype: of the weights; None means as they are.

    Raises:
        ValueError: tensors are missing, unknown or of another shape; the message lists them.
    """
    with torch.device("meta"):
        model = kind(config)
    wanted = dict(model.named_parameters())
    check_tensors(
        {name: tuple(weight.shape) for name, weight in wanted.items()},
        {name: tuple(tensor.shape) for name, tensor in tensors.items()},
        source,
    )
    first = {id(weight): name for name, weight in wanted.items()}
    everywhere = {
        name: tensors[first[id(weight)]].to(dtype=dtype)
        for name, weight in model.named_parameters(remove_duplicate=False)
    }
    model.load_state_dict(everywhere, assign=True)
    return model.eval()


def check_tensors(
    wanted: Mapping[str, tuple[int, ...]], came: Mapping[str, tuple[int, ...]], source: str
) -> None:
    """Refuse tensors that are not those wanted, and list all that is wrong.

    Args:
        wanted: shapes by name.
        came: shapes by name.
        source: where the tensors come from.

    Raises:
        ValueError: tensors are missing, unknown or of another shape.

    >>> check_tensors({"norm.weight": (3,)}, {"norm.weight": (5,)}, "here")
    Traceback (most recent call last):
    ValueError: tensors: here has other shapes: norm.weight (5,), wanted (3,)
    """
    faults = []
    if missing := sorted(wanted.keys() - came.keys()):
        faults.append(f"lacks {', '.join(missing)}")
    if unknown := sorted(came.keys() - wanted.keys()):
        faults.append(f"has besides {', '.join(unknown)}")
    shapes = [
        f"{name} {came[name]}, wanted {wanted[name]}"
        for name in sorted(wanted.keys() & came.keys())
        if tuple(wanted[name]) != tuple(came[name])
    ]
    if shapes:
        faults.append(f"has other shapes: {'; '.join(shapes)}")
    if faults:
        raise ValueError(f"tensors: {source} {'; '.join(faults)}")


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of JSON that holds an object.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no JSON object in it.
    """
    if not path.is_file():
        raise FileNotFoundError(f"folder: found no {path}; only local folders are read")
    try:
        found = json.loads(path.read_text(encoding="utf8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"folder: {path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise ValueError(f"folder: {path} holds a {type(found).__name__}, wanted a JSON object")
    return found


def read_tensors(path: Path) -> dict[str, Tensor]:
    """Read every tensor of a safetensors file.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no safetensors file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"folder: found no {path}; only local folders are read")
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"folder: {path} is no safetensors file: {error}") from error


def _described(config: TransformerConfig) -> dict[str, Any]:
    """Return a configuration as JSON can hold it: a rescaling gets the name of its class."""
    described = asdict(config)
    scaling = config.rotary_scaling
    if scaling is not None:
        described["rotary_scaling"] = {"kind": type(scaling).__name__, **asdict(scaling)}
    return described


def _configured(described: dict[str, Any], folder: Path) -> TransformerConfig:
    known = {field.name for field in fields(TransformerConfig)}
    if unknown := sorted(described.keys() - known):
        raise ValueError(f"folder: {folder / 'config.json'} has unknown {', '.join(unknown)}")
    if "vocab_size" not in described:
        raise ValueError(f"folder: {folder / 'config.json'} has no vocab_size")
    scaling = described.get("rotary_scaling")
    if scaling is not None:
        options = dict(scaling)
        kind = _SCALINGS.get(options.pop("kind", ""))
        if kind is None:
            raise ValueError(f"folder: {folder / 'config.json'} has rotary_scaling {scaling}")
        described = {**described, "rotary_scaling": kind(**options)}
    return TransformerConfig(**described)
