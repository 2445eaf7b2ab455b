"""Folders that Hugging Face's library writes are read into the models of the atlas."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForImageTextToText

from companion.decoding import beam
from companion.models.atlas import DecoderModel
from companion.models.pretrained import from_pretrained
from experiments.atlas.check import build, first_of_ties
from experiments.atlas.rows import ROWS, Row
from tests.tiers import often

OWN = [row for row in ROWS if row.name != "llama"]  # Llama is a `LanguageModel`
ROW = next(row for row in ROWS if row.name == "qwen3")
PROMPT = torch.tensor([[5, 9, 13, 4, 60, 31, 8, 22, 17], [11, 3, 44, 44, 7, 6, 52, 19, 30]])


@pytest.mark.parametrize("row", often(OWN, ROW.__eq__), ids=[row.name for row in OWN])
def test_a_folder_of_the_library_is_read(row: Row, tmp_path: Path) -> None:
    _, reference = build(row)
    reference.save_pretrained(tmp_path)
    model = from_pretrained(tmp_path)
    assert isinstance(model, DecoderModel)
    with torch.no_grad(), first_of_ties(row):
        logits, _ = model(PROMPT)
        torch.testing.assert_close(logits, reference(PROMPT).logits, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", ["gemma3 gemma3_text", "mistral3 mistral", "smolvlm llama"])
def test_of_a_model_that_also_sees_the_text_model_is_read(kind: str, tmp_path: Path) -> None:
    name, text = kind.split()
    fields = next(row.fields for row in ROWS if row.name == text) | {"model_type": text}
    sight = {"hidden_size": 48, "intermediate_size": 48, "image_size": 48, "num_hidden_layers": 1}
    parts = {"text_config": fields, "vision_config": sight}
    config = CONFIG_MAPPING[name](**parts, tie_word_embeddings=False)
    reference = AutoModelForImageTextToText.from_config(config).eval()
    reference.save_pretrained(tmp_path)
    with torch.no_grad():
        logits = from_pretrained(tmp_path)(PROMPT)[0]
        torch.testing.assert_close(logits, reference(PROMPT).logits, rtol=0, atol=1e-5)


def test_a_beam_of_a_model_with_windows_goes_on_from_the_rows_that_it_chose() -> None:
    model, _ = build(next(row for row in ROWS if row.name == "gpt_oss"))
    state = model.start(PROMPT, beam_size=3)
    found = beam(
        model.step, state, reorder=model.reorder, batch_size=2, bos_id=state.last, eos_id=66,
        max_len=5, beam_size=3,
    )  # fmt: skip
    for prompt, tokens, scores in zip(PROMPT, found.tokens, found.log_probs, strict=True):
        text = torch.cat((prompt, tokens))[None]
        with torch.no_grad():
            logits = model(text[:, :-1])[0][0, len(prompt) - 1 :].log_softmax(-1)
        expected = logits.gather(-1, tokens[:, None])[:, 0]
        torch.testing.assert_close(scores, expected, rtol=0, atol=1e-4)


def test_a_state_can_be_used_twice() -> None:
    model, _ = build(ROW)
    state = model.start(PROMPT)
    first, again = (model.step(state.last, state).logits for _ in range(2))
    assert torch.equal(first, again)


def test_missing_unknown_and_misshapen_weights_and_missing_fields_are_named(tmp_path: Path) -> None:
    _, reference = build(ROW)
    reference.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    del tensors["model.layers.1.self_attn.q_norm.weight"]
    tensors["model.layers.0.self_attn.extra"] = torch.ones(3)
    tensors["model.norm.weight"] = torch.ones(5)
    save_file(tensors, path)
    with pytest.raises(ValueError, match="tensors") as error:
        from_pretrained(tmp_path)
    for part in (
        "model.layers.1.self_attn.q_norm.weight is missing",
        "model.layers.0.self_attn.extra is unknown",
        "model.norm.weight is (5,), wanted (48,)",
    ):
        assert part in str(error.value)
    path = tmp_path / "config.json"
    fields = json.loads(path.read_text())
    del fields["num_hidden_layers"]
    path.write_text(json.dumps(fields))
    with pytest.raises(ValueError, match=r"num_hidden_layers: .*config.json has none, wanted"):
        from_pretrained(tmp_path)


OLDER: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("gemma3_text", {"layer_types": None, "rope_parameters": None},
        {"sliding_window_pattern": 2, "rope_local_base_freq": 777.0, "rope_theta": 1e5}),
    ("gemma2", {"layer_types": None}, {}),
    ("qwen2", {"layer_types": None, "sliding_window": None},
        {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 2}),
    ("deepseek_v3", {"rope_parameters": None}, {"rope_theta": 1e4, "rope_scaling": {
        "type": "yarn", "factor": 4.0, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32,
        "beta_slow": 1, "original_max_position_embeddings": 8}}),
    ("qwen3_next", {"layer_types": None}, {"full_attention_interval": 2}),
    ("gpt_neox", {"rope_parameters": None}, {"rotary_pct": 0.5, "rotary_emb_base": 500}),
    ("lfm2", {"layer_types": None}, {"full_attn_idxs": [1, 3]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "gone", "older"), OLDER, ids=[case[0] for case in OLDER])
def test_older_names_give_the_library_s_logits(
    name: str, gone: dict[str, Any], older: dict[str, Any], tmp_path: Path
) -> None:
    """Of three readings, the library's with the older file is the measure: of a long text."""
    _, reference = build(next(row for row in ROWS if row.name == name))
    reference.save_pretrained(tmp_path)
    path = tmp_path / "config.json"
    fields = {k: v for k, v in json.loads(path.read_text()).items() if k not in gone} | older
    path.write_text(json.dumps(fields))
    again = AutoModelForCausalLM.from_pretrained(tmp_path, attn_implementation="eager").eval()
    ids = torch.randint(3, 67, (1, 40), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        logits = from_pretrained(tmp_path)(ids)[0]
        torch.testing.assert_close(logits, again(ids).logits, rtol=0, atol=2e-4)


def test_a_stored_head_that_differs_counts_and_eight_bits_are_refused(tmp_path: Path) -> None:
    for name in ("qwen3", "gemma2", "mistral"):
        _, reference = build(next(row for row in ROWS if row.name == name))
        reference.config.tie_word_embeddings = True
        reference.save_pretrained(tmp_path)
        path = tmp_path / "model.safetensors"
        tensors = load_file(path)
        head = torch.randn(67, 48, generator=torch.Generator().manual_seed(1))
        save_file({**tensors, "lm_head.weight": head}, path, metadata={"format": "pt"})
        model = from_pretrained(tmp_path)
        assert torch.equal(model.output.weight, head)  # type: ignore[union-attr, arg-type]
        again = AutoModelForCausalLM.from_pretrained(tmp_path, attn_implementation="eager").eval()
        with torch.no_grad():
            logits = model(PROMPT)[0]
            torch.testing.assert_close(logits, again(PROMPT).logits, rtol=0, atol=1e-4)
        for dtype in (torch.float8_e4m3fn, torch.int8):
            few = {k: v.to(dtype) if "q_proj" in k else v for k, v in tensors.items()}
            save_file(few, path, metadata={"format": "pt"})
            with pytest.raises(ValueError, match=f"q_proj.weight is {dtype}, wanted 16 bits"):
                from_pretrained(tmp_path)
