"""Folders that Hugging Face's library writes are read into the models of the atlas."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

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
