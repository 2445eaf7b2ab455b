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

from companion.contracts import contract
from companion.models.transformer.config import TransformerConfig
from companion.models.transformer.encoder_decoder import Transformer
from companion.models.transformer.language_model import LanguageModel
from companion.models.transformer.stored import Stored
from companion.models.transformer.text_encoder import (
    MaskedLanguageModel,
    TextEncoder,
)
from companion.positions import Dynamic, Linear, Llama3, Yarn

Model = Transformer | LanguageModel | MaskedLanguageModel | TextEncoder
T = TypeVar("T")
ModelT = TypeVar("ModelT", bound=nn.Module)
Shapes = Mapping[str, tuple[int, ...]]

_MODELS: dict[str, type[Model]] = {
    kind.__name__: kind
    for kind in (Transformer, LanguageModel, MaskedLanguageModel, TextEncoder)
}
_SCALINGS = {
    scaling.__name__: scaling for scaling in (Linear, Dynamic, Yarn, Llama3)
}
_FLOATING = ("BF16", "F16", "F32", "F64")


def check_dtype(dtype: torch.dtype | None) -> None:
    """Refuse a dtype that no weights can have."""
    if dtype is not None and not dtype.is_floating_point:
        raise TypeError(f"dtype: got {dtype}, wanted a real floating dtype")


@contract()
def save(model: Model, folder: str | os.PathLike[str]) -> None:
    """Write a model as `config.json` and `model.safetensors`; tied weights are written once.

    Args:
        model: a model of `companion.models.transformer`.
        folder: where to; it is made if it is not there.

    Raises:
        ValueError: the folder holds a model that `save` did not write.

    >>> from tempfile import TemporaryDirectory
    >>> model = LanguageModel(TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3))
    >>> with TemporaryDirectory() as folder:
    ...     save(model, folder)
    ...     load(folder).config == model.config
    True
    """
    name, folder = type(model).__name__, Path(folder)
    # `load` would not know a subclass.
    if type(model) is not _MODELS.get(name):
        raise TypeError(
            f"model: got {name}, wanted one of {', '.join(_MODELS)}"
        )
    _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        name: weight.detach().contiguous()
        for name, weight in model.named_parameters()
    }
    partial = folder / "model.safetensors.partial"
    save_file(tensors, partial)
    described = {"model": name, "config": _to_json(model.config)}
    text = f"{json.dumps(described, indent=2)}\n"
    (folder / "config.json").write_text(text, encoding="utf8")
    partial.replace(folder / "model.safetensors")


@contract()
def load(
    folder: str | os.PathLike[str], *, dtype: torch.dtype | None = None
) -> Model:
    """Read a model that `save` wrote; it is in evaluation mode.

    Args:
        folder: a local folder.
        dtype: of the weights; None means as they were saved.

    Raises:
        FileNotFoundError: no such folder, or a file is missing.
        TypeError: a field of the configuration of another type.
        ValueError: another configuration or other tensors than a model of the package has; the
            message lists them.
    """
    check_dtype(dtype)
    path = Path(folder) / "config.json"
    described = read_json(path)
    kind = _MODELS.get(str(described.get("model")))
    if kind is None:
        raise ValueError(
            f"folder: {path} has model {described.get('model')!r}, wanted one of "
            f"{', '.join(_MODELS)}; `from_pretrained` reads folders of Hugging Face"
        )
    config = _from_json(described.get("config", {}), path)
    stored = Stored([path.with_name("model.safetensors")])
    wanted = shapes_of(kind, config)
    check_tensors(wanted, stored.shapes, stored.dtypes, str(folder))
    return build(kind, config, stored.__getitem__, dtype)


def build(
    kind: type[ModelT],
    config: TransformerConfig,
    weight_of: Callable[[str], Tensor],
    dtype: torch.dtype | None = None,
) -> ModelT:
    """Return a model with given weights, without drawing random ones first.

    Every weight is copied into memory of its own before the next one is asked for, so that its
    source can be freed.

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
            weight = weight_of(f"{path}.{name}" if path else name)
            weight = weight.to(
                dtype or weight.dtype, copy=True, memory_format=torch.contiguous_format
            )  # fmt: skip
            setattr(part, name, nn.Parameter(weight))
    return model.eval()


def shapes_of(
    kind: type[nn.Module], config: TransformerConfig
) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight that a model has, by its name."""
    with torch.device("meta"):
        model = kind(config)
    return {
        name: tuple(weight.shape) for name, weight in model.named_parameters()
    }


def check_tensors(
    wanted: Shapes, given: Shapes, dtypes: Mapping[str, str], source: str
) -> None:
    """Refuse tensors that are not those of a model, and list all that is wrong.

    Args:
        wanted: shapes by name.
        given: shapes by name.
        dtypes: of the given tensors, as safetensors writes them.
        source: where the tensors come from.

    Raises:
        ValueError: tensors are missing, unknown, of another shape, or no plain floating numbers.

    >>> check_tensors({"norm.weight": (3,)}, {"norm.weight": (5,)}, {"norm.weight": "F32"}, "here")
    Traceback (most recent call last):
    ValueError: tensors: here has other shapes: norm.weight (5,) instead of (3,)
    """
    both = sorted(wanted.keys() & given.keys())
    faults = {
        "lacks": sorted(wanted.keys() - given.keys()),
        "has besides": sorted(given.keys() - wanted.keys()),
        "has other shapes:": [
            f"{name} {given[name]} instead of {wanted[name]}"
            for name in both
            if given[name] != wanted[name]
        ],
        f"has dtypes other than {', '.join(_FLOATING)}:": [
            f"{name} {dtypes[name]}"
            for name in both
            if dtypes[name] not in _FLOATING
        ],
    }
    if any(faults.values()):
        found = [fault for fault in faults.items() if fault[1]]
        listed = [f"{fault} {', '.join(names)}" for fault, names in found]
        raise ValueError(f"tensors: {source} {'; '.join(listed)}")


def read_json(path: Path) -> dict[str, Any]:
    """Read a file of JSON that holds an object.

    Raises:
        FileNotFoundError: no such file.
        ValueError: no JSON object in it.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"folder: got no file {path}; only local folders are read"
        )
    try:
        text = path.read_text(encoding="utf8")
        content = json.loads(text, object_hook=_with_infinity)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"folder: {path} is no JSON: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(
            f"folder: {path} holds a {type(content).__name__}, wanted a JSON object"
        )
    return content


def _with_infinity(found: dict[str, Any]) -> Any:
    """Return the number that {"__float__": "Infinity"} stands for, which JSON has not."""
    infinite = found.keys() == {"__float__"}
    return float(found["__float__"]) if infinite else found


def _to_json(config: TransformerConfig) -> dict[str, Any]:
    """Return a configuration as JSON can hold it: a rescaling gets the name of its class."""
    described = asdict(config)
    if (scaling := config.rotary_scaling) is not None:
        described["rotary_scaling"]["kind"] = type(scaling).__name__
    return described


def _from_json(described: object, path: Path) -> TransformerConfig:
    if not isinstance(described, dict):
        raise ValueError(
            f"folder: {path} has config {described!r}, wanted a JSON object"
        )
    scaling = described.get("rotary_scaling")
    if scaling is not None:
        options = dict(scaling) if isinstance(scaling, dict) else {}
        kind = _SCALINGS.get(str(options.pop("kind", None)))
        if kind is None:
            raise ValueError(
                f"folder: {path} has rotary_scaling {scaling!r}, "
                f"wanted an object whose kind is one of {', '.join(_SCALINGS)}"
            )
        scaling = _construct(kind, options, f"rotary_scaling of {path}")
        described = described | {"rotary_scaling": scaling}
    return _construct(TransformerConfig, described, str(path))


def _construct(
    kind: Callable[..., T], options: dict[str, Any], source: str
) -> T:
    """Return an instance of a dataclass, whose fields the options must be."""
    required = {field.name: field.default is MISSING for field in fields(kind)}  # type: ignore[arg-type]
    if unknown := sorted(options.keys() - required.keys()):
        raise ValueError(f"folder: {source} has unknown {', '.join(unknown)}")
    missing = [name for name in required if required[name]]
    if missing := [name for name in missing if name not in options]:
        raise ValueError(f"folder: {source} has no {', '.join(missing)}")
    return kind(**options)


def _check_free(folder: Path) -> None:
    """Refuse to put a model into a folder that holds another one, which `load` would not know."""
    if (folder / "config.json").is_file():
        ours = str(read_json(folder / "config.json").get("model")) in _MODELS
        others = [] if ours else ["config.json"]
    else:
        weights = "*.safetensors", "*.safetensors.index.json", "pytorch_model*"
        others = sorted(
            path.name for pattern in weights for path in folder.glob(pattern)
        )
    if others:
        raise ValueError(
            f"folder: got {folder}, which holds {', '.join(others)} of another model, "
            f"wanted an empty folder or one that `save` wrote"
        )
