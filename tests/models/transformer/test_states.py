"""A spent state is refused: its caches hold what came after it."""

from typing import Any

import pytest
import torch

from companion.models.transformer import LanguageModel, Transformer
from tests.batches import make_batch
from tests.transformers import config_of, randomised

FIRST, SECOND = torch.tensor([4, 9, 11]), torch.tensor([5, 6, 7])
SPENT = "state: got one that a step or a reordering has spent .its caches hold {} tokens by now"


@torch.no_grad()
@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
def test_a_spent_state_is_refused_and_one_without_caches_serves_again(kind: Any) -> None:
    model, batch = randomised(kind(config_of("llama"))), make_batch([0, 1, 2])

    def begun(use_cache: bool = True) -> Any:
        """Two tokens in the caches of a language model, none in a translator's."""
        lengths = batch.source_lengths if kind is Transformer else None
        return model.start(batch.source[:, :3], lengths, use_cache=use_cache)

    def refuses(count: int, call: Any, *arguments: Any) -> None:
        count -= 2 * (kind is Transformer)
        with pytest.raises(ValueError, match=SPENT.format(count)):
            call(*arguments)

    state = begun()
    after = model.step(FIRST, state).state
    refuses(3, model.step, SECOND, state)
    refuses(3, model.reorder, state, FIRST % 3)
    turned = model.reorder(after, torch.tensor([1, 0, 2]))
    refuses(3, model.step, SECOND, after)  # as long, but of other rows
    model.step(SECOND, turned)
    refuses(4, model.step, SECOND, turned)
    state = model.step(FIRST, begun()).state
    state.caches[0].reset()
    refuses(2 * (kind is Transformer), model.step, SECOND, state)
    state = begun(use_cache=False)
    logits = model.step(FIRST, state).logits
    model.step(SECOND, state)
    torch.testing.assert_close(model.step(FIRST, state).logits, logits)
