"""A block against torch's layers, values and gradients, and against its own formula."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from companion.layers import ProjectedMemory
from companion.masks import padding_mask
from companion.models.transformer import Block
from companion.models.transformer.blocks import Rotary
from companion.positions import Linear, Yarn, rotary_frequencies, rotate
from tests.transformers import block_of, config_of, gradient, randomised, value

B, N, K, E = 2, 5, 7, 12
LENGTHS, MEMORY_LENGTHS = torch.tensor([5, 3]), torch.tensor([4, 7])


def draw(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def twins(order: str, dtype: torch.dtype, *, cross: bool, activation: str = "relu") -> Any:
    """A layer of torch's and a block with the same weights."""
    kind = nn.TransformerDecoderLayer if cross else nn.TransformerEncoderLayer
    theirs: Any = kind(
        E, 6, 17, dropout=0.0, activation=activation, batch_first=True, norm_first=order == "pre"
    )
    theirs = randomised(theirs, dtype=dtype).train()  # in evaluation it takes other paths
    changes = {"norm_order": order, "activation": activation}
    ours = Block(config_of("paper", attention_bias=True, **changes), cross=cross).to(dtype)
    ours.load_state_dict(block_of(theirs, value))
    return theirs, ours


@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize(("order", "activation"), [("pre", "relu"), ("post", "gelu")])
def test_torchs_layers_agree(order: str, activation: str, cross: bool) -> None:
    theirs, ours = twins(order, torch.float64, cross=cross, activation=activation)
    x, memory = draw(B, N, E), draw(B, K, E)
    if cross:
        mask, future = padding_mask(MEMORY_LENGTHS, K), torch.ones(N, N, dtype=torch.bool).triu(1)
        expected = theirs(x, memory, tgt_mask=future, memory_key_padding_mask=~mask[:, 0])
        actual = ours(x, ours.project_memory(memory), is_causal=True, memory_mask=mask[:, None]).x
    else:
        mask = padding_mask(LENGTHS, N)
        expected = theirs(x, src_key_padding_mask=~mask[:, 0])  # True there means leave out
        actual = ours(x, attn_mask=mask[:, None]).x
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-12)
    towards = draw(B, N, E) / N
    (expected * towards).sum().backward()
    (actual * towards).sum().backward()
    wanted = block_of(theirs, gradient)
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(
            parameter.grad, wanted.pop(name), rtol=1e-12, atol=1e-12, msg=name
        )
    assert not wanted


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
