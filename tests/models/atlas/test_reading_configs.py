"""Published files: counted as by hand, as the library reads them, and as the page does."""

import copy
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from book_site.play import run
from transformers import PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from bookkit.playables.calculator import published
from bookkit.playables.playable import FOLDER
from companion.models.atlas import DecoderModel, read_config
from companion.models.atlas.kept import Kept, bytes_kept
from companion.models.atlas.table import DEFAULTS, kept_of, page_table, read_fields
from experiments.atlas.check import toy_config
from experiments.atlas.defaults import library_defaults, text_class
from experiments.atlas.rows import ROWS, Row
from tests.models.atlas.damage import damaged
from tests.tiers import often

CASES = json.loads(Path(__file__).with_name("configs.json").read_text("utf-8"))
COUNTED = [case["config"] for case in CASES["counted"]]
TOKENS = 131_072
FIRST = ("gemma3_text", "gemma4_text", "llama4_text", "deepseek_v4", "kimi_linear", "nemotron_h")
SIZES = {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "model_type"}
REFUSED = {("nemotron_h", "layers_block_type")}  # the library takes four layers, whatever is said
every_row = pytest.mark.parametrize(
    "row", often(ROWS, lambda row: row.name in FIRST), ids=[row.name for row in ROWS]
)


def asked_of_the_page(files: list[Any]) -> list[Any]:
    """Read files as the page does: bytes of a text, or the words of a refusal."""
    clean = json.loads(json.dumps(files), parse_constant=lambda _: None)
    job = [("config-table", "readAll", {"table": page_table(), "files": clean})]
    return [one.get("fault") or total(one["layers"]) for one in run(FOLDER / "node.mjs", job)[0]]


def total(layers: list[dict[str, Any]]) -> int:
    """Count the bytes of what the page has read."""
    kept = [(one["count"], [Kept(**part) for part in one["keeps"]]) for one in layers]
    return sum(count * bytes_kept(parts, TOKENS) for count, parts in kept)


def read(file: Any) -> int | str:
    """Count the bytes that a file says, or return the words of a refusal."""
    try:
        layers = kept_of(read_fields(file))
    except (TypeError, ValueError) as error:
        return str(error)
    return bytes_kept((part for parts in layers for part in parts), TOKENS)


def test_files_are_counted_as_by_hand_in_python_and_on_the_page() -> None:
    wanted = [case["bytes"] for case in CASES["counted"]]
    assert list(map(read, COUNTED)) == wanted
    assert [read_config(file).state_bytes(TOKENS) for file in COUNTED] == wanted
    assert asked_of_the_page(COUNTED) == wanted


def test_what_cannot_be_is_refused_by_its_field() -> None:
    files = [case["config"] for case in CASES["refused"]]
    for answers in (map(read, files), asked_of_the_page(files)):
        for case, answer in zip(CASES["refused"], answers, strict=True):
            assert str(answer).startswith(f"{case['field']}: "), (case, answer)
            assert ", wanted " in answer


def test_damaged_files_give_a_number_or_name_a_field() -> None:
    files = list(damaged([*COUNTED, *published().values()], 300))
    ours, pages = [read(file) for file in files], asked_of_the_page(files)
    assert [x for x in ours if isinstance(x, str) and not x.partition(": ")[2]] == []
    fields = [[str(x).partition(":")[0] for x in answers] for answers in (ours, pages)]
    assert fields[0] == fields[1]


@every_row
def test_a_file_is_what_the_library_makes_of_it(row: Row) -> None:
    kind = CONFIG_MAPPING[row.name]
    for name, file in variants(row):
        given = {key: value for key, value in file.items() if key != "model_type"}
        try:
            made = kind(**copy.deepcopy(given)).to_dict()
            wanted = read_config(json.loads(json.dumps(made, default=str)), whole=True)
        except Exception:  # what the library itself does not read is no measure
            continue
        if (row.name, name) not in REFUSED:
            assert read_config(file, whole=True) == wanted, name


def variants(row: Row) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a file, and it without each field and with null in its place."""
    whole = {**row.fields, "model_type": row.name}
    fields = {field.name for field in dataclasses.fields(text_class(row.name))}
    fields -= {field.name for field in dataclasses.fields(PreTrainedConfig)}
    yield "", whole
    for name in sorted((fields | {*whole.get("text_config", whole)}) - SIZES):
        for value in (None, "absent"):
            file = copy.deepcopy(whole)
            inner = file.get("text_config", file)
            inner[name] = value
            if value:
                del inner[name]
            yield name, file


@every_row
def test_the_table_counts_what_the_layers_keep_and_so_does_the_page(row: Row) -> None:
    file = toy_config(row).to_dict()
    kept = [layer.keeps() for layer in read_config(file, whole=True).layers]
    plain = [[dataclasses.replace(part, read=0, read_limit=None) for part in one] for one in kept]
    found = [list(one) for one in kept_of(read_fields(file))]
    key = dataclasses.astuple
    assert [sorted(one, key=str) for one in found] == [sorted(one, key=str) for one in plain], key
    parts = [part for one in kept for part in one]
    assert asked_of_the_page([file]) == [bytes_kept(parts, TOKENS)]


def test_what_is_not_built_here_is_counted_and_says_why() -> None:
    file = {**published()["Llama 3.1 8B"], "hidden_act": "swigluoai", "vocab_size": 99}
    spec = read_config(file)
    assert spec.state_bytes(TOKENS) == 17_179_869_184
    for call in (lambda: DecoderModel(spec), lambda: read_config(file, whole=True)):
        with pytest.raises(ValueError, match=r"hidden_act: .* has 'swigluoai'"):
            call()


@pytest.mark.slow
def test_defaults_are_those_of_the_installed_library() -> None:
    assert json.loads(DEFAULTS.read_text("utf-8")) == library_defaults()
