"""Llamas of Hugging Face's library, written as llama.cpp's converter writes them: logits agree."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from gguf import (
    MODEL_ARCH,
    GGMLQuantizationType,
    GGUFValueType,
    GGUFWriter,
    dequantize,
    get_tensor_name_map,
    quantize,
)

from companion.models.gguf import from_gguf

transformers: Any = pytest.importorskip("transformers")

E, HEADS, GROUPS, HIDDEN, VOCAB = 96, 6, 3, 64, 29
IDS = torch.arange(40)[None] % VOCAB
FIELDS: dict[str, Any] = {
    "llama.block_count": 2, "llama.context_length": 64, "llama.embedding_length": E,
    "llama.feed_forward_length": HIDDEN, "llama.attention.head_count": HEADS,
    "llama.attention.head_count_kv": GROUPS, "llama.attention.layer_norm_rms_epsilon": 1e-6,
    "tokenizer.ggml.tokens": [str(n) for n in range(VOCAB)],
}  # fmt: skip
TYPES = {
    bool: GGUFValueType.BOOL, int: GGUFValueType.UINT32, float: GGUFValueType.FLOAT32,
    str: GGUFValueType.STRING,
}  # fmt: skip
BASE = {"llama.rope.freq_base": 97.0}
ORIGINAL = {"llama.rope.scaling.original_context_length": 16}
FREQUENCIES = "rope_freqs.weight"


def rope(kind: str, **changes: float) -> dict[str, Any]:
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 97.0, **changes}}


def llama3_divisors(factor: float = 8.0, width: int = E // HEADS) -> np.ndarray[Any, Any]:
    """What llama.cpp's converter stores for Llama 3.1, with an original length of 16."""
    divisors = []
    for i in range(width // 2):
        wavelength = 2 * math.pi * 97.0 ** (2 * i / width)
        smooth = min(max((16 / wavelength - 1) / (4 - 1), 0), 1)
        divisors.append(1 / ((1 - smooth) / factor + smooth))
    return np.array(divisors, dtype=np.float32)


def side_by_side(weight: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """Put the two numbers that turn together side by side, as llama.cpp's converter does."""
    halves = weight.reshape(heads, 2, -1, *weight.shape[1:])
    return halves.swapaxes(1, 2).reshape(weight.shape)


def written(
    path: Path,
    kind: str = "F32",
    fields: dict[str, Any] | None = None,
    change: Callable[[dict[str, Any]], object] = lambda tensors: None,
    **config: Any,
) -> Any:
    """Write a model of the library, and return it with the numbers that the file stands for."""
    config = rope("default") | {"num_key_value_heads": GROUPS} | config
    shape = transformers.LlamaConfig(
        vocab_size=VOCAB, hidden_size=E, num_attention_heads=HEADS, num_hidden_layers=2,
        intermediate_size=HIDDEN, max_position_embeddings=64, **config,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(shape).eval()
    quantised, tensors = GGMLQuantizationType[kind], dict[str, Any]()
    names = get_tensor_name_map(MODEL_ARCH.LLAMA, 2)
    generator = torch.Generator().manual_seed(1)
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, std=0.2, generator=generator)
        numbers = weight.detach().numpy()
        if numbers.ndim == 2 and "norm" not in name:
            stored = quantize(numbers, quantised)
            weight.data = torch.from_numpy(dequantize(stored, quantised).copy())
            numbers = weight.detach().numpy()
        for part, heads in (("q_proj", HEADS), ("k_proj", shape.num_key_value_heads)):
            numbers = side_by_side(numbers, heads) if part in name else numbers
        matrix = numbers.ndim == 2
        theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
        tensors[str(theirs)] = (quantize(numbers, quantised), quantised) if matrix else numbers
    change(tensors)
    writer = GGUFWriter(path, "llama")
    for name, value in {**FIELDS, **BASE, **(fields or {})}.items():
        if isinstance(value, list):
            writer.add_array(name, value)
        elif name == "general.architecture":
            writer.kv_data[0][name].value = value
        elif value is not ...:
            writer.add_key_value(name, value, TYPES[type(value)])
    for name, tensor in tensors.items():
        numbers, stored_as = tensor if isinstance(tensor, tuple) else (tensor, None)
        writer.add_tensor(name, numbers, raw_dtype=stored_as)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def with_divisors(factor: float) -> Callable[[dict[str, Any]], object]:
    return lambda tensors: tensors.update({FREQUENCIES: llama3_divisors(factor)})


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "tied, half precision": {"kind": "F16", "tie_word_embeddings": True},
    "biases, a width of its own": {
        "attention_bias": True, "mlp_bias": True, "head_dim": 20,
        "fields": {"llama.attention.key_length": 20, "llama.attention.value_length": 20},
    },
    "no shared heads, brain floats, linear": {
        "kind": "BF16", "num_key_value_heads": HEADS, **rope("linear", factor=3.0),
        "fields": {
            "llama.attention.head_count_kv": ..., "llama.rope.scaling.type": "linear",
            "llama.rope.scaling.factor": 3.0,
        },
    },
    "eight bits, yarn": {
        "kind": "Q8_0", **rope("yarn", factor=4.0, original_max_position_embeddings=16),
        "fields": {
            **ORIGINAL, "llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 4.0
        },
    },
    "four bits, llama3": {
        "kind": "Q4_1", "fields": ORIGINAL, "change": with_divisors(8.0),
        **rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
               original_max_position_embeddings=16),
    },
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_logits_are_those_of_the_library(case: str, tmp_path: Path) -> None:
    theirs = written(tmp_path / "model.gguf", **CASES[case])
    ours = from_gguf(tmp_path / "model.gguf")
    with torch.no_grad():
        expected = theirs(IDS).logits
        assert expected.std() > 0.1
        torch.testing.assert_close(ours(IDS), expected, rtol=1e-4, atol=1e-4)
    half = from_gguf(tmp_path / "model.gguf", dtype=torch.bfloat16)
    for weight, rounded in zip(ours.parameters(), half.parameters(), strict=True):
        assert torch.equal(rounded, weight.bfloat16())


def integers(tensors: dict[str, Any]) -> None:
    shape = tensors["blk.1.attn_q.weight"][0].shape
    tensors["blk.1.attn_q.weight"] = np.ones(shape, dtype=np.int8)


REFUSED: dict[str, dict[str, Any]] = {
    "general.architecture: .* has 'qwen2', wanted 'llama'": {
        "fields": {"general.architecture": "qwen2"}
    },
    "llama.expert_count: .* has 8, wanted 0": {"fields": {"llama.expert_count": 8}},
    "llama.rope.dimension_count: .* has 8, wanted 16": {
        "fields": {"llama.rope.dimension_count": 8}
    },
    "has no field llama.block_count": {"fields": {"llama.block_count": ...}},
    "scaling.type: .* has 'longrope', wanted 'none' or 'linear' or 'yarn'": {
        "fields": {"llama.rope.scaling.type": "longrope"}
    },
    "rope_freqs.weight: .* wanted those of Llama3": {"change": with_divisors(8.0)},
    "lacks blk.1.ffn_up.weight": {"change": lambda tensors: tensors.pop("blk.1.ffn_up.weight")},
    "has besides blk.0.extra.weight": {
        "change": lambda tensors: tensors.update({"blk.0.extra.weight": np.ones(3, np.float32)})
    },
    r"other shapes: blk.0.attn_norm.weight \(3,\) instead of \(96,\)": {
        "change": lambda tensors: tensors.update({"blk.0.attn_norm.weight": np.ones(3, np.float32)})
    },
    "blk.1.attn_q.weight: .* has it as I8, wanted F32, F16, BF16": {"change": integers},
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_read_is_refused_by_name(message: str, tmp_path: Path) -> None:
    written(tmp_path / "model.gguf", **REFUSED[message])
    with pytest.raises(ValueError, match=message):
        from_gguf(tmp_path / "model.gguf")


def test_other_files_and_parts_of_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no file"):
        from_gguf(tmp_path / "none.gguf")
    written(tmp_path / "model.gguf")
    whole, part = (tmp_path / "model.gguf").read_bytes(), tmp_path / "part.gguf"
    lengths = [*range(1, 4000, 97), *range(4000, len(whole), len(whole) // 20), len(whole) - 1]
    for content in (b"", b"GGML" + whole[4:], *(whole[:length] for length in lengths)):
        part.write_bytes(content)
        with pytest.raises(ValueError, match="is no GGUF file, or not a whole one"):
            from_gguf(part)
