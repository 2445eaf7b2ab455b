"""A model in a folder: config.json says its shape, model.safetensors holds its weights."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from companion.layers import FeedForward, MultiHeadAttention
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.encoder_decoder import Transformer
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.stored import Stored
from companion.models.transformer.text_encoder import MaskedLanguageModel, TextEncoder
from companion.positions import Dynamic, Linear, Llama3, RotaryScaling, Yarn

Model = Transformer | LanguageModel | MaskedLanguageModel | TextEncoder
ModelT = TypeVar("ModelT", bound=nn.Module)

_MODELS: dict[str, type[Model]] = {
    kind.__name__: kind for kind in (Transformer, LanguageModel, MaskedLanguageModel, TextEncoder)
}
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "pytorch_model*")
_FLOATING = ("BF16", "F16", "F32", "F64")
_SCALINGS = {scaling.__name__: scaling for scaling in (Linear, Dynamic, Yarn, Llama3)}


def save(model: Model, folder: str | os.PathLike[str]) -> None:
    """Write a model as `config.json` and `model.safetensors`; tied weights are written once.

    Args:
        model: a model of `companion.models.transformer`.
        folder: where to; it is made if it is not there.

    Raises:
        TypeError: another model, or a folder that is no path.
        ValueError: the folder holds a model that `save` did not write.

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
    folder = path_of(folder)
    _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: weight.detach().contiguous() for name, weight in model.named_parameters()}
    partial = folder / "model.safetensors.partial"
    save_file(tensors, partial)
    described = {"model": type(model).__name__, "config": _described(model.config)}
    text = json.dumps(described, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf8")
    partial.replace(folder / "model.safetensors")


def load(folder: str | os.PathLike[str], *, dtype: torch.dtype | None = None) -> Model:
    """Read a model that `save` wrote; it is in evaluation mode.

    Args:
        folder: a local folder.
        dtype: of the weights; None means as they were saved.

    Raises:
        FileNotFoundError: no such folder, or a file is missing.
        TypeError: a folder that is no path, a field of the configuration of another type, or a
            dtype that is not floating.
        ValueError: another configuration or other tensors than a model of the package has; the
            message lists them.
    """
    check_dtype(dtype)
    folder = path_of(folder)
    described = read_json(folder / "config.json")
    kind = _MODELS.get(str(described.get("model")))
    if kind is None:
        raise ValueError(
            f"folder: {folder / 'config.json'} has model {described.get('model')!r}, wanted one of "
            f"{', '.join(_MODELS)}; `from_pretrained` reads folders of Hugging Face"
        )
    config = _configured(described.get("config", {}), folder / "config.json")
    stored = Stored([folder / "model.safetensors"])
    check_tensors(shapes_of(kind, config), stored.shapes, str(folder), stored.dtypes)
    return filled(kind, config, stored.__getitem__, dtype)


def filled(
    kind: type[ModelT],
    config: TransformerConfig,
    weight_of: Callable[[str], Tensor],
    dtype: torch.dtype | None = None,
) -> ModelT:
    """Build a model around weights, one by one, without drawing what they would replace.

    Every weight is copied into memory of its own before the next is asked for: whatever it was
    read from may be let go.

    Args:
        kind: the class of the model.
        config: its shape.
        weight_of: gives a weight by the name that `named_parameters` has for it.
        dtype: of the weights; None means as they are.
    """
    with torch.device("meta"):
        model = kind(config)
    for path, part in model.named_modules():
        for name, _ in list(part.named_parameters(recurse=False)):
            weight = _copied(weight_of(f"{path}.{name}" if path else name), dtype)
            setattr(part, name, nn.Parameter(weight))
    for part in model.modules():
        if isinstance(part, MultiHeadAttention | FeedForward):
            part.lay_out()
    return model.eval()


def _copied(weight: Tensor, dtype: torch.dtype | None) -> Tensor:
    own = torch.empty(weight.shape, dtype=dtype or weight.dtype, device=weight.device)
    return own.copy_(weight)


def shapes_of(kind: type[nn.Module], config: TransformerConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight that a model has, by its name."""
    with torch.device("meta"):
        model = kind(config)
    return {name: tuple(weight.shape) for name, weight in model.named_parameters()}


def check_dtype(dtype: torch.dtype | None) -> None:
    """Refuse what no weights can be computed with.

    Raises:
        TypeError: no real floating dtype.

    >>> check_dtype(torch.int8)
    Traceback (most recent call last):
    TypeError: dtype: got torch.int8, wanted a real floating dtype
    """
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype: got {dtype}, wanted a real floating dtype")


def check_tensors(
    wanted: Mapping[str, tuple[int, ...]],
    came: Mapping[str, tuple[int, ...]],
    source: str,
    dtypes: Mapping[str, str] | None = None,
) -> None:
    """Refuse tensors that are not those wanted, and list all that is wrong.

    Args:
        wanted: shapes by name.
        came: shapes by name.
        source: where the tensors come from.
        dtypes: of those that came, by name, in the words of safetensors; None means right ones.

    Raises:
        ValueError: tensors are missing, unknown, of another shape, or no plain floating numbers.

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
    kinds = [
        f"{name} {dtype}"
        for name, dtype in sorted((dtypes or {}).items())
        if name in wanted and dtype not in _FLOATING
    ]
    if kinds:
        faults.append(f"has other dtypes: {', '.join(kinds)}, wanted one of {', '.join(_FLOATING)}")
    if faults:
        raise ValueError(f"tensors: {source} {'; '.join(faults)}")


def path_of(folder: str | os.PathLike[str]) -> Path:
    """Return a folder as a path.

    Raises:
        TypeError: no path.
    """
    if not isinstance(folder, str | os.PathLike):
        raise TypeError(f"folder: got {type(folder).__name__}, wanted a path")
    return Path(folder)


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


def _described(config: TransformerConfig) -> dict[str, Any]:
    """Return a configuration as JSON can hold it: a rescaling gets the name of its class."""
    described = asdict(config)
    scaling = config.rotary_scaling
    if scaling is not None:
        described["rotary_scaling"] = {"kind": type(scaling).__name__, **asdict(scaling)}
    return described


def _configured(described: object, path: Path) -> TransformerConfig:
    if not isinstance(described, dict):
        raise ValueError(f"folder: {path} has config {described!r}, wanted a JSON object")
    scaling = described.get("rotary_scaling")
    if scaling is not None:
        described = {**described, "rotary_scaling": _rescaling(scaling, path)}
    _check_fields(TransformerConfig, described, str(path))
    return TransformerConfig(**described)


def _rescaling(described: object, path: Path) -> RotaryScaling:
    options = dict(described) if isinstance(described, dict) else {}
    kind = _SCALINGS.get(str(options.pop("kind", None)))
    if kind is None:
        raise ValueError(
            f"folder: {path} has rotary_scaling {described!r}, "
            f"wanted an object whose kind is one of {', '.join(_SCALINGS)}"
        )
    _check_fields(kind, options, f"rotary_scaling of {path}")
    return kind(**options)


def _check_fields(kind: type[Any], described: Mapping[str, object], source: str) -> None:
    """Refuse fields that a dataclass has not, and a lack of those that it needs."""
    known = {field.name: field.default is MISSING for field in fields(kind)}
    if unknown := sorted(described.keys() - known.keys()):
        raise ValueError(f"folder: {source} has unknown {', '.join(unknown)}")
    if lacking := [name for name, needed in known.items() if needed and name not in described]:
        raise ValueError(f"folder: {source} has no {', '.join(lacking)}")


def _check_free(folder: Path) -> None:
    """Refuse to put a model beside another one that `load` would not know."""
    if (folder / "config.json").is_file():
        if str(read_json(folder / "config.json").get("model")) in _MODELS:
            return
        others = ["config.json"]
    else:
        others = sorted(path.name for kind in _WEIGHTS for path in folder.glob(kind))
    if others:
        raise ValueError(
            f"folder: got {folder}, which holds {', '.join(others)} of another model, "
            f"wanted an empty folder or one that `save` wrote"
        )
