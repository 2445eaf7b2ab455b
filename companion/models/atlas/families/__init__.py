"""Families of models: what their config.json says, and what their weights are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from companion.models.atlas.families.family import (
    Family,
    Tensors,
    copy_weights,
)
from companion.models.atlas.families.older import OLDER
from companion.models.atlas.model import DecoderModel
from companion.models.atlas.specs import ModelSpec
from companion.models.options import Options

_ROOMS = "early dense sparse balanced gated hybrid mamba latent"

FAMILIES: Mapping[str, Family] = {
    name: replace(family, older=OLDER.get(name, {}))
    for room in _ROOMS.split()
    for name, family in import_module(f"{__name__}.{room}").FAMILIES.items()
}
"""By model_type, as config.json names it."""


def read_config(
    config: Mapping[str, Any], *, path: str = "config.json"
) -> ModelSpec:
    """Make a specification from the fields of a config.json of Hugging Face's library.

    Args:
        config: the fields and their values.
        path: what errors call the file.

    Raises:
        TypeError: a field of another type.
        ValueError: a model_type that is not covered, or fields that are missing or have a value
            that the models here do not have.

    >>> fields = {"model_type": "llama", "vocab_size": 11, "hidden_size": 16, "hidden_act": "silu",
    ...     "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
    ...     "rms_norm_eps": 1e-6}
    >>> read_config(fields).state_bytes(length=10)
    1280
    """
    return _family(config, path).read(Options(dict(config), path))


def read_weights(
    model: DecoderModel,
    config: Mapping[str, Any],
    tensors: Tensors,
    *,
    path: str = "config.json",
) -> None:
    """Take the weights of a model of Hugging Face's library over, by their names.

    Args:
        model: built from what `read_config` made of the same fields.
        config: the fields of config.json.
        tensors: the stored weights, by the library's names.
        path: what errors call the file.

    Raises:
        ValueError: a model_type that is not covered, or weights that are missing, unknown or of
            another shape.
    """
    family = _family(config, path).described(Options(dict(config), path))
    copy_weights(model, family, tensors)


def _family(config: Mapping[str, Any], path: str) -> Family:
    name = str(config.get("model_type"))
    if name not in FAMILIES:
        raise ValueError(
            f"config: {path} has model_type {name!r}, wanted one of {', '.join(sorted(FAMILIES))}"
        )
    return FAMILIES[name]
