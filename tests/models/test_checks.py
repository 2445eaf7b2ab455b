"""Ids and lengths that do not fit are refused: broadcasting would quietly answer for others."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.models.pointer import PointerGenerator
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import (
    Decoder,
    Encoder,
    LanguageModel,
    MaskedLanguageModel,
    TextEncoder,
    Transformer,
    TransformerConfig,
)
from tests.batches import make_batch, padded
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


def test_lengths_are_an_integer_a_sequence() -> None:
    for name in CALLS:
        _, call = CALLS[name]
        for shape in ((1,), (2,), (3, 1), (1, 3), ()):
            with pytest.raises(
                ValueError, match=r"lengths: got .*, wanted (3 as in|\(b,\)|\(3,\))"
            ):
                call(IDS, torch.ones(shape, dtype=torch.int64))
        wrong: Any
        for wrong in (LENGTHS.float(), LENGTHS.bool(), [5, 2, 1]):
            with pytest.raises(TypeError, match=r"lengths: got .*, wanted (a tensor|.*integer)"):
                call(IDS, wrong)
        assert_same(call(IDS, LENGTHS), call(IDS, LENGTHS.to(torch.int32)))


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, Tensor):
        torch.testing.assert_close(one, other)
    elif isinstance(one, tuple):
        for first, second in zip(one, other, strict=True):
            assert_same(first, second)


def test_ids_are_a_batch_of_integers() -> None:
    for name in CALLS:
        ids, call = CALLS[name]
        with pytest.raises(ValueError, match=rf"{ids}: got shape \(5,\), wanted \(b, "):
            call(IDS[0], LENGTHS)
        with pytest.raises(TypeError, match=rf"{ids}: got dtype torch.float32, wanted .*integers"):
            call(IDS.float(), LENGTHS)
        with pytest.raises(TypeError, match=rf"{ids}: got list, wanted a tensor"):
            call(IDS.tolist(), LENGTHS)


def test_sizes_of_a_start_are_whole_and_there_is_a_token() -> None:
    for name in [name for name in CALLS if name.endswith("start")]:
        ids, call = CALLS[name][0], CALLS[name][1]
        start: Any = call
        for argument in ("max_len", "beam_size"):
            with pytest.raises(TypeError, match=f"{argument}: got float, wanted a whole number"):
                start(IDS, LENGTHS, **{argument: 3.5})
            with pytest.raises(ValueError, match=f"{argument}: got 0, wanted at least 1"):
                start(IDS, LENGTHS, **{argument: 0})
        with pytest.raises(ValueError, match=rf"{ids}: got .*shape \(3, 0\), wanted"):
            call(IDS[:, :0], LENGTHS)


def test_a_loss_over_no_token_is_refused() -> None:
    language: Any = randomised(LanguageModel(config_of("llama")))
    with pytest.raises(ValueError, match=r"tokens: got n = 1 in shape \(3, 1\), wanted at least 2"):
        language.loss(IDS[:, :1])
    with pytest.raises(ValueError, match="lengths: got none above 1"):
        language.loss(IDS, torch.ones_like(LENGTHS))
    assert language.loss(IDS[:, :2], torch.tensor([2, 1, 1])).isfinite()
    torch.testing.assert_close(language.loss(IDS.int()), language.loss(IDS))


def test_a_loss_at_impossible_positions_is_refused() -> None:
    masked: Any = randomised(MaskedLanguageModel(config_of("bert")))
    chosen = torch.zeros_like(IDS, dtype=torch.bool)
    with pytest.raises(ValueError, match="chosen: got no position"):
        masked.loss(IDS, IDS, chosen)
    with pytest.raises(TypeError, match=r"chosen: got dtype torch.int64, wanted .*bool"):
        masked.loss(IDS, IDS, IDS)
    with pytest.raises(ValueError, match=r"chosen: got shape \(3,\), wanted \(b, n\)"):
        masked.loss(IDS, IDS, chosen[:, 0])
    with pytest.raises(ValueError, match=r"targets: got n = 4 in shape \(3, 4\), wanted 5"):
        masked.loss(IDS, IDS[:, :4], ~chosen)


BATCH = make_batch([0, 1, 2])
WRITERS: dict[str, Any] = {
    "Seq2Seq": Seq2Seq(Seq2SeqConfig(19, 19, embed_dim=5, hidden_dim=6)).eval(),
    "PointerGenerator": PointerGenerator(
        Seq2SeqConfig(19, 19, embed_dim=5, hidden_dim=6, attention="general")
    ).eval(),
    "Transformer": randomised(Transformer(config_of("paper"))),
    "LanguageModel": randomised(LanguageModel(config_of("llama"))),
}
STARTS = [(name, True) for name in WRITERS]
STARTS += [("Transformer", False), ("LanguageModel", False)]


def begun(name: str, cached: bool, **options: Any) -> tuple[Any, Any]:
    model = WRITERS[name]
    if name in ("Transformer", "LanguageModel"):
        options["use_cache"] = cached
    return model, model.start(BATCH.source, BATCH.source_lengths, **options)


@torch.no_grad()
def test_a_step_and_a_reordering_take_one_integer_a_sequence() -> None:
    for name, cached in STARTS:
        for argument in ("tokens", "indices"):
            model, state = begun(name, cached)

            def call(
                given: Any, argument: str = argument, model: Any = model, state: Any = state
            ) -> Any:
                return (
                    model.step(given, state)
                    if argument == "tokens"
                    else model.reorder(state, given)
                )

            for wrong in (torch.tensor([0]), torch.tensor([[0], [1], [2]]), torch.arange(4)):
                with pytest.raises(
                    ValueError, match=rf"{argument}: got .*, wanted (3 as|\(b,|\(3,)"
                ):
                    call(wrong)
            for no in (torch.ones(3), torch.ones(3, dtype=torch.bool), [0, 1, 2]):
                with pytest.raises(
                    TypeError, match=rf"{argument}: got .*, wanted (a tensor|.* integ)"
                ):
                    call(no)
            call(torch.arange(3))  # what is refused spends no state


@torch.no_grad()
def test_more_steps_than_start_was_told_of_are_refused() -> None:
    for cached in [True, False]:
        for name in ["Transformer", "LanguageModel"]:
            model, state = begun(name, cached, max_len=2)
            for _ in range(2):
                _, state, _ = model.step(torch.tensor([4, 5, 6]), state)
                state = model.reorder(state, torch.arange(3))
            with pytest.raises(ValueError, match=r": got .* after \d+, wanted at most \d+ in all"):
                model.step(torch.tensor([4, 5, 6]), state)


def test_use_cache_is_true_or_false() -> None:
    cases: list[Any] = ["Transformer", "LanguageModel"]
    for name in cases:
        with pytest.raises(TypeError, match="use_cache: got 'no', wanted True or False"):
            begun(name, "no")  # type: ignore[arg-type]


def test_smoothing_is_a_share() -> None:
    cases: list[Any] = ["Transformer", "LanguageModel"]
    for name in cases:
        given = IDS if name == "LanguageModel" else BATCH
        for smoothing in (-1, 1.5, math.nan, "a"):
            error = TypeError if smoothing == "a" else ValueError
            with pytest.raises(error, match=f"label_smoothing: got {smoothing!r}, wanted"):
                WRITERS[name].loss(given, label_smoothing=smoothing)


MASK = BATCH.target_mask


UNFIT: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"target_mask": ~MASK & MASK}, ValueError, "target_mask: got no token"),
    ({"target_mask": MASK[:, :1]}, ValueError, r"target_mask: got .*shape \(3, 1\), wanted"),
    ({"target_mask": MASK.long()}, TypeError, "target_mask: got .*torch.int64, wanted .*bool"),
    ({"target_out": BATCH.target_out[:1]}, ValueError, r"target_out: got .*shape \(1, "),
    ({"target_out": BATCH.target_out.float()}, TypeError, "target_out: got dtype torch.float"),
    ({"target_in": BATCH.target_in.float()}, TypeError, "target_in: got dtype torch.float"),
    (
        {part: getattr(BATCH, part)[:1] for part in ("target_in", "target_out", "target_mask")},
        ValueError,
        "target_in: got .*1 .*, wanted 3.* source",
    ),
    ({"source": BATCH.source[:, :0]}, ValueError, r"source: got .*shape \(3, 0\), wanted"),
]


def test_parts_of_a_batch_that_do_not_fit_are_refused() -> None:
    cases: list[Any] = ["Seq2Seq", "PointerGenerator", "Transformer"]
    for name in cases:
        for changes, error, message in UNFIT:
            with pytest.raises(error, match=message):
                WRITERS[name].loss(BATCH._replace(**changes))


def test_segments_are_integers_of_the_tokens_shape() -> None:
    cases: list[Any] = ["TextEncoder", "MaskedLanguageModel"]
    for name in cases:
        call: Any = CALLS[name][1]
        for shape in ((1, 5), (3, 1), (5,), (3, 4)):
            with pytest.raises(
                ValueError, match=r"types: got .*shape .*, wanted (3 as|5 as|\(b, n)"
            ):
                call(IDS, LENGTHS, types=torch.zeros(shape, dtype=torch.int64))
        for wrong in (torch.zeros(3, 5), torch.zeros(3, 5, dtype=torch.bool), [[0] * 5] * 3):
            with pytest.raises(TypeError, match=r"types: got .*, wanted (a tensor|.*integers)"):
                call(IDS, LENGTHS, types=wrong)


def test_a_stack_reads_vectors_of_its_width_and_dtype() -> None:
    cases: list[Any] = [Encoder, Decoder]
    for stack in cases:
        config = TransformerConfig(vocab_size=2, embed_dim=6, num_heads=3)
        model = stack(config)
        with pytest.raises(
            ValueError, match=r"x: got embed_dim = 5 in shape \(1, 4, 5\), wanted 6"
        ):
            model(torch.ones(1, 4, 5))
        with pytest.raises(ValueError, match=r"x: got shape \(4, 6\), wanted \(b, n, embed_dim\)"):
            model(torch.ones(4, 6))
        with pytest.raises(TypeError, match=r"x: got dtype torch.float64, wanted torch.float32"):
            model(torch.ones(1, 4, 6).double())
        with pytest.raises(TypeError, match="x: got list"):
            model([[[1.0] * 6]])


def test_a_memory_that_was_not_projected_is_refused() -> None:
    config = TransformerConfig(vocab_size=2, embed_dim=6, num_heads=3, num_layers=2)
    decoder: Any = Decoder(config, cross=True)
    memory = torch.ones(2, 4, 6)  # as many sentences as blocks
    for wrong in (memory, [memory, memory]):
        with pytest.raises(TypeError, match=r"memories: got .*, wanted what `project_memory` gave"):
            decoder(torch.ones(2, 5, 6), wrong)
