"""Ids and lengths that do not fit are refused: broadcasting would quietly answer for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import (
    LanguageModel,
    MaskedLanguageModel,
    TextEncoder,
    Transformer,
)
from tests.batches import padded
from tests.transformers import config_of, randomised

IDS = padded([[4, 5, 6, 7, 8], [9, 10], [11]], 5)
LENGTHS = torch.tensor([5, 2, 1])
Call = Callable[[Any, Any], Any]


def calls() -> dict[str, tuple[str, Call]]:
    """Everything that takes ids and lengths, and what it calls the ids."""
    recurrent = Seq2Seq(Seq2SeqConfig(19, 19, embed_dim=5, hidden_dim=6)).eval()
    transformer = randomised(Transformer(config_of("paper")))
    language = randomised(LanguageModel(config_of("llama")))
    masked = randomised(MaskedLanguageModel(config_of("bert")))
    text = randomised(TextEncoder(config_of("bert")))
    return {
        "Seq2Seq.encode": ("source", recurrent.encode),
        "Seq2Seq.start": ("source", recurrent.start),
        "Transformer.encode": ("source", transformer.encode),
        "Transformer.start": ("source", transformer.start),
        "LanguageModel.start": ("prompt", language.start),
        "LanguageModel.loss": ("tokens", language.loss),
        "TextEncoder": ("tokens", text),
        "MaskedLanguageModel": ("tokens", masked),
    }


CALLS = calls()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("shape", [(1,), (2,), (3, 1), (1, 3), ()])
def test_lengths_are_one_a_sequence(name: str, shape: tuple[int, ...]) -> None:
    _, call = CALLS[name]
    with pytest.raises(ValueError, match=r"lengths: got shape .*, wanted \(3,\), one a sequence"):
        call(IDS, torch.ones(shape, dtype=torch.int64))


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("lengths", [LENGTHS.float(), LENGTHS.bool(), [5, 2, 1]])
def test_lengths_are_a_tensor_of_integers(name: str, lengths: Any) -> None:
    _, call = CALLS[name]
    with pytest.raises(TypeError, match=r"lengths: got .*, wanted .*integers"):
        call(IDS, lengths)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_any_integers_will_do(name: str, dtype: torch.dtype) -> None:
    _, call = CALLS[name]
    expected, actual = call(IDS, LENGTHS), call(IDS, LENGTHS.to(dtype))
    assert_same(expected, actual)


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, Tensor):
        torch.testing.assert_close(one, other)
    elif isinstance(one, tuple):
        for first, second in zip(one, other, strict=True):
            assert_same(first, second)


@pytest.mark.parametrize("name", CALLS)
def test_ids_are_a_batch_of_integers(name: str) -> None:
    ids, call = CALLS[name]
    with pytest.raises(ValueError, match=rf"{ids}: got shape \(5,\), wanted \(b, "):
        call(IDS[0], LENGTHS)
    with pytest.raises(TypeError, match=rf"{ids}: got dtype torch.float32, wanted integers"):
        call(IDS.float(), LENGTHS)
    with pytest.raises(TypeError, match=rf"{ids}: got list, wanted a tensor"):
        call(IDS.tolist(), LENGTHS)


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("start")])
@pytest.mark.parametrize("argument", ["max_len", "beam_size"])
def test_sizes_of_a_start_are_whole(name: str, argument: str) -> None:
    call: Any = CALLS[name][1]
    with pytest.raises(TypeError, match=f"{argument}: got float, wanted a whole number"):
        call(IDS, LENGTHS, **{argument: 3.5})
    with pytest.raises(ValueError, match=f"{argument}: got 0, wanted at least 1"):
        call(IDS, LENGTHS, **{argument: 0})


def test_a_loss_over_no_token_is_refused() -> None:
    language: Any = randomised(LanguageModel(config_of("llama")))
    with pytest.raises(ValueError, match=r"tokens: got shape \(3, 1\), wanted .* at least 2"):
        language.loss(IDS[:, :1])
    with pytest.raises(ValueError, match="lengths: got none above 1"):
        language.loss(IDS, torch.ones_like(LENGTHS))
    assert language.loss(IDS[:, :2], torch.tensor([2, 1, 1])).isfinite()
    torch.testing.assert_close(language.loss(IDS.int()), language.loss(IDS))


def test_a_loss_at_places_that_do_not_fit_is_refused() -> None:
    masked: Any = randomised(MaskedLanguageModel(config_of("bert")))
    chosen = torch.zeros_like(IDS, dtype=torch.bool)
    with pytest.raises(ValueError, match="chosen: got no place"):
        masked.loss(IDS, IDS, chosen)
    with pytest.raises(TypeError, match=r"chosen: got dtype torch.int64, wanted bool"):
        masked.loss(IDS, IDS, IDS)
    with pytest.raises(ValueError, match=r"chosen: got shape \(3,\), wanted \(3, 5\)"):
        masked.loss(IDS, IDS, chosen[:, 0])
    with pytest.raises(ValueError, match=r"targets: got shape \(3, 4\), wanted \(3, 5\)"):
        masked.loss(IDS, IDS[:, :4], ~chosen)
