"""Specifications as plain fields that JSON can hold, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from companion.models.atlas.model import MIXERS
from companion.models.atlas.specs import LayerSpec, ModelSpec


def to_fields(spec: ModelSpec) -> dict[str, Any]:
    """Return the fields of a specification, each different layer once.

    The value of a field that is the default of its class is left out. `layers` holds the different
    layers in the order in which they come, and `pattern` says of every layer which of them it is.

    >>> from companion.models.atlas import AttentionSpec, FeedForwardSpec
    >>> layer = LayerSpec(AttentionSpec(4, 2, 8), FeedForwardSpec(hidden_dim=24))
    >>> to_fields(ModelSpec(vocab_size=11, embed_dim=16, layers=(layer, layer)))["pattern"]
    [0, 0]
    """
    different = list(dict.fromkeys(spec.layers))
    written: dict[str, Any] = _written(spec)
    written["layers"] = [_written(layer) for layer in different]
    pattern = [different.index(layer) for layer in spec.layers]
    return written | {"pattern": pattern}


def from_fields(plain: Mapping[str, Any]) -> ModelSpec:
    """Return the specification that `to_fields` has written.

    Raises:
        KeyError: a part is of a kind that there is not.

    >>> from companion.models.atlas import AttentionSpec, FeedForwardSpec
    >>> layer = LayerSpec(AttentionSpec(4, 2, 8), FeedForwardSpec(hidden_dim=24))
    >>> spec = ModelSpec(vocab_size=11, embed_dim=16, layers=(layer, layer))
    >>> from_fields(to_fields(spec)) == spec
    True
    """
    different = [_read(layer) for layer in plain["layers"]]
    rest = {name: _read(plain[name]) for name in plain.keys() - set(_LAYERS)}
    layers = tuple(different[number] for number in plain["pattern"])
    return ModelSpec(**rest, layers=layers)


_LAYERS = ("kind", "layers", "pattern")


def _written(value: Any) -> Any:
    """Write a value that a specification may have."""
    if is_dataclass(value) and not isinstance(value, type):
        written = {"kind": type(value).__name__}
        for part in fields(value):
            own = getattr(value, part.name)
            if part.init and own != _default(part):
                written[part.name] = _written(own)
        return written
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    return value


def _default(part: Field[Any]) -> Any:
    if part.default_factory is not MISSING:
        return part.default_factory()
    return part.default


def _read(plain: Any) -> Any:
    """Read what `_written` has written."""
    if isinstance(plain, Mapping):
        parts = {name: _read(part) for name, part in plain.items()}
        return _kinds()[parts.pop("kind")](**parts)
    if isinstance(plain, list):
        return tuple(_read(part) for part in plain)
    return plain


@cache
def _kinds() -> dict[str, type]:
    """Return every class that a specification may hold, by its name."""
    found: dict[str, type] = {}
    waiting: list[Any] = [ModelSpec, LayerSpec, *MIXERS]
    while waiting:
        hint = waiting.pop()
        waiting += get_args(hint)
        is_spec = isinstance(hint, type) and is_dataclass(hint)
        if is_spec and hint.__name__ not in found:
            found[hint.__name__] = hint
            waiting += get_type_hints(hint).values()
    return found
