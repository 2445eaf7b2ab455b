"""The calculator in Node and on the command line: published models as the package counts them."""

import json
from pathlib import Path
from typing import Any

import pytest

from bookkit.figures import calculator
from bookkit.playables.calculator import LENGTHS, MEMORIES, published
from companion.cost.__main__ import bytes_a_token, main
from companion.models.atlas import read_config
from companion.models.atlas.table import kept_of, read_fields
from tests.bookkit.playables.node import ask


def test_published_models_are_counted_as_the_package_counts_them() -> None:
    made = calculator(shown="Qwen3 8B")
    table, models = (json.loads(made.json())[name] for name in ("table", "models"))
    files = [{"title": one["title"], "file": one["file"]} for one in models]
    for at, (name, file) in enumerate(published().items()):
        shown = calculator(shown=name)
        settings = [(0, 0, 1), (8, 3, 0), (len(LENGTHS) - 1, 8, 2)]
        states: list[dict[str, Any]] = [
            {"length": a, "memory": b, "precision": c} for a, b, c in settings
        ]
        layers = kept_of(read_fields(file))
        for (a, b, c), m in zip(settings, ask(shown, *states), strict=True):
            size = (4, 2, 1)[c]
            kept = read_config(file).state_bytes(LENGTHS[a], itemsize=size)
            assert (m["kept"], m["texts"]) == (kept, MEMORIES[b] * 2**30 // kept), name
            assert m["token"] == pytest.approx(bytes_a_token(layers, size))
            assert sum(share["bytes"] for share in m["shares"]) == kept
            assert sum(sum(map(len, x["numbers"])) * x["one"] for x in m["layers"]) == kept
        assert files[at]["title"] == name
    assert table["families"].keys() >= {"qwen3", "gemma3_text"}


def test_a_fault_leaves_nothing_on_the_screen() -> None:
    (said,) = ask(calculator(shown="GPT-2"), {"read": None, "fault": "no"}, want="said")
    assert said == "Nothing is counted."


def test_the_command_says_what_the_page_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(published()["Gemma 3 27B"]))
    assert main([str(file), "--tokens", "131072", "--layers"]) == 0
    said = capsys.readouterr().out
    for part in ("11,173,199,872 bytes", "adds 81,920 bytes", "windows", "layers 1 to 5: sliding"):
        assert part in said
    file.write_text('{"model_type": "llama"}')
    assert main([str(file)]) == 1
    assert "num_hidden_layers: " in capsys.readouterr().err
