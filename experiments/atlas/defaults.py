"""What configuration classes of the library take where a file says nothing, for the readers."""

import json
from dataclasses import fields
from typing import Any

from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING, CONFIG_MAPPING_NAMES

from companion.models.atlas.table import DEFAULTS, family_names

_BASE = {field.name for field in fields(PreTrainedConfig)}
_FURTHER = {"tie_word_embeddings"}  # which every class has, and some set


def library_defaults() -> dict[str, Any]:
    """Return what every family's class takes, and which text model is inside of other models."""
    known = family_names()
    inside = {name: text_type(name) for name in sorted(CONFIG_MAPPING_NAMES)}
    found = {name: text_class(name) for name in sorted(known) if name in CONFIG_MAPPING_NAMES}
    return {
        "families": {name: _of(one) for name, one in found.items()},
        "inside": {k: v for k, v in inside.items() if v in known and k not in known},
    }


def text_type(name: str) -> str | None:
    """Return the model_type of the text model that a model of a name has inside."""
    inner = getattr(CONFIG_MAPPING[name], "sub_configs_defaults", {}).get("text_config")
    return inner and (inner.model_type or inner.config_class.model_type)


def text_class(name: str) -> Any:
    """Return the class of a model's text part."""
    inner = getattr(CONFIG_MAPPING[name], "sub_configs_defaults", {}).get("text_config")
    if inner is None:
        return CONFIG_MAPPING[name]
    return CONFIG_MAPPING[inner.model_type] if inner.model_type else inner.config_class


def _of(found: Any) -> dict[str, Any]:
    names = found.attribute_map
    given = {
        names.get(field.name, field.name): field.default
        for field in fields(found)
        if field.name not in _BASE - _FURTHER
        and isinstance(field.default, str | int | float | bool)
        and not field.name.endswith("_id")
    }
    theta = found.default_theta
    return {"names": dict(names), "theta": theta, "defaults": given}


if __name__ == "__main__":
    DEFAULTS.write_text(json.dumps(library_defaults(), indent=1) + "\n", encoding="utf-8")
