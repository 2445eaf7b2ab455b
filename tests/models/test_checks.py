"""Ids and lengths that do not fit are refused: broadcasting would quietly answer for others."""

import itertools
from typing import Any

import pytest
import torch

from companion.models import transformer
from companion.models.pointer import PointerGenerator
from companion.models.seq2seq import Seq2Seq, Seq2SeqConfig
from tests.batches import make_batch, padded
from tests.transformers import config_of, randomised

IDS = padded([[4, 5, 6, 7, 8], [9, 10], [11]], 5)
LENGTHS = torch.tensor([5, 2, 1])
SEQ2SEQ: Any = Seq2Seq(Seq2SeqConfig(19, 19, embed_dim=5, hidden_dim=6)).eval()
TRANSFORMER = randomised(transformer.Transformer(config_of("paper")))
LANGUAGE = randomised(transformer.LanguageModel(config_of("llama")))
MASKED = randomised(transformer.MaskedLanguageModel(config_of("bert")))


def test_lengths_and_segments_of_one_sequence_do_not_serve_all() -> None:
    text = randomised(transformer.TextEncoder(config_of("bert")))
    for call in (
        SEQ2SEQ.encode, SEQ2SEQ.start, TRANSFORMER.encode, TRANSFORMER.start, LANGUAGE.start,
        LANGUAGE.loss, text, MASKED,
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"lengths: got .*, wanted 3 as in"):
            call(IDS, torch.ones(1, dtype=torch.int64))
    for call in (text, MASKED):
        for shape in ((1, 5), (3, 1)):
            with pytest.raises(ValueError, match=r"types: got .*shape .*, wanted (3|5) as"):
                call(IDS, LENGTHS, types=torch.zeros(shape, dtype=torch.int64))
    for model in (SEQ2SEQ, TRANSFORMER, LANGUAGE):
        with pytest.raises(ValueError, match=r": got .*shape \(3, 0\), wanted"):
            model.start(IDS[:, :0], LENGTHS)


def test_a_loss_over_no_token_is_refused() -> None:
    with pytest.raises(ValueError, match=r"tokens: got n = 1 in shape \(3, 1\), wanted at least 2"):
        LANGUAGE.loss(IDS[:, :1])
    with pytest.raises(ValueError, match="lengths: got none above 1"):
        LANGUAGE.loss(IDS, torch.ones_like(LENGTHS))
    assert LANGUAGE.loss(IDS[:, :2], torch.tensor([2, 1, 1])).isfinite()
    with pytest.raises(ValueError, match="chosen: got no position"):
        MASKED.loss(IDS, IDS, torch.zeros_like(IDS, dtype=torch.bool))


BATCH = make_batch([0, 1, 2])
POINTER: Any = PointerGenerator(
    Seq2SeqConfig(19, 19, embed_dim=5, hidden_dim=6, attention="general")
).eval()


@torch.no_grad()
def test_a_step_and_a_reordering_take_one_integer_a_sequence() -> None:
    for model in (SEQ2SEQ, POINTER, TRANSFORMER, LANGUAGE):
        state = model.start(BATCH.source, BATCH.source_lengths)
        with pytest.raises(ValueError, match=r"tokens: got .*, wanted (3 as|\(b,|\(3,)"):
            model.step(torch.tensor([0]), state)
        with pytest.raises(ValueError, match=r"indices: got .*, wanted (3 as|\(b,|\(3,)"):
            model.reorder(state, torch.arange(4))
        model.reorder(model.step(torch.arange(3), state).state, torch.arange(3))  # nothing is spent


@torch.no_grad()
def test_more_steps_than_start_was_told_of_are_refused() -> None:
    for model, cached in itertools.product((TRANSFORMER, LANGUAGE), (True, False)):
        state = model.start(BATCH.source, BATCH.source_lengths, max_len=2, use_cache=cached)
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
        ({"target_out": BATCH.target_out[:1]}, r"target_out: got .*shape \(1, "),
        ({part: getattr(BATCH, part)[:1] for part in ("target_in", "target_out", "target_mask")},
            "target_in: got .*1 .*, wanted 3.* source"),
    ]  # fmt: skip
    for model, (changes, message) in itertools.product((SEQ2SEQ, POINTER, TRANSFORMER), unfit):
        with pytest.raises(ValueError, match=message):
            model.loss(BATCH._replace(**changes))


def test_a_memory_that_was_not_projected_is_refused() -> None:
    memory = torch.ones(2, 4, 12, dtype=torch.float64)  # as many sentences as blocks
    with pytest.raises(TypeError, match=r"memories: got .*, wanted what `project_memory` gave"):
        TRANSFORMER.decoder(memory, memory)
