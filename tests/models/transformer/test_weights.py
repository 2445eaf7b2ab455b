"""Models in folders: what is saved comes back, and what is wrong is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from companion.models.transformer import (
    LanguageModel,
    MaskedLanguageModel,
    TextEncoder,
    Transformer,
    load,
    save,
)
from companion.positions import Dynamic, Linear, Llama3, Yarn
from tests.batches import make_batch
from tests.transformers import config_of, randomised

IDS = torch.tensor([[4, 5, 6, 7], [8, 9, 10, 11]])
MODELS: tuple[Any, ...] = (Transformer, LanguageModel, MaskedLanguageModel, TextEncoder)


def output(model: Any) -> Any:
    output = model(make_batch([0, 1])) if isinstance(model, Transformer) else model(IDS)
    return output if isinstance(output, torch.Tensor) else output.hidden


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    for kind, variant in list(zip(MODELS, ("paper", "llama", "bert", "t5"), strict=True)):
        model = randomised(kind(config_of(variant)))
        save(model, tmp_path / "new" / "folder")
        back = load(tmp_path / "new" / "folder")
        assert type(back) is kind
        assert back.config == model.config
        assert not back.training
        assert torch.equal(output(back), output(model))
        assert all(parameter.requires_grad for parameter in back.parameters())
        files = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
        assert files == ["config.json", "model.safetensors"]


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
    for scaling in [
        Linear(2.0),
        Dynamic(2.0, 64, 99),
        Yarn(4.0, 64, beta_slow=2.0),
        Llama3(8.0, 1.0, 3.0, 64),
    ]:
        save(LanguageModel(config_of("llama", rotary_scaling=scaling)), tmp_path)
        assert load(tmp_path).config.rotary_scaling == scaling


def test_the_dtype_is_the_saved_or_the_wanted_one(tmp_path: Path) -> None:
    save(LanguageModel(config_of("llama")).to(torch.bfloat16), tmp_path)
    assert {p.dtype for p in load(tmp_path).parameters()} == {torch.bfloat16}
    assert {p.dtype for p in load(tmp_path, dtype=torch.float64).parameters()} == {torch.float64}


def test_loading_draws_no_random_numbers(tmp_path: Path) -> None:
    save(LanguageModel(config_of("llama")), tmp_path)
    before = torch.get_rng_state()
    load(tmp_path)
    assert torch.equal(torch.get_rng_state(), before)


def test_wrong_tensors_are_all_listed(tmp_path: Path) -> None:
    save(LanguageModel(config_of("gpt2")), tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["decoder.norm.bias"], tensors["embedding.places.weight"]
    tensors["decoder.norm.weight"] = torch.ones(11)
    tensors["decoder.gate"] = torch.ones(3)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="tensors: ") as caught:
        load(tmp_path)
    message = str(caught.value)
    assert "lacks decoder.norm.bias, embedding.places.weight;" in message
    assert "has besides decoder.gate;" in message
    assert message.endswith("has other shapes: decoder.norm.weight (11,) instead of (12,)")


ROTARY = '"config": {"vocab_size": 7, "positions": "rotary", "rotary_scaling": '
WRONG = [
    ("{", "is no JSON"),
    ("[]", "holds a list, wanted a JSON object"),
    ('{"model_type": "llama"}', "has model None, wanted one of Transformer, LanguageModel"),
    ('{"model": ["x"]}', r"has model \['x'\], wanted one of Transformer"),
    ('{"model": "LanguageModel", "config": {}}', "has no vocab_size"),
    ('{"model": "LanguageModel", "config": {"vocab_size": 7, "x": 1}}', "has unknown x"),
    ('{"model": "LanguageModel", "config": {"vocab_size": 0}}', "vocab_size: got 0"),
    ('{"model": "LanguageModel", "config": [7]}', r"has config \[7\], wanted a JSON object"),
    (f'{{"model": "LanguageModel", {ROTARY} 2}}}}', "has rotary_scaling 2, wanted an object whose"),
    (f'{{"model": "LanguageModel", {ROTARY} {{}}}}}}', "has rotary_scaling {}"),
    (f'{{"model": "LanguageModel", {ROTARY} {{"kind": "Linear"}}}}}}',
        "rotary_scaling of .*config.json has no factor"),
    (f'{{"model": "LanguageModel", {ROTARY} {{"kind": "Linear", "factor": 2, "x": 1}}}}}}',
        "rotary_scaling of .*config.json has unknown x"),
]  # fmt: skip


def test_wrong_configurations_are_refused(tmp_path: Path) -> None:
    for text, message in WRONG:
        (tmp_path / "config.json").write_text(text, encoding="utf8")
        with pytest.raises(ValueError, match=message):
            load(tmp_path)


def test_tensors_that_are_no_plain_numbers_are_refused(tmp_path: Path) -> None:
    save(LanguageModel(config_of("gpt2")), tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["decoder.norm.weight"] = tensors["decoder.norm.weight"].to(torch.float8_e4m3fn)
    save_file(tensors, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"than BF16, F16, F32, F64: decoder.norm.weight F8_E4M3"):
        load(tmp_path)


def test_what_is_no_folder_of_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"got no file .*config.json; only local folders"):
        load(tmp_path / "nowhere")
    save(LanguageModel(config_of("llama")), tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match="is no safetensors file"):
        load(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"got no file .*model.safetensors"):
        load(tmp_path)
    with pytest.raises(TypeError, match="model: got Linear, wanted a Transformer or"):
        save(nn.Linear(2, 3), tmp_path)  # type: ignore[arg-type]

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


def test_an_own_model_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf8")
    save(LanguageModel(config_of("llama")), tmp_path)
    model = randomised(TextEncoder(config_of("bert")))
    save(model, tmp_path)
    assert torch.equal(output(load(tmp_path)), output(model))
