"""The record of the atlas: every architecture, its specification, and what the check gave."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date
from decimal import ROUND_DOWN, ROUND_UP, Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

from bookkit.atlas.kinds import pattern
from bookkit.atlas.rows import NAME, read_atlas
from bookkit.records.reading import RECORD as FILE
from companion.models.atlas import ModelSpec, read_config
from companion.models.atlas.plain import to_fields
from experiments.atlas import library
from experiments.atlas.check import BATCH, LENGTH, Outcome, shown_config, toy_config
from experiments.atlas.rows import ROWS, Row
from experiments.engine.code import LAYERS, code_of
from experiments.engine.record import STUDIES, layout, processor, replace_file, versions

SEED = 0
MODULES = (*LAYERS, "companion.models.atlas", "companion.linear", "experiments.atlas")
RECORD = STUDIES / NAME / FILE


def stored_spec(row: Row) -> tuple[ModelSpec, bool]:
    """Return the specification of a published model, or of the class's default configuration.

    The defaults of a few classes make no model, because a number is missing or two do not fit. Of
    these it is the toy's, which the second value says.
    """
    try:
        return _read(shown_config(row), row), False
    except (KeyError, TypeError, ValueError):  # what a number that is not there leads to
        return _read(toy_config(row), row), True


def _read(config: Any, row: Row) -> ModelSpec:
    return read_config(config.to_dict(), path=row.name, whole=True)


def write(outcomes: Mapping[str, Outcome]) -> Path:
    """Write the record.

    Args:
        outcomes: of every row, by its name.

    Raises:
        KeyError: a row has no outcome.
    """
    record = {
        "atlas": "Attention in today's models, each held against its reference",
        "command": "make atlas",
        "seed": SEED,
        "length": LENGTH,
        "batch_size": BATCH,
        "date": date.today().isoformat(),
        "processor": processor(),
        "versions": versions() | {"transformers": version("transformers")},
        "code": code_of(MODULES),
        "rows": {row.name: _entry(row, outcomes[row.name]) for row in ROWS},
        "missing": dict(_missing()),
    }
    read_atlas(record)
    return replace_file(layout(record) + "\n", RECORD)


def rounded(number: float, *, up: bool = True) -> float:
    """Round to one digit: what is a bound stays one on a processor that sums in another order.

    >>> rounded(4.65e-06), rounded(3.67, up=False), rounded(0.0)
    (5e-06, 3.0, 0.0)
    """
    if number == 0 or not math.isfinite(number):
        return number
    exact = Decimal(repr(number))
    digit = Decimal((0, (1,), exact.adjusted()))
    return float(exact.quantize(digit, ROUND_UP if up else ROUND_DOWN))


def _entry(row: Row, outcome: Outcome) -> dict[str, Any]:
    file = library.modeling_file(row.name)
    spec, toy_size = stored_spec(row)
    gave = {
        name: rounded(value, up=name != "size") if isinstance(value, float) else value
        for name, value in asdict(outcome).items()
    }
    return {
        "name": library.name_of(row.name),
        "checkpoint": library.checkpoint_of(row.name),
        "path": library.path_of(file),
        "sha256": library.sha256(file),
        "spec": to_fields(spec),
        "toy_size": toy_size,
        "toy": row.fields,
        "checked": pattern(_read(toy_config(row), row)),
        "outcome": gave,
    }


def _missing() -> Any:
    """Yield the architectures of the library that are no rows, each with what is known of it."""
    there = {row.name for row in ROWS}
    reasons = yaml.safe_load(RECORD.with_name("missing.yaml").read_text(encoding="utf-8"))
    classes = {library.class_name(name): name for name in there if name in _KNOWN}
    for name in sorted(_KNOWN - there):
        same = classes.get(library.class_name(name))
        reason = reasons.get(name, "" if same is None else f"It is built by the class of {same}.")
        yield name, {"name": library.name_of(name), "reason": reason}


_KNOWN = frozenset(library.causal_language_models())
