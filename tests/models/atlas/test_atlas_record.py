"""The record of the atlas: whole, within its bounds, and what the library gives today."""

import json
from importlib.metadata import version

import pytest

from bookkit.atlas.kinds import mixers_of, pattern
from bookkit.atlas.rows import AtlasRow, load_atlas
from bookkit.atlas.words import marks
from companion.models.atlas import ModelSpec, read_config
from companion.models.atlas.plain import to_fields
from experiments.atlas import library
from experiments.atlas.check import toy_config
from experiments.atlas.record import RECORD, rounded, stored_spec
from experiments.atlas.rows import ROWS, Row
from tests.models.atlas.test_parity import EQUAL

ATLAS = load_atlas()
BY_NAME = {row.name: row for row in ROWS}


def test_every_row_is_in_the_record_and_no_other() -> None:
    assert {row.model_type for row in ATLAS.rows} == set(BY_NAME)
    assert len(ATLAS.rows) == len(ROWS) >= 30


def test_what_is_missing_is_named() -> None:
    known = set(library.causal_language_models())
    assert {one.model_type for one in ATLAS.missing} == known - set(BY_NAME)
    assert version("transformers") == ATLAS.versions["transformers"], "run make atlas"


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_specification_is_what_its_configuration_gives_today(row: Row) -> None:
    spec, toy_size = stored_spec(row)
    stored = ATLAS.row(row.name)
    assert (stored.spec, stored.toy_size) == (spec, toy_size)
    # What JSON has made a list of is a tuple again in the specification.
    record = json.loads(RECORD.read_text(encoding="utf8"))["rows"][row.name]
    assert record["spec"] == json.loads(json.dumps(to_fields(spec)))
    assert record["toy"] == json.loads(json.dumps(row.fields))
    # What is shown has been checked: every kind of mixer, and all that it has beside attention.
    toy = read_config(toy_config(row).to_dict(), path=row.name)
    assert marks(spec) <= marks(toy)
    assert mixers(spec) <= mixers(toy)
    assert stored.checked == pattern(toy)
    assert not (stored.published.model and toy_size)


def mixers(spec: ModelSpec) -> set[type]:
    return {type(mixer) for layer in spec.layers for mixer in mixers_of(layer)}


def test_all_outcomes_are_within_the_bounds() -> None:
    for gave in (row.parity for row in ATLAS.rows):
        assert gave.size >= 0.1
        assert max(gave.difference, gave.leak, gave.cached) <= EQUAL
        assert gave.held_bytes <= gave.bytes == gave.reference_bytes  # convolutions keep less


@pytest.mark.slow
@pytest.mark.parametrize("row", ATLAS.rows, ids=lambda row: row.model_type)
def test_a_row_names_the_file_that_it_was_checked_against(row: AtlasRow) -> None:
    file = library.modeling_file(row.model_type)
    assert library.path_of(file) == row.path
    assert library.sha256(file) == row.sha256
    assert library.name_of(row.model_type) == row.name.partition(" (")[0]


def test_numbers_are_rounded_to_one_digit() -> None:
    assert [rounded(x, up=True) for x in (4.65e-6, 5e-6, 0.0)] == [5e-6, 5e-6, 0.0]
    assert rounded(3.67, up=False) == 3.0
