"""The settings of rotary positions, as the library makes them of older and of newer names."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from companion.models.atlas.expressions import as_written
from companion.models.atlas.table import Fields, table

Rope = dict[str, Any]
_SCALED = ("llama3", "yarn", "longrope")


def rope_parameters(fields: Fields) -> Rope:
    """Return one set of settings for all layers, or one for every kind.

    Args:
        fields: of a file, under today's names.

    Raises:
        ValueError: settings that are no object.
    """
    family = table()["families"][fields.family]
    rope = {"theta": family["theta"], **family.get("rope", {})}
    new, old = (
        _object(fields, "rope_parameters"),
        _object(fields, "rope_scaling"),
    )
    absent = deepcopy(rope.get("absent", {}))
    if rope.get("compressed"):
        return _compressed(fields, old or new, family["theta"])
    if rope.get("listed"):
        return _by_kind(fields, old, new, rope["theta"])
    if rope.get("fixed"):
        return new or absent
    if "kinds" in rope:
        theta = fields.get("rope_theta") or rope["theta"]
        near = fields.get(str(rope.get("near")))
        near = near or rope.get("near_theta", rope["theta"])
        full, windows = (new.get(kind) or {} for kind in rope["kinds"])
        found = {
            "full_attention": {"rope_theta": theta} | full | old,
            "sliding_attention": {"rope_theta": near} | windows,
        }
        for one in found.values():
            one.setdefault("rope_type", one.get("type", "default"))
        return found
    given = old or new or absent
    kinds = {*fields["layer_types"], "full_attention", "sliding_attention"}
    parts = [given[kind] for kind in kinds & given.keys()] or [given]
    for one in filter(lambda one: one is not None, parts):
        _complete(fields, rope, one)
    return given


def _object(fields: Fields, name: str) -> Rope:
    given = fields.get(name)
    if not isinstance(given, dict | None):
        raise ValueError(
            f"{name}: {fields.path} has {as_written(given)}, wanted an object"
        )
    return deepcopy(given) or {}


def _complete(fields: Fields, rope: Rope, one: Rope) -> None:
    """Put into one set of settings what stands beside it in the file, or is the default."""
    names = rope.get("names", {})
    theta = fields.get(names.get("rope_theta", "rope_theta"))
    one.setdefault("rope_theta", rope["theta"] if theta is None else theta)
    part = fields.get(
        names.get("partial_rotary_factor", "partial_rotary_factor")
    )
    part = rope.get("partial") if part is None else part
    if rope.get("rotary_dim") and fields.get("rotary_dim") and part is None:
        part = fields["rotary_dim"] / fields["head_dim"]
    if "partial_of" in rope:
        turned, still = (fields[name] for name in rope["partial_of"])
        part = turned / (turned + still)
    part = rope.get("always", part)
    if part is not None:
        one.setdefault("partial_rotary_factor", part)
    if "factor" in one and not (one.get("rope_type") or one.get("type")):
        raise ValueError(
            f"rope_type: {fields.path} has none beside a factor, wanted one"
        )
    named = one.setdefault("rope_type", one.get("type", "default"))
    one["rope_type"] = rope.get("type", {}).get(named, named)
    if one["rope_type"] in _SCALED:
        original = "original_max_position_embeddings"
        beside = fields.get(original)
        if beside is not None:
            one[original] = beside
        one.setdefault(original, fields.get("max_position_embeddings"))


def _compressed(fields: Fields, given: Rope, theta: float) -> Rope:
    """Return DeepSeek-V4's settings: YaRN in layers that pool, and nothing in the others."""
    if isinstance(given.get("main"), dict) and isinstance(
        given.get("compress"), dict
    ):
        return given
    part = {"partial_rotary_factor": fields["partial_rotary_factor"]}
    base = fields.get("rope_theta") or theta
    main = {"rope_type": "default", "rope_theta": base, **part}
    far = {**given, "rope_theta": fields["compress_rope_theta"], **part}
    far.setdefault("rope_type", far.get("type", "default"))
    if far["rope_type"] == "yarn":
        far.setdefault("attention_factor", 1.0)
    return {"main": main, "compress": far}


def _by_kind(fields: Fields, old: Rope, new: Rope, theta: float) -> Rope:
    """Return Step 3.7's settings: those of the first layer of every kind."""
    named = fields["layer_types"]
    if all(isinstance(new.get(kind), dict) for kind in named):
        return new
    bases, found = fields.get("rope_theta") or theta, {}
    shares = fields.get("partial_rotary_factors")
    for kind in dict.fromkeys(named):
        at = named.index(kind)
        base = bases[at] if isinstance(bases, list) else bases
        found[kind] = {"rope_type": "default", "rope_theta": base}
        if shares:
            found[kind]["partial_rotary_factor"] = shares[at]
    if old and "full_attention" in found:
        found["full_attention"] |= old
    return found
