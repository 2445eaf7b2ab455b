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
from companion.models.atlas.rope import rope_parameters
from companion.models.atlas.specs import CountedSpec, LayerSpec, ModelSpec
from companion.models.atlas.table import (
    Fields,
    completed,
    kept_of,
    read_fields,
)

_ROOMS = "early dense sparse balanced gated hybrid mamba latent"

FAMILIES: Mapping[str, Family] = {
    name: replace(family, older=OLDER.get(name, {}))
    for room in _ROOMS.split()
    for name, family in import_module(f"{__name__}.{room}").FAMILIES.items()
}
"""By model_type, as config.json names it."""


def read_config(
    config: Mapping[str, Any],
    *,
    path: str = "config.json",
    whole: bool = False,
) -> ModelSpec:
    """Make a specification from the fields of a config.json of Hugging Face's library.

    Older names, what follows from other fields, and what the library takes where a file says
    nothing are read as the library reads them; of a model that also sees or hears, the text model
    is taken.

    Args:
        config: the fields and their values.
        path: what errors call the file.
        whole: refuse what no model here computes, such as another kind of rotary positions.
            Otherwise its layers only say what they keep, and building the model refuses.

    Raises:
        TypeError: a field of another type.
        ValueError: a model_type that is not covered, or fields that decide what is kept and are
            missing or have a value that they cannot have.

    >>> fields = {"model_type": "llama", "vocab_size": 11, "hidden_size": 16, "hidden_act": "silu",
    ...     "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
    ...     "rms_norm_eps": 1e-6}
    >>> read_config(fields).state_bytes(length=10)
    1280
    """
    fields = read_fields(config, path=path)
    kept = kept_of(fields)
    try:
        return _family(config, fields).read(_turning(fields))
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        if whole:
            raise
        layers = tuple(
            LayerSpec(CountedSpec(parts, str(error)), None) for parts in kept
        )
        return ModelSpec(
            fields.get("vocab_size") or 1,
            fields.get("hidden_size") or 1,
            layers,
        )


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
    fields = text_fields(config, path=path)
    family = _family(config, fields).described(fields)
    copy_weights(model, family, tensors)


def stored_spec(
    config: Mapping[str, Any], tensors: Tensors, *, path: str = "config.json"
) -> ModelSpec:
    """Make the specification of a stored model, whose head is its own where it is another one.

    Args:
        config: the fields of config.json.
        tensors: the stored weights, by the library's names.
        path: what errors call the file.

    Raises:
        ValueError: as `read_config` and `read_weights` do.
    """
    spec = read_config(config, path=path, whole=True)
    family = _family(config, read_fields(config, path=path))
    return family.untied(spec, tensors)


def text_fields(config: Mapping[str, Any], *, path: str) -> Fields:
    """Return the fields of a file as the families read them.

    Raises:
        TypeError: a field of another type.
        ValueError: a field that is missing or has a value that it cannot have.
    """
    return _turning(read_fields(config, path=path))


def _family(config: Mapping[str, Any], fields: Fields) -> Family:
    """Return the family of a whole model, whose weights have other names, or of its text model."""
    named = str(config.get("model_type"))
    name = named if named in FAMILIES else fields.family
    if name not in FAMILIES:
        raise ValueError(
            f"model_type: {fields.path} has {name!r}, which is counted and not built here; wanted "
            f"one of companion.models.atlas.FAMILIES"
        )
    return FAMILIES[name]


def _turning(fields: Fields) -> Fields:
    """Put in what else follows, and the settings of rotary positions."""
    completed(fields)
    if fields.family not in ("kimi_linear", "mamba2"):
        fields["rope_parameters"] = rope_parameters(fields)
    return fields
