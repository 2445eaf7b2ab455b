"""A spent state is refused: its caches hold what came after it."""

from typing import Any

import pytest
import torch

from companion.decoding import greedy
from companion.models.transformer import LanguageModel, Transformer
from tests.batches import make_batch
from tests.transformers import config_of, randomised

FIRST, SECOND = torch.tensor([4, 9, 11]), torch.tensor([5, 6, 7])
SPENT = "state: got one that a step or a reordering has spent .its caches hold {} tokens by now"


def begun(kind: str, *, use_cache: bool = True) -> tuple[Any, Any]:
    """A model, and its state after what one step is to follow: two tokens in the caches."""
    if kind == "language":
        model: Any = randomised(LanguageModel(config_of("llama")))
        return model, model.start(make_batch([0, 1, 2]).source[:, :3], use_cache=use_cache)
    model = randomised(Transformer(config_of("llama")))
    batch = make_batch([0, 1, 2])
    state = model.start(batch.source, batch.source_lengths, use_cache=use_cache)
    for _ in range(2):
        _, state, _ = model.step(FIRST, state)
    return model, state


@torch.no_grad()
@pytest.mark.parametrize("kind", ["language", "translation"])
def test_a_spent_state_is_refused(kind: str) -> None:
    model, state = begun(kind)
    _, after, _ = model.step(FIRST, state)
    takes: list[Any] = [lambda: model.step(SECOND, state), lambda: model.reorder(state, FIRST % 3)]
    for take in takes:
        with pytest.raises(ValueError, match=SPENT.format(3)):
            take()
    turned = model.reorder(after, torch.tensor([1, 0, 2]))
    with pytest.raises(ValueError, match=SPENT.format(3)):  # as long, but of other rows
        model.step(SECOND, after)
    model.step(SECOND, turned)
    with pytest.raises(ValueError, match=SPENT.format(4)):
        model.step(SECOND, turned)
    model, state = begun(kind)
    state.caches[0].reset()
    with pytest.raises(ValueError, match=SPENT.format(0)):
        model.step(SECOND, state)


def test_a_decoder_that_is_given_a_spent_state_says_so() -> None:
    for kind in ("language", "translation"):
        model, state = begun(kind)
        options: dict[str, Any] = {"batch_size": 3, "bos_id": 1, "eos_id": 2, "max_len": 3}
        greedy(model.step, state, **options)
        with pytest.raises(
            ValueError, match="state: got one that a step or a reordering has spent"
        ):
            greedy(model.step, state, **options)


@torch.no_grad()
def test_a_state_without_caches_serves_again() -> None:
    for kind in ("language", "translation"):
        model, state = begun(kind, use_cache=False)
        logits = model.step(FIRST, state).logits
        model.step(SECOND, state)
        torch.testing.assert_close(model.step(FIRST, state).logits, logits)
