"""Randomly initialised models of Hugging Face's library, written and read: logits agree."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from companion.models.pretrained import from_pretrained
from companion.models.transformer import LanguageModel, MaskedLanguageModel, TextEncoder

os.environ["HF_HUB_OFFLINE"] = "1"
transformers: Any = pytest.importorskip("transformers")

VOCAB, E = 29, 24
IDS = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [9, 10, 11, 4, 4, 12, 13]])
LONG = torch.arange(40)[None] % VOCAB  # beyond the original length of what is rescaled
CLASSES = {"bert": "BertForMaskedLM", "gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM"}
SIZES: dict[str, dict[str, Any]] = {
    "bert": {
        "vocab_size": VOCAB, "hidden_size": E, "num_attention_heads": 3, "num_hidden_layers": 2,
        "intermediate_size": 31, "max_position_embeddings": 23,
    },
    "gpt2": {
        "vocab_size": VOCAB, "n_embd": E, "n_head": 3, "n_layer": 2, "n_positions": 23,
        "n_inner": 31, "bos_token_id": 1, "eos_token_id": 2,
    },
    "llama": {
        "vocab_size": VOCAB, "hidden_size": E, "num_attention_heads": 6, "num_key_value_heads": 3,
        "num_hidden_layers": 2, "intermediate_size": 31, "max_position_embeddings": 64,
    },
}  # fmt: skip
LLAMA3: dict[str, Any] = {
    "rope_type": "llama3", "rope_theta": 97.0, "factor": 8.0, "low_freq_factor": 1.0,
    "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
}  # fmt: skip
YARN: dict[str, Any] = {
    "rope_type": "yarn", "rope_theta": 97.0, "factor": 4.0, "original_max_position_embeddings": 16
}  # fmt: skip


def theirs(kind: str, model: str = "", **changes: Any) -> Any:
    """A model of the library with every weight drawn."""
    named = getattr(transformers, model or CLASSES[kind])
    made = named(named.config_class(**{**SIZES[kind], **changes})).eval()
    torch.manual_seed(1)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return made


def rewritten(folder: Path, **changes: Any) -> None:
    """Change fields of a config.json; those that are ... go."""
    path = folder / "config.json"
    described = {**json.loads(path.read_text(encoding="utf8")), **changes}
    left = {name: value for name, value in described.items() if value is not ...}
    path.write_text(json.dumps(left), encoding="utf8")


def assert_agrees(actual: torch.Tensor, expected: torch.Tensor) -> None:
    assert expected.std() > 0.1  # a model that says nothing would agree with everything
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


def test_bert(tmp_path: Path) -> None:
    for act in ("gelu", "gelu_new"):
        model = theirs("bert", hidden_act=act)
        model.save_pretrained(tmp_path)
        ours = from_pretrained(tmp_path)
        assert isinstance(ours, MaskedLanguageModel)
        types = torch.tensor([[0, 0, 0, 1, 1, 1, 1]] * 2)
        lengths = torch.tensor([7, 4])
        mask = torch.arange(7) < lengths[:, None]
        with torch.no_grad():
            expected = model(IDS, attention_mask=mask.long(), token_type_ids=types).logits
            actual = ours(IDS, lengths, types=types)
        assert_agrees(actual[mask], expected[mask])


def test_bert_without_its_head(tmp_path: Path) -> None:
    model = theirs("bert", "BertModel")
    model.save_pretrained(tmp_path)
    ours = from_pretrained(tmp_path)
    assert isinstance(ours, TextEncoder)
    with torch.no_grad():
        expected = model(IDS).last_hidden_state
        assert_agrees(ours(IDS).hidden, expected)
    classifier = theirs("bert", "BertForSequenceClassification")
    classifier.save_pretrained(tmp_path)
    assert isinstance(from_pretrained(tmp_path), TextEncoder)


def test_gpt2(tmp_path: Path) -> None:
    for tied, head in [(True, True), (False, True), (True, False)]:
        whole = theirs("gpt2", tie_word_embeddings=tied)
        (whole if head else whole.transformer).save_pretrained(tmp_path)
        ours = from_pretrained(tmp_path)
        assert isinstance(ours, LanguageModel)
        with torch.no_grad():
            assert_agrees(ours(IDS), whole(IDS).logits)


def test_llama(tmp_path: Path) -> None:
    options: list[dict[str, Any]] = [
        {"rope_parameters": {"rope_type": "default", "rope_theta": 97.0}},
        {"rope_parameters": {"rope_type": "linear", "factor": 3.0}, "tie_word_embeddings": True},
        {"rope_parameters": LLAMA3, "eos_token_id": [2, 5, 7]},  # which is left to the decoders
        {"rope_parameters": YARN, "eos_token_id": None},
        {"attention_bias": True, "mlp_bias": True, "head_dim": 10},
    ]
    for changes in options:
        model = theirs("llama", **changes)
        model.save_pretrained(tmp_path)
        ours = from_pretrained(tmp_path)
        assert isinstance(ours, LanguageModel)
        with torch.no_grad():
            assert_agrees(ours(LONG), model(LONG).logits)


def test_rotary_fields_of_other_files(tmp_path: Path) -> None:
    scaling = {name: value for name, value in LLAMA3.items() if name != "rope_theta"}
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        # Older files have two fields.
        (LLAMA3, {"rope_parameters": ..., "rope_theta": 97.0, "rope_scaling": scaling}),
        # Of old and new ones the old ones count.
        (LLAMA3, {"rope_theta": 53.0, "rope_scaling": {"rope_type": "linear", "factor": 2.0}}),
        # An original length beside them counts.
        (LLAMA3, {"original_max_position_embeddings": 32}),
        (YARN, {"original_max_position_embeddings": 32}),
        # What is null is the default.
        (YARN, {"rope_parameters": {**YARN, "attention_factor": None, "mscale": None}}),
    ]
    for rope, changes in cases:
        theirs("llama", rope_parameters=rope).save_pretrained(tmp_path)
        rewritten(tmp_path, **changes)
        again = transformers.LlamaForCausalLM.from_pretrained(tmp_path).eval()
        ours: Any = from_pretrained(tmp_path)
        with torch.no_grad():
            assert_agrees(ours(LONG), again(LONG).logits)


def test_shards_are_joined_and_half_precision_is_widened(tmp_path: Path) -> None:
    model = theirs("llama").to(torch.bfloat16)
    model.save_pretrained(tmp_path, max_shard_size="9KB")
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    ours: Any = from_pretrained(tmp_path)
    assert {p.dtype for p in ours.parameters()} == {torch.float32}
    with torch.no_grad():
        assert_agrees(ours(IDS), model.float()(IDS).logits)
    half = from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert {p.dtype for p in half.parameters()} == {torch.bfloat16}

    index = tmp_path / "model.safetensors.index.json"
    listed = json.loads(index.read_text(encoding="utf8"))
    shard = next(tmp_path.glob("*.safetensors")).name
    wrong: list[tuple[str, type[Exception], str]] = [
        ("none.safetensors", FileNotFoundError, f"got no file {tmp_path / 'none.safetensors'}"),
        (shard, ValueError, r"lacks model\.extra, which its index lists"),
        (f"../{shard}", ValueError, "wanted files of the folder"),
    ]
    for file, error, message in wrong:
        listed["weight_map"]["model.extra"] = file
        index.write_text(json.dumps(listed), encoding="utf8")
        with pytest.raises(error, match=message):
            from_pretrained(tmp_path)


def test_wrong_tensors_are_listed_by_their_names(tmp_path: Path) -> None:
    cases: list[Any] = [
        ("bert", "bert.encoder.layer.1.attention.self.key.bias", (31, 24)),
        ("gpt2", "transformer.h.1.attn.c_attn.weight", (24, 31)),
        ("llama", "model.layers.0.self_attn.k_proj.weight", (31, 24)),
    ]
    for kind, lost, shape in cases:
        theirs(kind).save_pretrained(tmp_path)
        path = tmp_path / "model.safetensors"
        tensors = load_file(path)
        wide = next(key for key in tensors if tuple(tensors[key].shape) == shape)
        tensors[wide] = torch.ones(7, 5)
        tensors["adapter.weight"] = torch.ones(3)
        del tensors[lost]
        save_file(tensors, path)
        with pytest.raises(ValueError, match="tensors: ") as caught:
            from_pretrained(tmp_path)
        message = str(caught.value)
        assert f"lacks {lost};" in message
        assert "has besides adapter.weight;" in message
        assert message.endswith(f"has other shapes: {wide} (7, 5) instead of {shape}")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("llama", {"model_type": "mamba"}, "model_type 'mamba', wanted one of"),
    ("llama", {"model_type": None}, "model_type None, wanted one of .*bert"),
    ("llama", {"model_type": ["llama"]}, r"has model_type \['llama'\]"),
    ("llama", {"hidden_act": "tanh"}, "hidden_act: .* has 'tanh'"),
    ("llama", {"hidden_act": ["silu"]}, r"hidden_act: .* has \[.silu.\]"),
    ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}},
        "rope_parameters of .* wanted rope_type default, linear"),
    ("llama", {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}},
        "wanted whole heads rotated"),
    ("llama", {"rope_parameters": {"rope_type": "linear"}},
        "rope_parameters of .*config.json has no factor"),
    ("llama", {"rope_parameters": {"rope_type": "llama3", "factor": 2.0}},
        "rope_parameters of .*config.json has no low_freq_factor"),
    ("llama", {"rope_parameters": ["linear"]},
        r'rope_parameters: .* has \["linear"\], wanted an object'),
    ("llama", {"rope_parameters": {**YARN, "attention_factor": 1.5}},
        "without a factor on attention of its own"),
    ("llama", {"rope_parameters": {**YARN, "truncate": "false"}}, "wanted true or false"),
    ("llama", {"tie_word_embeddings": "false"}, "wanted true or false"),
    ("gpt2", {"tie_word_embeddings": None}, "wanted true or false"),
    ("gpt2", {"quantization_config": {"quant_method": "gptq"}},
        "has a quantization_config, wanted plain weights"),
    ("gpt2", {"scale_attn_weights": False}, "scale_attn_weights: .* False"),
    ("gpt2", {"add_cross_attention": True}, "add_cross_attention: .* True"),
    ("bert", {"is_decoder": 0}, "wanted true or false"),
    ("bert", {"is_decoder": True}, "is_decoder: .* True, wanted False"),
    ("bert", {"hidden_size": 25}, "num_heads: got 3, wanted a divisor"),
]  # fmt: skip


def test_other_models_are_refused(tmp_path: Path) -> None:
    for kind in CLASSES:
        theirs(kind).save_pretrained(tmp_path)
        written = (tmp_path / "config.json").read_text(encoding="utf8")
        for changes, message in (case[1:] for case in REFUSED if case[0] == kind):
            rewritten(tmp_path, **changes)
            with pytest.raises((TypeError, ValueError), match=message):
                from_pretrained(tmp_path)
            (tmp_path / "config.json").write_text(written, encoding="utf8")
        (tmp_path / "config.json").write_text(json.dumps({"model_type": kind}), encoding="utf8")
        with pytest.raises(ValueError, match=r"config.json has no"):
            from_pretrained(tmp_path)


def test_only_local_folders_are_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="only local folders are read"):
        from_pretrained("bert-base-uncased")
    with pytest.raises(FileNotFoundError, match=r"got no file .*config.json"):
        from_pretrained(tmp_path)


def test_the_oldest_files_of_bert(tmp_path: Path) -> None:
    for tied in [False, True]:
        model = theirs("bert", tie_word_embeddings=tied)
        model.save_pretrained(tmp_path)
        old = {
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
                "LayerNorm.bias", "LayerNorm.beta"
            ): tensor
            for name, tensor in load_file(tmp_path / "model.safetensors").items()
        }
        save_file(old, tmp_path / "model.safetensors", metadata={"format": "pt"})
        torch.testing.assert_close(from_pretrained(tmp_path)(IDS), model(IDS).logits)


def test_a_head_that_is_stored_and_differs_is_not_tied(tmp_path: Path) -> None:
    for kind in ("gpt2", "llama"):
        theirs(kind, tie_word_embeddings=True).save_pretrained(tmp_path)
        tensors = load_file(tmp_path / "model.safetensors")
        tensors["lm_head.weight"] = torch.randn(VOCAB, E)
        save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
        again = getattr(transformers, CLASSES[kind]).from_pretrained(tmp_path)
        torch.testing.assert_close(from_pretrained(tmp_path)(IDS), again(IDS).logits)


def test_one_file_goes_before_the_shards_of_an_earlier_save(tmp_path: Path) -> None:
    theirs("llama").save_pretrained(tmp_path, max_shard_size="9KB")
    index = (tmp_path / "model.safetensors.index.json").read_text(encoding="utf-8")
    later = theirs("llama")
    later.save_pretrained(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    torch.testing.assert_close(from_pretrained(tmp_path)(IDS), later(IDS).logits)


def test_a_base_model_scores_words_only_with_its_embedding(tmp_path: Path) -> None:
    for kind, name in (("gpt2", "GPT2Model"), ("llama", "LlamaModel")):
        base = theirs(kind, name, tie_word_embeddings=True)
        base.save_pretrained(tmp_path)
        ours: Any = from_pretrained(tmp_path)
        with torch.no_grad():
            vectors = base.get_input_embeddings().weight
            assert_agrees(ours(IDS), base(IDS).last_hidden_state @ vectors.T)
        theirs(kind, name, tie_word_embeddings=False).save_pretrained(tmp_path)
        with pytest.raises(ValueError, match=r"lacks lm_head.weight, .*: this is a base model, or"):
            from_pretrained(tmp_path)


def test_quantized_and_pickled_weights_are_refused(tmp_path: Path) -> None:
    theirs("llama").save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    lost = "model.layers.0.mlp.up_proj.weight"
    tensors[lost] = tensors[lost].to(torch.int8)
    save_file(tensors, path)
    for dtype in (None, torch.float32):
        with pytest.raises(ValueError, match=f"has dtypes other than .*F64: {lost} I8"):
            from_pretrained(tmp_path, dtype=dtype)
    with pytest.raises(TypeError, match=r"dtype: got torch.int8, wanted a real floating dtype"):
        from_pretrained(tmp_path, dtype=torch.int8)
    path.rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"holds pytorch_model.bin, wanted model.safeten"):
        from_pretrained(tmp_path)
