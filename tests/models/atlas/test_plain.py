"""Specifications survive JSON, and one of a kind that there is not is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bookkit.atlas.rows import load_atlas
from companion.models.atlas.plain import from_fields, to_fields

SPECS = {row.model_type: row.spec for row in load_atlas().rows}


def test_a_specification_survives_json() -> None:
    read = {
        name: from_fields(json.loads(json.dumps(to_fields(spec)))) for name, spec in SPECS.items()
    }
    assert read == SPECS


def test_layers_that_are_equal_are_written_once() -> None:
    written = to_fields(SPECS["gpt_oss"])
    assert len(written["layers"]) == 2
    assert written["pattern"] == [0, 1] * (len(SPECS["gpt_oss"].layers) // 2)


def test_what_is_default_is_left_out() -> None:
    mixer = to_fields(SPECS["llama"])["layers"][0]["mixer"]
    assert mixer.keys() == {"kind", "num_heads", "num_kv_heads", "head_dim", "rotary"}


def test_a_kind_that_there_is_not_is_refused() -> None:
    written: dict[str, Any] = to_fields(SPECS["llama"])
    written["layers"][0]["mixer"]["kind"] = "Path"
    with pytest.raises(KeyError, match="Path"):
        from_fields(written)
