"""Read the records of studies, and refuse what is not one."""

import json
import math
import re
from collections.abc import Mapping
from datetime import date
from importlib.resources import files
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Any, get_args

from bookkit.records.records import (
    Bounds,
    Claim,
    Finding,
    KindName,
    Measure,
    Origin,
    Planned,
    Sort,
    Study,
    UnknownNameError,
)

Kinds = tuple[type, ...]

_NUMBER, _NONE = (int, float), type(None)
_STUDY: dict[str, Kinds] = {
    "study": (str,), "title": (str,), "command": (str,), "seeds": (list,), "date": (str,),
    "processor": (str,), "threads": (int,), "versions": (dict,), "config": (dict,),
    "code": (dict,), "data": (dict, _NONE), "fingerprint": (dict, _NONE), "measures": (dict,),
    "claims": (dict,),
}  # fmt: skip
_CODE: dict[str, Kinds] = {"commit": (str, _NONE), "of": (str,), "files": (dict,)}
_SPANS: dict[str, Kinds] = {"interval": (list,), "prediction": (list,)}
_EXACT: dict[str, Kinds] = {"kind": (str,), "unit": (str,), "runs": (list,), "mean": _NUMBER}
_MEASURE: dict[str, Kinds] = {**_EXACT, **_SPANS}
_CLAIM: dict[str, Kinds] = {
    **_MEASURE, "claim": (str,), "side": (str,), "threshold": _NUMBER, "origin": (str,),
    "source": (str,), "sort": (str,), "planned": (str,), "before": (str,),
}  # fmt: skip
_OPTIONAL: dict[str, Kinds] = {
    "decimals": (int, _NONE), "items": (int,), "own_items": (int,), "bounds": (list,),
    "item_error": _NUMBER, "floor": _NUMBER, "timed": (bool,),
}  # fmt: skip
_OF_MEASURES: dict[str, Kinds] = {**_OPTIONAL, "answers": (list,), "of": (list,)}
_OF_CLAIMS: dict[str, Kinds] = {
    **_OPTIONAL, "wants_answers": (bool,), "near": (dict,), "quoted": (str,),
}  # fmt: skip
_FINDING: dict[str, Kinds] = dict.fromkeys(("holds", "fails", "undecided", "number"), (str,))
_OF_FINDINGS: dict[str, Kinds] = {"sides": (dict,), "axis": (str,), "predicted": (str,)}


RECORD = "record.json"
"""The file of a record, in the folder of its study."""
NO_STUDIES = frozenset({"atlas"})
"""Records that are no studies: `bookkit.atlas` reads the one of today's models."""


def recorded_studies(directory: Traversable | None = None) -> dict[str, Traversable]:
    """Return the records of studies by their names.

    Args:
        directory: has a folder for each study; by default `experiments`, which comes along.

    >>> "bottleneck" in recorded_studies(), "atlas" in recorded_studies()
    (True, False)
    """
    folder = files("experiments") if directory is None else directory
    found = {
        study.name: study / RECORD
        for study in (folder.iterdir() if folder.is_dir() else ())
        if (study / RECORD).is_file()
    }
    return {name: found[name] for name in sorted(found.keys() - NO_STUDIES)}


def load_result(study: str, *, directory: Traversable | None = None) -> Study:
    """Read a recorded study.

    Args:
        study: its name.
        directory: has a folder for each study; by default `experiments`, which comes along.

    Raises:
        UnknownNameError: there is no such study; the message lists those there are.
        ValueError: the file is not a record of a study.

    >>> load_result("no such study")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bookkit.records.records.UnknownNameError: study: got 'no such study', wanted ...
    """
    records = recorded_studies(directory)
    if study not in records:
        raise UnknownNameError("study", study, records)
    return read_study(json.loads(records[study].read_text(encoding="utf-8")), name=study)


def load_trials(study: str) -> list[dict[str, Any]]:
    """Return the trials by which the settings of a study were chosen.

    Each has its "setting" and the "runs" of the tuning seeds, and where these tell arms apart, the
    "name" of its arm.

    >>> load_trials("choices")[0]["name"]
    'dot'
    """
    text = (files("experiments") / study / "tuned.json").read_text(encoding="utf-8")
    trials: list[dict[str, Any]] = json.loads(text)["trials"]
    return trials


def read_study(record: Any, *, name: str) -> Study:
    """Check a record and turn it into a study.

    Args:
        record: what the JSON file holds.
        name: that of the study's folder, which the record must repeat.
    """
    where = f"record {name!r}"
    _check_entries(record, where, _STUDY, {"over": (str,)})
    _check_code(record["code"], f"{where}, code")
    _check(record["study"] == name, f"{where}, study", record["study"], repr(name))
    _check(re.fullmatch(r"[a-z][a-z0-9_]*", name), where, name, "a name of a-z, 0-9 and _")
    _check(_is_date(record["date"]), f"{where}, date", record["date"], "YYYY-MM-DD")
    seeds = record["seeds"]
    _check(all(type(seed) is int for seed in seeds), f"{where}, seeds", seeds, "whole numbers")
    _check(1 < len(seeds) == len(set(seeds)), f"{where}, seeds", seeds, "2 or more, all different")
    if record["fingerprint"] is not None:
        _check_fingerprint(record["fingerprint"], f"{where}, fingerprint")
    measures = {
        key: Measure(**_measure_fields(entry, f"{where}, measures, {key}", _MEASURE, len(seeds)))
        for key, entry in record["measures"].items()
    }
    claims = {
        key: _claim(entry, f"{where}, claims, {key}", len(seeds))
        for key, entry in record["claims"].items()
    }
    for key, entry in claims.items():
        sides = entry.finding.sides if entry.finding else {}
        own = [name for name in sides.values() if ":" not in name]
        unknown = [name for name in own if name not in measures]
        _check(not unknown, f"{where}, claims, {key}, sides", unknown, "measures of the study")
    entries = {**record, "seeds": tuple(seeds), "measures": measures, "claims": claims}
    for key, entry in entries.items():
        entries[key] = MappingProxyType(entry) if isinstance(entry, dict) else entry
    return Study(**entries)


def _claim(entry: Any, where: str, seeds: int) -> Claim:
    _check(type(entry) is dict, where, type(entry).__name__, "a mapping")
    finding = _finding(entry["finding"], f"{where}, finding") if "finding" in entry else None
    entry = {key: value for key, value in entry.items() if key != "finding"}
    fields = _measure_fields(entry, where, _CLAIM, seeds, _OF_CLAIMS)
    _check(fields["side"] in ("above", "below"), f"{where}, side", fields["side"], "above or below")
    for name, words in (("origin", Origin), ("sort", Sort), ("planned", Planned)):
        possible = get_args(words)
        _check(fields[name] in possible, f"{where}, {name}", fields[name], ", ".join(possible))
    sourced = fields["source"] or fields["origin"] != "paper"
    _check(sourced, f"{where}, source", fields["source"], "the paper's key, if it is of a paper")
    return Claim(**fields, finding=finding)


def _finding(entry: Any, where: str) -> Finding:
    _check_entries(entry, where, _FINDING, _OF_FINDINGS)
    try:
        return Finding(**entry)
    except ValueError as error:
        raise ValueError(f"{where}, {error}") from None


def _measure_fields(
    entry: Any,
    where: str,
    kinds: dict[str, Kinds],
    seeds: int,
    optional: dict[str, Kinds] = _OF_MEASURES,
) -> dict[str, Any]:
    _check(type(entry) is dict, where, type(entry).__name__, "a mapping")
    exact = entry.get("kind") == "exact"
    _check_entries(entry, where, _EXACT if exact else kinds, optional)
    runs = _numbers(entry["runs"], f"{where}, runs", seeds, "one a seed")
    mean = float(entry["mean"])
    bounds = _bounds(entry, where)
    spans = dict.fromkeys(_SPANS, (mean, mean))
    for name in () if exact else _SPANS:
        low, high = spans[name] = _numbers(entry[name], f"{where}, {name}", 2, "low and high")
        _check(low <= mean <= high, f"{where}, {name}", [low, high], f"the mean {mean:g} inside")
        inside = (bounds[0] is None or bounds[0] <= low) and (
            bounds[1] is None or high <= bounds[1]
        )
        _check(inside, f"{where}, {name}", [low, high], f"an interval within {list(bounds)}")
    answers = {name: _strings(entry, name, where, seeds) for name in ("answers", "of")}
    return {**entry, "runs": runs, "mean": mean, "bounds": bounds, **spans, **answers}


def _strings(entry: dict[str, Any], name: str, where: str, seeds: int) -> tuple[str, ...]:
    """Check answers by item, where there are any: in base 16, one string a seed."""
    values = entry.get(name, [])
    fine = all(type(one) is str and re.fullmatch("[0-9a-f]+", one) for one in values)
    _check(fine, f"{where}, {name}", values, "numbers in base 16")
    _check(len(values) in (0, seeds), f"{where}, {name}", len(values), f"{seeds}: one a seed")
    _check(not values or "items" in entry, f"{where}, {name}", "no items", "answers to some items")
    return tuple(values)


def _bounds(entry: dict[str, Any], where: str) -> Bounds:
    """Check what an entry says of its kind; return the least and the largest possible number."""
    kind, bounds = entry["kind"], entry.get("bounds", [None, None])
    items = [entry[name] for name in ("items", "own_items") if name in entry]
    _check(kind in get_args(KindName), f"{where}, kind", kind, " or ".join(get_args(KindName)))
    share = kind == "share"
    fine = len(items) == 1 if share else "items" not in entry
    wanted = "one number of test items for a share, and none for anything else"
    _check(fine and all(count > 0 for count in items), f"{where}, items", items, wanted)
    fine = len(bounds) == 2 and all(end is None or type(end) in _NUMBER for end in bounds)
    _check(fine, f"{where}, bounds", bounds, "two numbers, null where one is not known")
    return (0, 100) if share else (bounds[0], bounds[1])


def _check_code(entry: Any, where: str) -> None:
    _check_entries(entry, where, _CODE)
    _check(entry["of"] in ("code", "record"), f"{where}, of", entry["of"], "code or record")
    for name, digest in entry["files"].items():
        fine = type(digest) is str and re.fullmatch("[0-9a-f]{64}", digest)
        _check(fine, f"{where}, files, {name}", digest, "a SHA-256 in base 16")


def _check_fingerprint(entry: Any, where: str) -> None:
    _check_entries(entry, where, {"losses": (list,), "tolerance": _NUMBER})
    _numbers(entry["losses"], f"{where}, losses", max(1, len(entry["losses"])), "at least one loss")
    _check(entry["tolerance"] > 0, f"{where}, tolerance", entry["tolerance"], "a number above 0")


def _check_entries(
    entry: Any, where: str, kinds: dict[str, Kinds], optional: Mapping[str, Kinds] | None = None
) -> None:
    _check(type(entry) is dict, where, type(entry).__name__, "a mapping")
    possible = {**kinds, **(optional or {})}
    missing, unknown = sorted(kinds.keys() - entry.keys()), sorted(entry.keys() - possible.keys())
    _check(not missing, where, "no " + ", ".join(missing), "all of " + ", ".join(kinds))
    _check(not unknown, where, "also " + ", ".join(unknown), "no more than " + ", ".join(possible))
    for key, value in entry.items():
        names = " or ".join(kind.__name__ for kind in possible[key])
        _check(type(value) in possible[key], f"{where}, {key}", type(value).__name__, names)


def _numbers(values: list[Any], where: str, count: int, why: str) -> tuple[Any, ...]:
    fine = all(type(value) in _NUMBER and math.isfinite(value) for value in values)
    _check(fine, where, values, "finite numbers")
    _check(len(values) == count, where, f"{len(values)} numbers", f"{count}: {why}")
    return tuple(float(value) for value in values)


def _check(fine: object, where: str, got: object, wanted: str) -> None:
    if not fine:
        raise ValueError(f"{where}: got {got}, wanted {wanted}")


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
