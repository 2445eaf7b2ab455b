"""A published config.json under today's names: older names, defaults and kinds of layers.

What the library makes of a file stands in `rules.toml`, which the page reads as well.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from companion.models.atlas.expressions import (
    Evaluator,
    Expression,
    as_written,
    compiled,
)
from companion.models.atlas.kept import Kept
from companion.models.options import Options

DEFAULTS = Path(__file__).with_name("defaults.json")
"""What the classes of the library take where a file says nothing."""

_SIZES = ("num_hidden_layers", "hidden_size", "num_attention_heads")


class Fields(Options):
    """The fields of a file under today's names, and what they describe.

    Attributes:
        family: the model_type of the text model.
        assumed: fields that the file leaves out, with the defaults of the library.
    """

    family: str
    assumed: dict[str, Any]


@cache
def _rules() -> dict[str, Any]:
    source = Path(__file__).with_name("rules.toml").read_text("utf-8")
    given = tomllib.loads(source)
    plain = given["plain"]["families"].split()
    given["families"] |= {name: {"like": "llama"} for name in plain}
    return given


def family_names() -> set[str]:
    """Return the model_type of all text models that the table knows."""
    return set(_rules()["families"])


@cache
def table() -> dict[str, Any]:
    """Return the rules and defaults of all families, with expressions as lists."""
    given = _rules()
    stored = json.loads(DEFAULTS.read_text("utf-8"))
    checks = {
        name: kind
        for kind, names in given["fields"].items()
        for name in names.split()
    }
    parts = {
        name: [
            {key: compiled(one) if key in _COMPUTED else one for key, one in part.items()}
            for part in listed
        ]
        for name, listed in given["parts"].items()
    }  # fmt: skip
    return {
        "checks": checks,
        "ranges": given["ranges"],
        "wanted": given["wanted"],
        "words": given["words"],
        "wrapped": given["wrapped"]["fields"],
        "inside": stored["inside"],
        "same": given["same"],
        "parts": parts,
        "families": {
            name: _family(given, stored["families"], name)
            for name in given["families"]
        },
    }


_COMPUTED = ("numbers", "limit", "tokens", "beyond", "when")


def _family(
    given: dict[str, Any], stored: dict[str, Any], name: str
) -> dict[str, Any]:
    """Return all that the table says of a family, with what it has from another one."""
    own, lines = given["families"][name], []
    while own is not None:
        lines.append(own)
        own = given["families"].get(own.get("like"))
    found: dict[str, Any] = {"rules": {}, "names": {}, "defaults": {}}
    for one in reversed(lines):
        rules = one.get("rules", found["rules"]) | one.get("more", {})
        found |= {k: v for k, v in one.items() if k not in ("like", "more")}
        found["rules"] = rules
    bare = found.get("bare", False)
    rules = found["rules"] | ({} if bare else _behind(given, found["rules"]))
    taken = stored.get(name, {"names": {}, "theta": 10_000.0, "defaults": {}})
    names = {old: new for old, new in taken["names"].items()
             if new not in {**given["names"], **found["names"]}}  # fmt: skip
    names = {**given["names"], **names, **found["names"]}
    defaults = {names.get(k, k): v for k, v in taken["defaults"].items()}
    listed = [[*_target(rule), compiled(it)] for rule, it in rules.items()]
    kept = [given["parts"][one] for one in found["kinds"].values()]
    return {
        **found,
        "names": names,
        "theta": taken["theta"],
        "defaults": defaults | found["defaults"],
        "rules": listed,
        "needed": _needed(listed, kept),
    }


def _needed(rules: list[Any], kept: list[Any]) -> set[str]:
    """Return the fields that decide what layers keep."""
    parts = (part for parts in kept for part in parts)
    computed = (
        part[key] for part in parts for key in _COMPUTED if key in part
    )
    found = {"num_nextn_predict_layers", "layer_types", "num_hidden_layers",
             "num_attention_heads", "num_key_value_heads"}  # fmt: skip
    found |= {one for source in computed for one in _read_in(compiled(source))}
    for target, _, _, it in reversed(rules):
        found |= {*_read_in(it)} if target in found else set()
    return found


def _read_in(it: Expression) -> Iterator[str]:
    """Return the fields that an expression reads."""
    if isinstance(it, str):
        yield it
    if isinstance(it, list) and it[0] != "'":
        for part in it[1:]:
            yield from _read_in(part)


def page_table() -> dict[str, Any]:
    """Return the part of the table that a page needs; rules that families share stand once."""
    alike: list[dict[str, Any]] = []
    families = {}
    for name, family in table()["families"].items():
        known = family["needed"]
        one = {
            "kinds": family["kinds"],
            "bare": family.get("bare", False),
            "longer": family.get("longer", False),
            "sizes": [size for size in _SIZES if size in family["defaults"]],
            "names": {k: v for k, v in family["names"].items() if v in known},
            "rules": [rule for rule in family["rules"] if rule[0] in known],
        }
        alike += [] if one in alike else [one]
        defaults = {k: v for k, v in family["defaults"].items() if k in known}
        families[name] = {"alike": alike.index(one), "defaults": defaults}
    return {**table(), "families": families, "alike": alike}


def _behind(given: dict[str, Any], rules: dict[str, str]) -> dict[str, str]:
    """Return the rules of all families, without those that this one has of its own."""
    return {k: v for k, v in given["base"].items() if k not in rules}


def _target(rule: str) -> tuple[str, bool, bool]:
    """Return the field that a rule sets, and whether it does so layer by layer, and always."""
    return rule.rstrip("[]!"), "[]" in rule, rule.endswith("!")


def read_fields(
    config: Mapping[str, Any], *, path: str = "config.json"
) -> Fields:
    """Return the fields of a file under today's names, with all that follows from them.

    Args:
        config: the fields of a config.json and their values; of a model that also sees or hears,
            those of its text model are taken.
        path: what errors call the file.

    Raises:
        TypeError: a field of another type.
        ValueError: a model_type that is not covered, or a field that decides what a layer keeps
            is missing or has a value that it cannot have.
    """
    name, given, path, inside = _text_model(config, path)
    family = table()["families"][name]
    fields = Fields({}, path)
    for key, value in given.items():
        new = family["names"].get(key, key)
        # As the library sets them: what comes under another name counts.
        if new not in fields or (new != key and value is not None):
            fields[new] = value
    derived = {target for target, _, always, _ in family["rules"] if always}
    for size in () if inside else _SIZES:
        if size in family["defaults"] and size not in {*fields, *derived}:
            raise ValueError(f"{size}: {path} has none, wanted a whole number")
    fields.family = name
    absent = {k: v for k, v in family["defaults"].items() if k not in fields}
    fields |= absent
    value_of = _evaluator(fields)
    fields.assumed = {
        key: value
        for key, value in absent.items()
        if key in family["needed"] - {"num_nextn_predict_layers"}
        and not _said_elsewhere(key, family["rules"], fields, value_of)
    }
    for key in ("layer_types", "indexer_types"):
        _as_words(fields, key, value_of)
    needed = [rule for rule in family["rules"] if rule[0] in family["needed"]]
    _apply(fields, needed, value_of)
    _check_kinds(fields, family, value_of)
    return fields


def _said_elsewhere(
    key: str, rules: list[Any], fields: Fields, value_of: Evaluator
) -> bool:
    """Say whether a rule takes the field from another one, as from `linear_attn_config`."""
    default, fields[key] = fields[key], None
    found = [
        value_of(it)
        for target, each, always, it in rules
        if target == key and always and not each
    ]
    fields[key] = default
    return any(one is not None for one in found)


def completed(fields: Fields) -> Fields:
    """Fill in the fields that a model needs to be built, but that do not change what it keeps."""
    family, value_of = table()["families"][fields.family], _evaluator(fields)
    _check_types(fields, family)
    _as_words(fields, "mlp_layer_types", value_of)
    further = [
        rule for rule in family["rules"] if rule[0] not in family["needed"]
    ]
    _apply(fields, further, value_of)
    return fields


def _check_types(fields: Fields, family: dict[str, Any]) -> None:
    """Refuse fields of another type than the library's default of the same name."""
    mixed = _rules()["mixed"]["fields"].split()
    for key, value in fields.items():
        if key in mixed or checked(key, value, fields.path) is None:
            continue
        default = family["defaults"].get(key)
        wanted = next(
            (one for one in _PLAIN if isinstance(default, one)), None
        )
        if wanted is None or key in table()["checks"]:
            continue
        if not isinstance(value, wanted) or isinstance(value, bool) != (
            wanted is bool
        ):
            said = f"has {as_written(value)}, wanted {_PLAIN[wanted]}"
            raise TypeError(f"{key}: {fields.path} {said}")


_PLAIN: dict[Any, str] = {
    bool: "true or false",
    int | float: "a number",
    str: "a word",
}


def _evaluator(fields: Fields) -> Evaluator:
    path = str(fields.path)
    return Evaluator(
        fields, lambda key, value: checked(key, value, path), path
    )


def _apply(fields: Fields, rules: list[Any], value_of: Evaluator) -> None:
    """Give fields what the rules say."""
    for target, each, always, it in rules:
        if not always and fields.get(target) not in (None, [], "auto"):
            continue
        if not each:
            fields[target] = value_of(it)
            continue
        count = value_of("num_hidden_layers")
        if count is None:
            raise value_of.refused("num_hidden_layers", None, "a whole number")
        found = [value_of(it, at) for at in range(count)]
        kinds = target.endswith("_types")
        fields[target] = [*map(_word, found)] if kinds else found


def kept_of(fields: Fields) -> list[tuple[Kept, ...]]:
    """Return what every layer keeps of a text, layer by layer."""
    family = table()["families"][fields.family]
    value_of = _evaluator(fields)
    listed = (
        table()["parts"][family["kinds"][kind]]
        for kind in fields["layer_types"]
    )
    return [
        tuple(_kept(part, value_of, at) for part in parts
              if value_of(part.get("when", True), at))
        for at, parts in enumerate(listed)
    ]  # fmt: skip


def _kept(part: dict[str, Any], value_of: Evaluator, at: int) -> Kept:
    numbers = value_of(part["numbers"], at)
    if not isinstance(numbers, int) or numbers < 1:
        raise value_of.refused(part["numbers"], numbers, "at least 1")
    limit = value_of(part.get("limit"), at)
    if limit is not None and limit < 0:
        raise value_of.refused(part["limit"], limit + 1, "at least 1")
    once = part.get("once", False)
    return Kept(
        part["what"], numbers, None if once else value_of(part.get("tokens", 1), at), limit,
        part.get("itemsize"), beyond=value_of(part.get("beyond"), at),
    )  # fmt: skip


def _text_model(
    config: Any, path: str
) -> tuple[str, Mapping[str, Any], str, bool]:
    """Return the family, the fields and the path of the text model that a file describes."""
    known = table()
    if not isinstance(config, Mapping):
        raise TypeError(
            f"config: {path} has {as_written(config)}, wanted an object"
        )
    name, inside = config.get("model_type"), False
    while found := next(_inner(config, known["wrapped"]), None):
        outer, config, inside = name, config[found], True
        name, path = config.get("model_type"), f"{found} of {path}"
        if _named(name) not in known["families"]:
            name = known["inside"].get(
                str(outer), outer if name is None else name
            )
    name = known["inside"].get(str(name), name)
    if _named(name) not in known["families"]:
        raise ValueError(
            f"model_type: {path} has {'none' if name is None else as_written(name)}, "
            f"wanted one of the {len(known['families'])} known types, such as llama"
        )
    return _named(name), config, path, inside


def _inner(config: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    return (name for name in names if isinstance(config.get(name), Mapping))


def _named(name: Any) -> str:
    return str(table()["same"].get(str(name), name))


def checked(key: str, value: Any, path: Any) -> Any:
    """Return the value of a field as it counts, or refuse it and say what is wanted there."""
    kind = table()["checks"].get(key)
    if kind is None or value is None:
        return value
    wanted = _wanted(kind, value)
    if not isinstance(wanted, str):
        return wanted[0]
    message = f"{key}: {path} has {as_written(value)}, wanted {wanted}"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    raise (ValueError if number else TypeError)(message)


def _wanted(kind: str, value: Any) -> str | tuple[Any]:
    """Return the value as it counts, in a tuple, or say in words what is wanted instead."""
    if kind == "auto" and value == "auto":
        return (None,)
    if kind in (ranges := table()["ranges"]):
        least, most = ranges[kind]
        whole = _whole(value)
        if whole is not None and least <= whole <= most:
            return (whole,)
        return f"a whole number from {least} to {most}"
    return (value,) if _TYPES[kind](value) else str(table()["wanted"][kind])


def _whole(value: Any) -> int | None:
    """Return a whole number, which JSON may also write with a point, or None."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if number and value == value // 1 else None


def _all(kind: type) -> Any:
    return lambda value: isinstance(value, list) and all(
        isinstance(one, kind) if kind is not int else _whole(one) is not None for one in value
    )  # fmt: skip


_TYPES: dict[str, Any] = {
    "flag": lambda value: isinstance(value, bool),
    "words": _all(str),
    "wholes": _all(int),
    "object": lambda value: isinstance(value, Mapping),
    "objects": _all(dict),
    "text": lambda value: isinstance(value, str),
    "pattern": lambda value: (
        isinstance(value, str | list) or _whole(value) is not None
    ),
}


def _word(value: Any) -> Any:
    """Return today's word for the kind of a layer; files may have a letter or a number for it."""
    return table()["words"].get(str(value), value)


def _as_words(fields: Fields, key: str, value_of: Evaluator) -> None:
    """Put today's words into a list of kinds of layers, and cut what describes no layer."""
    listed, count = value_of(key), fields.get("num_hidden_layers")
    if not listed:
        return
    further = value_of("num_nextn_predict_layers") or 0
    longer = table()["families"][fields.family].get("longer", False)
    if isinstance(count, int) and (longer or len(listed) == count + further):
        listed = listed[:count]
    fields[key] = [_word(one) for one in listed]


def _check_kinds(
    fields: Fields, family: dict[str, Any], value_of: Evaluator
) -> None:
    """Refuse kinds of layers that a family does not have, and heads that cannot be shared out."""
    named, count = value_of("layer_types"), value_of("num_hidden_layers")
    if count is None:
        raise value_of.refused("num_hidden_layers", None, "a whole number")
    if len(named) != count:
        raise ValueError(
            f"layer_types: {fields.path} has {len(named)}, wanted {count}, the num_hidden_layers"
        )
    for at, kind in enumerate(named):
        if kind not in family["kinds"]:
            raise ValueError(
                f"layer_types: {fields.path} has {as_written(kind)} for layer {at}, wanted one of "
                f"{', '.join(family['kinds'])}"
            )
    heads, keys = (
        value_of(f"num_{part}_heads") for part in ("attention", "key_value")
    )
    if not family.get("bare") and heads and keys and heads % keys:
        raise ValueError(
            f"num_key_value_heads: {fields.path} has {keys}, wanted a divisor of "
            f"num_attention_heads, {heads}"
        )
