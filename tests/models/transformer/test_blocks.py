"""What a block promises beside the values and gradients of `test_decoder`."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from companion.layers import ProjectedMemory
from companion.models.transformer import Block
from companion.models.transformer.blocks import Rotary
from companion.positions import Linear, Yarn, rotary_frequencies, rotate
from tests.transformers import config_of, randomised

B, N, K, E = 2, 5, 7, 12


def draw(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_weights_change_nothing_and_have_a_row_a_query() -> None:
    for variant in ("paper", "llama", "gpt2"):
        block = randomised(Block(config_of(variant), cross=True))
        x, memory = draw(B, N, E), block.project_memory(draw(B, K, E))
        plain, own, cross = block(x, memory, is_causal=True)
        assert own is None
        assert cross is None
        output, own, cross = block(x, memory, is_causal=True, need_weights=True)
        torch.testing.assert_close(output, plain)
        assert own.shape == (B, 6, N, N)
        assert cross.shape == (B, 6, N, K)
        assert own.triu(1).abs().max() == 0
        torch.testing.assert_close(cross.sum(-1), torch.ones(B, 6, N).double())


def test_a_memory_is_wanted_exactly_where_there_is_cross_attention() -> None:
    config, x = config_of("paper"), draw(B, N, E)
    memory = ProjectedMemory(draw(B, 6, K, 2), draw(B, 6, K, 2))
    with pytest.raises(ValueError, match="memory: got None, wanted what `project_memory` gave"):
        Block(config, cross=True).double()(x)
    with pytest.raises(ValueError, match="memory: got one, wanted None"):
        Block(config).double()(x, memory)
    with pytest.raises(ValueError, match="no cross-attention"):
        Block(config).double().project_memory(x)


def test_dropout_stands_where_the_paper_has_it() -> None:
    """Each sub-layer's output is dropped before it is added: what goes around it never is."""
    torch.manual_seed(0)
    block = Block(config_of("paper", norm_order="pre", dropout_p=0.5)).double()
    x = torch.ones(1, 400, E).double()
    dropped: Any = block.self_residual.after(torch.zeros_like(x), x)
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert 0.45 < (dropped == 0).double().mean() < 0.55
    assert (block.self_residual.after(x, torch.zeros_like(x)) == x).all()
    assert (block.eval().self_residual.after(torch.zeros_like(x), x) == x).all()
    config = config_of("paper", attention_dropout_p=0.25, feed_forward_dropout_p=0.125)
    block = Block(config, cross=True)
    assert block.cross_attention is not None
    assert block.self_attention.dropout_p == block.cross_attention.dropout_p == 0.25
    assert block.feed_forward.dropout.p == 0.125


def test_projections_begin_with_the_variance_of_glorot_and_no_bias() -> None:
    torch.manual_seed(0)
    sizes = {"embed_dim": 96, "hidden_dim": 192, "attention_bias": True}
    block = Block(config_of("paper", **sizes))
    for name, parameter in block.named_parameters():
        if name.endswith("proj.weight"):
            bound = (6 / sum(parameter.shape)) ** 0.5
            assert 0.95 * bound < parameter.abs().max() <= bound
        elif name.endswith("proj.bias"):
            assert parameter.abs().max() == 0


def test_rotary_takes_base_and_scaling() -> None:
    for scaling in (None, Linear(3.0), Yarn(4.0, original_length=8)):
        x, places = draw(B, 3, N, 8), torch.arange(N) + 30
        frequencies = rotary_frequencies(8, base=50.0, scaling=scaling)
        factor = 1.0 if scaling is None else scaling.attention_factor
        expected = factor * rotate(x, places, frequencies=frequencies)
        torch.testing.assert_close(Rotary(50.0, scaling)(x, places), expected)
        assert torch.equal(
            Rotary(50.0, scaling)(x.half(), places).float().isnan().any(), torch.tensor(False)
        )
