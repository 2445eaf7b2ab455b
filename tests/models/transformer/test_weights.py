"""Models in folders: what is saved comes back tensor by tensor, and what is wrong is named."""

import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from companion.models.transformer import (
    LanguageModel,
    MaskedLanguageModel,
    TextEncoder,
    Transformer,
    load,
    save,
)
from companion.models.transformer.stored import Stored
from companion.positions import Dynamic, Linear, Llama3, Yarn
from tests.batches import make_batch
from tests.transformers import config_of, randomised

IDS = torch.tensor([[4, 5, 6, 7], [8, 9, 10, 11]])
MODELS: tuple[Any, ...] = (Transformer, LanguageModel, MaskedLanguageModel, TextEncoder)


def output(model: Any) -> Any:
    output = model(make_batch([0, 1])) if isinstance(model, Transformer) else model(IDS)
    return output if isinstance(output, torch.Tensor) else output.hidden


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"  # an own model is written over
    for kind, variant in zip(MODELS, ("paper", "llama", "bert", "t5"), strict=True):
        model = randomised(kind(config_of(variant)))
        save(model, folder)
        back = load(folder)
        assert type(back) is kind
        assert back.config == model.config
        assert not back.training
        assert torch.equal(output(back), output(model))
        assert all(parameter.requires_grad for parameter in back.parameters())
        assert {path.name for path in folder.iterdir()} == {"config.json", "model.safetensors"}


def test_tied_weights_are_written_once_and_stay_tied(tmp_path: Path) -> None:
    model = randomised(Transformer(config_of("paper", tied="all")))
    save(model, tmp_path)
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        names = set(file.keys())
    assert names == {name for name, _ in model.named_parameters()}
    assert "source_embedding.words.weight" not in names
    back: Any = load(tmp_path)
    assert back.source_embedding.words.weight is back.target_embedding.words.weight


def test_a_rescaling_comes_back(tmp_path: Path) -> None:
    scalings = Linear(2.0), Dynamic(2.0, 64, 99), Yarn(4.0, 64, beta_slow=2.0), Llama3(8.0)
    for scaling in scalings:
        save(LanguageModel(config_of("llama", rotary_scaling=scaling)), tmp_path)
        assert load(tmp_path).config.rotary_scaling == scaling


def test_the_dtype_is_the_saved_or_the_wanted_one(tmp_path: Path) -> None:
    save(LanguageModel(config_of("llama")).to(torch.bfloat16), tmp_path)
    before = torch.get_rng_state()
    assert {p.dtype for p in load(tmp_path).parameters()} == {torch.bfloat16}
    assert {p.dtype for p in load(tmp_path, dtype=torch.float64).parameters()} == {torch.float64}
    assert torch.equal(torch.get_rng_state(), before), "loading draws no random numbers"


LANGUAGE = '"model": "LanguageModel", "config": {"vocab_size": 7'
ROTARY = f'{{{LANGUAGE}, "positions": "rotary", "rotary_scaling": '
WRONG = [
    ("{", "is no JSON"),
    ("[]", "holds a list, wanted a JSON object"),
    ('{"model_type": "llama"}', "has model None, wanted one of Transformer, LanguageModel"),
    ('{"model": "LanguageModel", "config": {}}', "has no vocab_size"),
    (f'{{{LANGUAGE}, "x": 1}}}}', "has unknown x"),
    ('{"model": "LanguageModel", "config": [7]}', r"has config \[7\], wanted a JSON object"),
    (ROTARY + "2}}", "has rotary_scaling 2, wanted an object whose"),
    (ROTARY + '{"kind": "Linear"}}}', "rotary_scaling of .*config.json has no factor"),
]


def test_what_is_no_folder_of_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"got no file .*config.json; only local folders"):
        load(tmp_path / "nowhere")
    for text, message in WRONG:
        (tmp_path / "config.json").write_text(text, encoding="utf8")
        with pytest.raises(ValueError, match=message):
            load(tmp_path)
    (tmp_path / "config.json").unlink()
    save(LanguageModel(config_of("llama")), tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="is no safetensors file"):
        load(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"got no file .*model.safetensors"):
        load(tmp_path)

    class Own(LanguageModel): ...

    with pytest.raises(TypeError, match="model: got Own, wanted one of Transformer"):
        save(Own(config_of("llama")), tmp_path)


def test_another_model_is_not_written_over(tmp_path: Path) -> None:
    for file in ["config.json", "model-00001-of-00002.safetensors", "pytorch_model.bin"]:
        folder = tmp_path / file.partition(".")[0]
        folder.mkdir()
        (folder / file).write_text('{"model_type": "llama"}', encoding="utf8")
        with pytest.raises(ValueError, match=f"folder: got {folder}, which holds {file} of an"):
            save(LanguageModel(config_of("llama")), folder)
        assert [path.name for path in folder.iterdir()] == [file]


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
