"""Tensors are read one by one, and let go."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from companion.models.transformer import LanguageModel, load, save
from companion.models.transformer.stored import Stored
from tests.transformers import config_of, randomised


def test_files_are_one_mapping_and_the_later_goes_first(tmp_path: Path) -> None:
    files = [tmp_path / "1.safetensors", tmp_path / "2.safetensors"]
    save_file({"a": torch.ones(2, 3), "b": torch.zeros(5, dtype=torch.int8)}, files[0])
    save_file({"a": torch.ones(7, dtype=torch.bfloat16), "x.old": torch.arange(3.0)}, files[1])
    stored = Stored(files, lambda name: name.replace("old", "new"))
    assert list(stored) == ["a", "b", "x.new"]
    assert len(stored) == 3
    assert stored.shapes == {"a": (7,), "b": (5,), "x.new": (3,)}
    assert stored.dtypes == {"a": "BF16", "b": "I8", "x.new": "F32"}
    assert torch.equal(stored["a"], torch.ones(7, dtype=torch.bfloat16))
    assert torch.equal(stored["x.new"], torch.arange(3.0))
    assert stored.get("x.old") is None


def test_asking_for_a_name_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_file({"a": torch.ones(2)}, tmp_path / "model.safetensors")
    stored = Stored([tmp_path / "model.safetensors"])
    monkeypatch.setattr(Stored, "__getitem__", lambda *_: pytest.fail("read"))
    assert "a" in stored
    assert "b" not in stored
    assert stored.keys() == {"a"}


@pytest.mark.parametrize("dtype", [None, torch.float32])
def test_loading_holds_one_tensor_beside_the_model(
    dtype: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = randomised(LanguageModel(config_of("llama")))
    save(model, tmp_path)
    read: list[weakref.ref[torch.Tensor]] = []
    plain = Stored.__getitem__

    def reading(stored: Stored, name: str) -> torch.Tensor:
        assert all(before() is None for before in read)
        tensor = plain(stored, name)
        read.append(weakref.ref(tensor))
        return tensor

    monkeypatch.setattr(Stored, "__getitem__", reading)
    back = load(tmp_path, dtype=dtype)
    assert len(read) == len(list(model.parameters()))
    assert all(before() is None for before in read)  # nothing in the model is a view of the file
    assert {p.dtype for p in back.parameters()} == {dtype or torch.float64}


def test_what_is_written_over_the_file_changes_no_model(tmp_path: Path) -> None:
    model = randomised(LanguageModel(config_of("llama")))
    save(model, tmp_path)
    back = load(tmp_path)
    path = tmp_path / "model.safetensors"
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
    for name, weight in back.named_parameters():
        assert torch.equal(weight, model.get_parameter(name))
