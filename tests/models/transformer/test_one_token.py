"""One token through a stack of blocks: their own values, taken only where they are the same."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.cache import KVCache
from companion.dispatch import definitions
from companion.models.transformer import LanguageModel
from companion.models.transformer.one_token import _Stack
from tests.transformers import config_of, randomised

TOKENS = torch.tensor([[4, 5, 6, 7, 8], [9, 10, 11, 12, 13]])


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of blocks of every token that the kernel takes."""
    blocks: list[int] = []
    whole = _Stack.__call__

    def counted(stack: _Stack, x: Tensor, caches: tuple[KVCache, ...]) -> Tensor:
        blocks.append(len(stack.steps))
        return whole(stack, x, caches)

    monkeypatch.setattr(_Stack, "__call__", counted)
    return blocks


def steps(model: LanguageModel, tokens: Tensor) -> Tensor:
    """Logits of every token from the third on, one by one."""
    state = model.start(tokens[:, :3], max_len=9)
    logits = []
    for last in tokens[:, 2:].unbind(1):
        output = model.step(last, state)
        logits.append(output.logits)
        state = output.state
    return torch.stack(logits, 1)


@pytest.mark.parametrize(
    "changes", [{}, {"norm": "layer"}, {"num_kv_heads": None}, {"positions": "none"}]
)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_kernel_gives_what_the_blocks_give(
    changes: dict[str, object], dtype: torch.dtype, taken: list[int]
) -> None:
    model = randomised(LanguageModel(config_of("llama", **changes)), dtype=dtype, std=0.2)
    with torch.no_grad():
        short = steps(model, TOKENS)
        assert taken == 3 * [2]
        with definitions():
            plain = steps(model, TOKENS)
        whole = model(TOKENS)[:, 2:]
    long = steps(model, TOKENS)  # with gradients
    assert taken == 3 * [2]
    if dtype == torch.float64:
        torch.testing.assert_close(short, long)
        torch.testing.assert_close(short, plain)
    torch.testing.assert_close(short.float(), whole.float(), rtol=0.05, atol=0.05)


@torch.no_grad()
def test_blocks_of_another_kind_are_declined(taken: list[int]) -> None:
    for variant in ("gpt2", "paper", "llama"):
        model = randomised(LanguageModel(config_of(variant)))
        if variant == "llama":
            model.decoder.blocks[1].self_attention.rotary = None  # unlike the first one
        torch.testing.assert_close(steps(model, TOKENS), model(TOKENS)[:, 2:])
    model, heard = randomised(LanguageModel(config_of("llama"))), list[int]()
    block: Any = model.decoder.blocks[1]
    handle = block.feed_forward.register_forward_hook(lambda *call: heard.append(1))
    steps(model, TOKENS)
    assert len(heard) == 4, "the prompt, then three tokens"
    handle.remove()
    steps(model.train(), TOKENS)
    assert taken == []


def test_what_comes_back_may_go_where_gradients_are_wanted(taken: list[int]) -> None:
    for changes in ({}, {"final_norm": False}):
        model = randomised(LanguageModel(config_of("llama", **changes)), dtype=torch.float64)
        with torch.no_grad():
            state = model.start(TOKENS[:, :2], max_len=9)
            assert state.caches is not None
            x = model.embedding(TOKENS[:, 1:2])
            hidden = model.decoder(x, caches=state.caches).hidden
            assert taken.pop() == 2
        assert not hidden.is_inference()
        probe = torch.ones(hidden.shape[-1], dtype=torch.float64, requires_grad=True)
        (hidden @ probe).sum().backward()
        torch.testing.assert_close(probe.grad, hidden.sum((0, 1)))


@torch.no_grad()
def test_a_copied_cache_goes_on_and_what_is_written_into_a_weight_counts(taken: list[int]) -> None:
    model = randomised(LanguageModel(config_of("llama")), dtype=torch.float64)
    state = model.start(TOKENS[:, :2], max_len=9)
    state = model.step(TOKENS[:, 1], state).state
    twin, third = copy.deepcopy(state), copy.deepcopy(state)
    before, other = (model.step(TOKENS[:, 2], each).logits for each in (state, twin))
    torch.testing.assert_close(before, other)
    assert taken == 4 * [2], "the prompt's first token, the second, and the third twice"
    for name, parameter in model.named_parameters():
        if "blocks.1" in name:
            parameter.mul_(0.5)
    after = model.step(TOKENS[:, 2], third).logits
    assert (after - before).abs().max() > 1e-3


@torch.no_grad()
def test_a_step_too_many_is_refused_and_stores_nothing() -> None:
    model = randomised(LanguageModel(config_of("llama")))
    state = model.start(TOKENS[:, :2], max_len=1)
    state = model.step(TOKENS[:, 1], state).state
    with pytest.raises(ValueError, match="key: got 1 tokens after 2, wanted at most 2"):
        model.step(TOKENS[:, 2], state)
    assert state.caches is not None
    assert [cache.length for cache in state.caches] == [2, 2]


def test_prompts_with_gradients_keep_them() -> None:
    """Writing into their keys would spoil the backward pass."""
    model = randomised(LanguageModel(config_of("llama")), dtype=torch.float64)
    caches = model.decoder.make_caches(2, 9)
    hidden = model.decoder(model.embedding(TOKENS[:, :2]), caches=caches).hidden
    with torch.no_grad():
        model.decoder(model.embedding(TOKENS[:, 2:3], offset=2), caches=caches)
    hidden.sum().backward()
    assert all(p.grad is not None for p in model.decoder.parameters())


def test_caches_of_another_dtype_are_refused_and_of_another_length_declined() -> None:
    model = randomised(LanguageModel(config_of("llama")), dtype=torch.float64)
    x = model.embedding(TOKENS[:, :1])
    single = copy.deepcopy(model).float().decoder.make_caches(2, 9)
    with torch.no_grad(), pytest.raises(TypeError, match="caches: got dtype"):
        model.decoder(x, caches=single)
    found = []
    for mode in (torch.no_grad(), torch.enable_grad()):
        caches = model.decoder.make_caches(2, 9)
        one = x.new_ones(2, caches[1].num_kv_heads, 1, caches[1].head_dim)
        caches[1].update(one, one)
        with mode:
            found.append(model.decoder(x, caches=caches).hidden)
    torch.testing.assert_close(*found)
