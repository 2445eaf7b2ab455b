"""Ids and lengths that do not fit are refused: broadcasting would quietly answer for others."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from companion.models.pointer import PointerGenerator
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from companion.models.transformer import (
    Decoder,
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


def test_ids_lengths_and_segments_are_a_batch() -> None:
    """What is of another kind, `test_wrong_calls` says."""
    for name, (ids, call) in CALLS.items():
        for shape in ((1,), (2,), (3, 1), (1, 3), ()):
            with pytest.raises(
                ValueError, match=r"lengths: got .*, wanted (3 as in|\(b,\)|\(3,\))"
            ):
                call(IDS, torch.ones(shape, dtype=torch.int64))
        with pytest.raises(ValueError, match=rf"{ids}: got shape \(5,\), wanted \(b, "):
            call(IDS[0], LENGTHS)
        if name.endswith("start"):
            with pytest.raises(ValueError, match=rf"{ids}: got .*shape \(3, 0\), wanted"):
                call(IDS[:, :0], LENGTHS)
    for name in ("TextEncoder", "MaskedLanguageModel"):
        typed: Any = CALLS[name][1]
        for shape in ((1, 5), (3, 1), (5,), (3, 4)):
            with pytest.raises(
                ValueError, match=r"types: got .*shape .*, wanted (3 as|5 as|\(b, n)"
            ):
                typed(IDS, LENGTHS, types=torch.zeros(shape, dtype=torch.int64))


def test_a_loss_over_no_token_is_refused() -> None:
    language: Any = randomised(LanguageModel(config_of("llama")))
    with pytest.raises(ValueError, match=r"tokens: got n = 1 in shape \(3, 1\), wanted at least 2"):
        language.loss(IDS[:, :1])
    with pytest.raises(ValueError, match="lengths: got none above 1"):
        language.loss(IDS, torch.ones_like(LENGTHS))
    assert language.loss(IDS[:, :2], torch.tensor([2, 1, 1])).isfinite()
    masked: Any = randomised(MaskedLanguageModel(config_of("bert")))
    chosen = torch.zeros_like(IDS, dtype=torch.bool)
    with pytest.raises(ValueError, match="chosen: got no position"):
        masked.loss(IDS, IDS, chosen)
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
        model, state = begun(name, cached)
        calls: dict[str, Any] = {
            "tokens": lambda ids, model=model, state=state: model.step(ids, state),
            "indices": lambda ids, model=model, state=state: model.reorder(state, ids),
        }
        for argument, call in calls.items():
            for wrong in (torch.tensor([0]), torch.tensor([[0], [1], [2]]), torch.arange(4)):
                with pytest.raises(
                    ValueError, match=rf"{argument}: got .*, wanted (3 as|\(b,|\(3,)"
                ):
                    call(wrong)
            for no in (torch.ones(3), torch.ones(3, dtype=torch.bool), [0, 1, 2]):
                with pytest.raises(
                    TypeError, match=f"{argument}: got .*, wanted (a tens|.* integ)"
                ):
                    call(no)
        model.reorder(model.step(torch.arange(3), state).state, torch.arange(3))  # nothing is spent


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


def test_parts_of_a_batch_that_do_not_fit_are_refused() -> None:
    mask = BATCH.target_mask
    unfit: list[tuple[dict[str, Any], str]] = [
        ({"target_mask": ~mask & mask}, "target_mask: got no token"),
        ({"target_mask": mask[:, :1]}, r"target_mask: got .*shape \(3, 1\), wanted"),
        ({"target_mask": mask.long()}, "target_mask: got .*torch.int64, wanted .*bool"),
        ({"target_out": BATCH.target_out[:1]}, r"target_out: got .*shape \(1, "),
        ({"target_in": BATCH.target_in.float()}, "target_in: got dtype torch.float"),
        ({part: getattr(BATCH, part)[:1] for part in ("target_in", "target_out", "target_mask")},
            "target_in: got .*1 .*, wanted 3.* source"),
        ({"source": BATCH.source[:, :0]}, r"source: got .*shape \(3, 0\), wanted"),
    ]  # fmt: skip
    for name in ("Seq2Seq", "PointerGenerator", "Transformer"):
        for changes, message in unfit:
            error = TypeError if "torch" in message else ValueError
            with pytest.raises(error, match=message):
                WRITERS[name].loss(BATCH._replace(**changes))


def test_a_memory_that_was_not_projected_is_refused() -> None:
    config = TransformerConfig(vocab_size=2, embed_dim=6, num_heads=3, num_layers=2)
    decoder: Any = Decoder(config, cross=True)
    memory = torch.ones(2, 4, 6)  # as many sentences as blocks
    for wrong in (memory, [memory, memory]):
        with pytest.raises(TypeError, match=r"memories: got .*, wanted what `project_memory` gave"):
            decoder(torch.ones(2, 5, 6), wrong)
