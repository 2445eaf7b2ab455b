"""One token the short way: the values of the long one, taken only where they are the same."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

from companion.models.transformer import LanguageModel
from companion.models.transformer.blocks import Block
from companion.models.transformer.step import Plan
from tests.transformers import config_of, randomised

TOKENS = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 12, 13]])


def steps(model: LanguageModel, tokens: Tensor) -> tuple[Tensor, list[Plan]]:
    """Logits of every token from the third on, one by one, and what was planned for them."""
    state = model.start(tokens[:, :3], max_len=9)
    logits = []
    for last in tokens[:, 2:].unbind(1):
        output = model.step(last, state)
        logits.append(output.logits)
        state = output.state
    plans = [cache.plan for cache in state.caches or ()]
    return torch.stack(logits, 1), [plan for plan in plans if isinstance(plan, Plan)]


@pytest.mark.parametrize(
    "changes", [{}, {"norm": "layer"}, {"num_kv_heads": None}, {"positions": "none"}]
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_short_way_gives_what_the_long_one_gives(
    changes: dict[str, object], dtype: torch.dtype
) -> None:
    model = randomised(LanguageModel(config_of("llama", **changes)), dtype=dtype, std=0.2)
    with torch.no_grad():
        short, plans = steps(model, TOKENS)
        assert [plan.step is not None for plan in plans] == [True, True]
        whole = model(TOKENS)[:, 2:]
    long, plans = steps(model, TOKENS)
    assert plans == []
    if dtype == torch.float64:
        torch.testing.assert_close(short, long)
    torch.testing.assert_close(short.float(), whole.float(), rtol=0.05, atol=0.05)


@torch.no_grad()
@pytest.mark.parametrize("variant", ["gpt2", "paper"])
def test_other_blocks_go_the_long_way(variant: str) -> None:
    model = randomised(LanguageModel(config_of(variant)))
    found, plans = steps(model, TOKENS)
    assert [plan.step for plan in plans] == [None, None]
    torch.testing.assert_close(found, model(TOKENS)[:, 2:])


@torch.no_grad()
def test_a_hook_is_heard_and_training_is_training() -> None:
    model = randomised(LanguageModel(config_of("llama")))
    heard: list[int] = []
    block = model.decoder.blocks[1]
    assert isinstance(block, Block)
    handle = block.feed_forward.register_forward_hook(lambda *call: heard.append(1))
    steps(model, TOKENS)
    assert len(heard) == 4, "the prompt, then three tokens"
    handle.remove()
    assert [plan.step is None for plan in steps(model.train(), TOKENS)[1]] == [True, True]


@torch.no_grad()
def test_a_copied_cache_goes_on_with_the_same_weights() -> None:
    model = randomised(LanguageModel(config_of("llama")))
    state = model.start(TOKENS[:, :2], max_len=9)
    state = model.step(TOKENS[:, 1], state).state
    twin = copy.deepcopy(state)
    assert state.caches is not None
    assert twin.caches is not None
    assert twin.caches[0].plan is state.caches[0].plan
    one, other = (model.step(TOKENS[:, 2], each).logits for each in (state, twin))
    torch.testing.assert_close(one, other)
