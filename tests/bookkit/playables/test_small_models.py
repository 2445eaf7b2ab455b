"""Translators in eight bits: what rounding does, and that Python reads what it wrote."""

from pathlib import Path
from typing import Any, Literal

import pytest
import torch

from bookkit.playables import weights
from companion.data.vocabulary import Vocabulary
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.translation import Translator

ENGLISH, SPANISH = Vocabulary(["the", "red", "house"]), Vocabulary(["la", "casa", "roja", "él"])


def made(attention: Literal["none", "additive"] = "additive") -> Translator:
    torch.manual_seed(5)
    config = Seq2SeqConfig(
        len(ENGLISH), len(SPANISH), embed_dim=5, hidden_dim=6, attention=attention
    )
    return Translator(Seq2Seq(config), ENGLISH, SPANISH)


def weights_of(translator: Translator) -> dict[str, torch.Tensor]:
    model: Any = translator.model
    return dict(model.state_dict())


def test_rounding_is_at_least_as_good_as_with_the_largest_entry_for_a_scale() -> None:
    matrix = torch.randn(11, 211, generator=torch.Generator().manual_seed(3))
    levels, scale = weights.quantize(matrix)
    assert levels.dtype == torch.int8
    assert torch.equal(levels.abs().amax(-1), torch.full((11,), 127, dtype=torch.int8))
    plain = matrix.abs().amax(-1, keepdim=True) / 127
    ours = (weights.restore(levels, scale) - matrix).square().sum(-1)
    theirs = ((matrix / plain).round() * plain - matrix).square().sum(-1)
    assert (ours <= theirs).all()
    assert (ours < 0.9 * theirs).any()
    cut = matrix.abs() > 127 * scale[:, None]
    error = (weights.restore(levels, scale) - matrix).abs()
    assert (error[~cut] <= (0.5001 * scale[:, None]).expand_as(error)[~cut]).all()


@pytest.mark.parametrize("attention", ["none", "additive"])
@pytest.mark.parametrize("bits", [8, 16, 32])
def test_a_translator_is_read_as_it_was_written(
    attention: Literal["none", "additive"], bits: Literal[8, 16, 32], tmp_path: Path
) -> None:
    translator, path = made(attention), tmp_path / "translator.safetensors"
    weights.save_translator(translator, path, bits=bits, about={"seed": 5})
    found = weights.load_translator(path)
    assert (found.source_vocab, found.target_vocab) == (ENGLISH, SPANISH)
    assert weights.read_about(path)["seed"] == 5
    for name, weight in weights_of(translator).items():
        stored = weights_of(found)[name]
        assert stored.dtype == torch.float32
        if bits == 32 or weight.ndim < 2:
            assert torch.equal(stored, weight)
        else:
            allowed = 5e-3 if bits == 8 else 5e-4
            assert (stored - weight).norm() < allowed * weight.norm()
            assert not torch.equal(stored, weight)
