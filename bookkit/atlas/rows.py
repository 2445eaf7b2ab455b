"""The record of the atlas: every architecture with its specification and what the check gave."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from bookkit.atlas.published import Published, published
from bookkit.records.reading import RECORD
from companion.models.atlas.plain import from_fields
from companion.models.atlas.specs import ModelSpec

NAME = "atlas"
"""The folder of the record among those of the studies; it is a list of checks and has no claims."""

SAME = 1e-4
"""Logits that differ by less are equal but for rounding in another order."""

_LIBRARY = "https://github.com/huggingface/transformers/blob/"


@dataclass(frozen=True)
class Parity:
    """What the check gave at toy size, in float32; differences are the largest of logits.

    They are rounded up to one digit, because the last ones depend on the processor.
    """

    difference: float  # between ours and the reference
    size: float  # largest logit of the reference, rounded down
    leak: float  # of ours at tokens before a change of the text
    cached: float  # between ours with a cache and without
    reference_leak: float  # of the reference at tokens before a change of the text
    reference_cached: float  # between the reference with its cache and without
    bytes: int  # of cache and state by our formula
    held_bytes: int  # that our states hold
    reference_bytes: int  # that the reference's cache holds
    more: Mapping[str, Any]  # what else the check of some architectures says


@dataclass(frozen=True)
class AtlasRow:
    """An architecture of the atlas."""

    model_type: str  # as config.json calls it
    name: str  # what the library calls it
    checkpoint: str  # a published model of this architecture, the library's example
    published: Published  # when it was published, and the model whose sizes are shown
    path: str  # of its modeling file, within the library
    sha256: str  # of this file
    # Made of the configuration of the published model, or else of the class's default one
    spec: ModelSpec
    # Whether it is made of the toy's, because the defaults of the class make no model
    toy_size: bool
    toy: Mapping[str, Any]  # fields of the configuration at toy size, at which it was checked
    checked: str  # in which order kinds of layers come at toy size
    parity: Parity  # what the check gave


@dataclass(frozen=True)
class Missing:
    """An architecture of the library that is no row of the atlas."""

    model_type: str  # as config.json calls it
    name: str  # what the library calls it
    reason: str  # why it is missing; empty where nobody has looked


@dataclass(frozen=True)
class Atlas:
    """The record of the atlas."""

    rows: tuple[AtlasRow, ...]  # the architectures, from the oldest to the newest
    # Those of the library that are no rows, in the order of their names
    missing: tuple[Missing, ...]
    command: str  # what checks them again
    date: str  # when they were checked
    processor: str  # where
    versions: Mapping[str, str]  # of Python and of the packages
    seed: int  # of the random weights and texts
    length: int  # tokens of a text
    batch_size: int  # texts
    code: Mapping[str, Any]  # commit and hashes of the code that checked

    def row(self, model_type: str) -> AtlasRow:
        """Return an architecture.

        Raises:
            KeyError: there is none of this name.

        >>> load_atlas().row("qwen3").name
        'Qwen3'
        """
        for row in self.rows:
            if row.model_type == model_type:
                return row
        raise KeyError(f"model_type: got {model_type!r}, wanted a row of the atlas")

    def address(self, row: AtlasRow) -> str:
        """Return where the reference file of an architecture can be read."""
        return f"{_LIBRARY}v{self.versions['transformers']}/src/{row.path}"


@cache
def load_atlas() -> Atlas:
    """Read the record of the atlas.

    >>> atlas = load_atlas()
    >>> atlas.row("gpt_oss").spec.layers[0].mixer.sinks
    True
    """
    text = (files("experiments") / NAME / RECORD).read_text(encoding="utf-8")
    return read_atlas(json.loads(text))


def read_atlas(record: Mapping[str, Any]) -> Atlas:
    """Turn a record into an atlas.

    Raises:
        KeyError: a part is missing, or a specification has a part of a kind that there is not.
    """
    rows = [_row(model_type, one) for model_type, one in record["rows"].items()]
    # A text model and a larger one share a name: the model_type tells them apart.
    for name in [name for name, count in Counter(row.name for row in rows).items() if count > 1]:
        rows = [
            replace(row, name=f"{name} ({row.model_type})") if row.name == name else row
            for row in rows
        ]
    absent = [Missing(model_type, **one) for model_type, one in record["missing"].items()]
    # Rows of one year stand as the library's names do, without regard to capitals.
    rows.sort(key=lambda row: (row.published.year, row.name.lower(), row.model_type))
    absent.sort(key=lambda one: (one.name.lower(), one.model_type))
    kept = {
        part.name: record[part.name]
        for part in fields(Atlas)
        if part.name not in ("rows", "missing")
    }
    return Atlas(tuple(rows), tuple(absent), **kept)


def _row(model_type: str, entry: Mapping[str, Any]) -> AtlasRow:
    known = {part.name for part in fields(Parity)} - {"more"}
    gave = entry["outcome"]
    more = {key: value for key, value in gave.items() if key not in known}
    parity = Parity(**{key: gave[key] for key in known}, more=MappingProxyType(more))
    rest = {key: value for key, value in entry.items() if key not in ("spec", "outcome")}
    return AtlasRow(
        model_type,
        spec=from_fields(entry["spec"]),
        published=published()[model_type],
        parity=parity,
        **rest,
    )
