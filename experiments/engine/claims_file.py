"""Read the claims of a study from `claims.yaml` beside it, the one place where they stand.

    every_claim:                 # what holds for each claim that does not say otherwise
      planned: with the record
      before: Study and record came in one commit.
    claims:
      less_fall_with_length:
        says: From 1-5 to 26-30 words, the translator with attention loses less.
        number: lost(dot) - lost(none)
        below: 0
        unit: points of exact match
        bounds: [-200, 200]
        origin: bahdanau2015     # a paper's key, "popular", "ours", or "ours, after bahdanau2015"
        quoted: 'section 5.2.1: "more robust to the length of the sentences"'  # may be left out
        holds: As sentences grow from 5 words to 30, attention loses far fewer of them.
        fails: As sentences grow from 5 words to 30, attention loses more of them.
        undecided: We cannot tell whether attention loses fewer sentences as they grow.
        pictured: "{size} fewer of 100 sentences are lost"
        sides:                   # what a reader compares, where the number is a comparison
          without attention: none/lost
          with attention: dot/lost  # of another record: "bottleneck:dot/lost"
        axis: lost sentences, %  # the unit of the sides, unless it is left out
        predicted: that attention loses fewer   # after "We had predicted"; may be left out

A number is a measure, a function of measures, or the difference of two of them, with spaces around
the sign. `ratio(a, b)` and `distance(a, b)` are known; a function of `study.py` takes the runs, and
after them what the parentheses hold, as text. `trainings(a above 90)` or `trainings(a - b above 0)`
is how many in 100 trainings end like this: a mean would hide that a few have failed. What each part
means stands in `experiments.engine.claims`. Findings, origins and quotations may be written after
the runs; nothing else may be changed then without saying so in `planned` and `before`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast, get_args

import yaml

from bookkit.records import Bounds, Finding, Origin, Planned, Sort
from experiments.engine.claims import Claim, History, Quantity, Runs, distance, ratio, trainings

Function = Callable[..., Sequence[float]]

_NUMBER, _TEXT = (int, float), (str,)
_SHARED: dict[str, tuple[type, ...]] = {
    "above": _NUMBER, "below": _NUMBER, "unit": _TEXT, "bounds": (list,), "origin": _TEXT,
    "sort": _TEXT, "planned": _TEXT, "before": _TEXT,
}  # fmt: skip
_FINDING = ("holds", "fails", "undecided")
_CLAIM = {
    "says": _TEXT, "number": _TEXT, **_SHARED, **dict.fromkeys(_FINDING, _TEXT), "pictured": _TEXT,
    "quoted": _TEXT, "sides": (dict,), "axis": _TEXT, "predicted": _TEXT,
}  # fmt: skip
_NEEDED = ("says", "number", "origin", "planned", *_FINDING)
_CALL = re.compile(r"(\w+)\((.*)\)")
_MINUS = re.compile(r" - (?![^(]*\))")  # outside of parentheses
_CONDITION = re.compile(r"trainings\(.+ (above|below) [-+.\d]+\)")


def read_claims(study: str, *functions: Function) -> dict[str, Claim]:
    """Return the claims of a study, whose path is given, by their names.

    Numbers are computed with functions of the study, too.

    Raises:
        ValueError: the file is not as it should be; the message says where, and what was wanted.
    """
    text = Path(study).with_name("claims.yaml").read_text(encoding="utf-8")
    where = f"claims of {Path(study).parent.name}"
    file = _mapping(yaml.load(text, _Loader), where, {"every_claim": (dict,), "claims": (dict,)})
    shared = _mapping(file.get("every_claim", {}), f"{where}, every_claim", _SHARED)
    every: tuple[Function, ...] = (ratio, distance, trainings, *functions)
    known = {function.__name__: function for function in every}
    return {
        name: _claim(_mapping(entry, f"{where}, {name}", _CLAIM), shared, f"{where}, {name}", known)
        for name, entry in file.get("claims", {}).items()
    }


def _claim(
    own: dict[str, Any], shared: dict[str, Any], where: str, known: Mapping[str, Function]
) -> Claim:
    entry = shared | own
    missing = [name for name in _NEEDED if name not in entry]
    _check(not missing, where, f"no {', '.join(missing)}", f"all of {', '.join(_NEEDED)}")
    number = entry["number"]
    ends = [_quantity(end, where, known) for end in _MINUS.split(number)]
    _check(len(ends) < 3, where, number, "one number, or the difference of two")
    counts = "trainings(" in number
    _check(not counts or _CONDITION.fullmatch(number), where, number, "trainings(a above 90) alone")
    origin, _, source = entry["origin"].partition(", after ")
    if origin not in get_args(Origin):
        origin, source = "paper", origin
    sort, planned = entry.get("sort", "hypothesis"), entry["planned"]
    for name, said, words in (("sort", sort, Sort), ("planned", planned, Planned)):
        _check(said in get_args(words), f"{where}, {name}", said, f"one of {get_args(words)}")
    try:
        return Claim(
            entry["says"],
            ends[0],
            ends[1] if len(ends) == 2 else None,
            unit=entry.get("unit", ""),
            above=entry.get("above"),
            below=entry.get("below"),
            bounds=cast(Bounds, tuple(entry["bounds"])) if "bounds" in entry else None,
            counts=counts,
            finding=Finding(
                **{name: entry[name] for name in _FINDING}, number=entry.get("pictured", ""),
                sides=entry.get("sides", {}), axis=entry.get("axis", ""),
                predicted=entry.get("predicted", ""),
            ),
            history=History(
                origin=cast(Origin, origin), sort=cast(Sort, sort), planned=cast(Planned, planned),
                before=entry.get("before", ""), source=source, quoted=entry.get("quoted", ""),
            ),
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"{where}, {error}") from None


def _quantity(text: str, where: str, known: Mapping[str, Function]) -> Quantity:
    """Return a measure, or what a function gives of the runs."""
    call = _CALL.fullmatch(text)
    if call is None:
        return text
    name, inside = call.groups()
    _check(name in known, f"{where}, number", name, f"one of {', '.join(known)}")
    arguments = [part.strip() for part in inside.split(",") if part.strip()]

    def quantity(runs: Runs) -> Sequence[float]:
        return known[name](runs, *arguments)

    return quantity


def _mapping(entry: Any, where: str, kinds: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    _check(isinstance(entry, dict), where, repr(entry), "a mapping")
    for key, value in entry.items():
        _check(key in kinds, where, repr(key), f"one of {', '.join(kinds)}")
        names = " or ".join(kind.__name__ for kind in kinds[key])
        _check(type(value) in kinds[key], f"{where}, {key}", repr(value), names)
    return dict(entry)


def _check(fine: object, where: str, got: str, wanted: str) -> None:
    if not fine:
        raise ValueError(f"{where}: got {got}, wanted {wanted}")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads YAML, and takes no claim of which there are two."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Refuse a key that comes twice: the first would be lost."""
        keys = [key.value for key, _ in node.value]
        twice = sorted({key for key in keys if keys.count(key) > 1})
        _check(not twice, f"claims{node.start_mark}", f"{', '.join(twice)} twice", "each key once")
        return dict(super().construct_mapping(node, deep))
