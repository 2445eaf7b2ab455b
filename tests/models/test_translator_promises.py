"""What all translators promise: padding and the future say nothing, and steps are one pass."""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest
import torch

from companion.models.pointer import PointerGenerator
from companion.models.seq2seq import Seq2SeqConfig
from companion.models.transformer import Transformer
from tests.batches import SOURCES, TARGETS, make_batch
from tests.models.test_seq2seq import make_model
from tests.tiers import often
from tests.transformers import VARIANTS, config_of, randomised


def transformer(variant: str, **changes: Any) -> Any:
    return randomised(Transformer(config_of(variant, **changes)))


def pointer(**changes: Any) -> Any:
    config = Seq2SeqConfig(19, 19, 5, 6, attention="general", **{"dropout_p": 0.0, **changes})
    return randomised(PointerGenerator(config, coverage=True))


RECURRENT = [
    *product(("none", "additive", "dot", "general", "concat", "local"), (None,), ("gru", "lstm")),
    ("additive", "present", "gru"),
    ("general", "previous", "lstm"),
    ("local", "previous", "gru"),
    *product(("fed", "apart"), (None,), ("gru", "lstm")),
]
MODELS: dict[str, Callable[..., Any]] = {
    **{f"{one[0]} {one[1]} {one[2]}": partial(make_model, *one) for one in RECURRENT},
    **{variant: partial(transformer, variant) for variant in VARIANTS},
    "pointer": pointer,
}
FIRST = {"none None lstm", "local previous gru", "fed None lstm", "paper", "llama", "t5", "pointer"}
each = pytest.mark.parametrize("name", often(MODELS, FIRST.__contains__))


@each
def test_padding_says_nothing(name: str) -> None:
    model, batch = MODELS[name](), make_batch([0, 1, 2], extra=3)
    together, weights = model(batch, need_weights=True)
    losses = []
    for row in range(3):
        one = make_batch([row])
        alone, own = model(one, need_weights=True)
        places, words = len(TARGETS[row]) + 1, len(SOURCES[row])
        torch.testing.assert_close(together[row, :places], alone[0])
        losses.append(model.loss(one) * places)
        assert (weights is None) == (own is None) == name.startswith("none")
        if weights is not None:
            torch.testing.assert_close(weights[row, :places, :words], own[0])
            assert weights[row, :, words:].abs().max() == 0
    torch.testing.assert_close(model.loss(batch), sum(losses) / sum(len(t) + 1 for t in TARGETS))


@each
def test_steps_of_a_beam_are_one_pass(name: str) -> None:
    model, batch = MODELS[name](), make_batch([0, 1, 2])
    logits, weights = model(batch, need_weights=True)
    q = batch.target_in.shape[1]
    for options in [{}, {"use_cache": False}] if name in VARIANTS else [{}]:
        state = model.start(batch.source, batch.source_lengths, max_len=q, beam_size=2, **options)
        for i in range(q):
            with torch.no_grad():
                found, state, seen = model.step(batch.target_in[:, i].repeat_interleave(2), state)
            torch.testing.assert_close(found, logits[:, i].repeat_interleave(2, 0))
            expected = None if weights is None else weights[:, i].repeat_interleave(2, 0)
            torch.testing.assert_close(seen, expected)


@each
def test_the_past_and_all_of_the_source_are_seen_and_the_future_is_not(name: str) -> None:
    model, batch = MODELS[name](), make_batch([0, 1, 2])
    before, changed = model(batch), batch.target_in.clone()
    changed[:, 3] = (changed[:, 3] + 1) % 19
    after = model(batch._replace(target_in=changed))
    torch.testing.assert_close(before[:, :3], after[:, :3])
    assert (before[:, 3] - after[:, 3]).abs().amax(-1).min() > 0
    batch = make_batch([0])
    for j in range(len(SOURCES[0])):
        changed = batch.source.clone()
        changed[:, j] += 1
        assert (model(batch._replace(source=changed)) - model(batch)).abs().amax(-1).min() > 0


@each
def test_gradients_reach_every_weight(name: str) -> None:
    model = MODELS[name]()
    model.loss(make_batch([0, 1, 2])).backward()
    for weight, parameter in model.named_parameters():
        assert parameter.grad is not None, weight
        if not weight.endswith("key_proj.bias"):  # a shift of all keys moves no softmax
            assert parameter.grad.abs().sum() > 0, weight


@each
def test_rows_of_a_beam_go_on_from_those_they_were_chosen_from(name: str) -> None:
    model, batch = MODELS[name](), make_batch([0, 1])
    first, chosen = torch.tensor([4, 5, 6, 7, 8, 9]), torch.tensor([2, 2, 0, 3, 5, 4])
    for options in [{}, {"use_cache": False}] if name in VARIANTS else [{}]:
        state = model.start(batch.source, batch.source_lengths, max_len=9, beam_size=3, **options)
        _, state, _ = model.step(first, state)
        logits, _, _ = model.step(torch.full((6,), 10), model.reorder(state, chosen))
        for row in range(6):
            alone = make_batch([row // 3])
            state = model.start(alone.source, alone.source_lengths, max_len=9)
            _, state, _ = model.step(first[chosen[row]][None], state)
            expected, _, _ = model.step(torch.tensor([10]), state)
            torch.testing.assert_close(logits[row], expected[0])


@pytest.mark.parametrize("name", ["dot None gru", "paper", "pointer"])
def test_dropout_works_in_training_alone(name: str) -> None:
    model, batch = MODELS[name](dropout_p=0.5), make_batch([0, 1])
    assert torch.equal(model(batch), model(batch))
    model.train()
    assert not torch.allclose(model(batch), model(batch))
