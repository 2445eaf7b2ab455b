"""Blocks and stacks of them against torch's Transformer, values and gradients."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from companion.masks import padding_mask
from companion.models.transformer import Block, Decoder, Encoder
from tests.transformers import config_of, gradient, randomised, stack_of, value

B, N, K, E = 2, 5, 7, 12


def draw(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


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


LENGTHS = torch.tensor([4, 7])


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_torchs_transformer_agrees() -> None:
    for order, activation in (("pre", "relu"), ("post", "gelu")):
        tolerance = 1e-11
        theirs: Any = nn.Transformer(
            E, 6, 3, 2, 17, dropout=0.0, activation=activation, batch_first=True,
            norm_first=order == "pre",
        )  # fmt: skip
        theirs = randomised(theirs, std=0.3).train()
        config = config_of(
            "paper", norm_order=order, activation=activation, final_norm=True, attention_bias=True
        )
        encoder, decoder = Encoder(config, 3).double(), Decoder(config, cross=True).double()
        encoder.load_state_dict(stack_of(theirs.encoder, value))
        decoder.load_state_dict(stack_of(theirs.decoder, value))

        source, target = draw(B, K, E), draw(B, N, E)
        mask, future = padding_mask(LENGTHS, K), torch.ones(N, N, dtype=torch.bool).triu(1)
        padding = ~mask[:, 0]  # True there means leave out
        expected = theirs(
            source, target, tgt_mask=future, src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # fmt: skip
        memory = encoder(source, mask=mask[:, None]).hidden
        memories = decoder.project_memory(memory)
        actual: Any = decoder(target, memories, memory_mask=mask[:, None]).hidden
        torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)

        towards = draw(B, N, E) / N
        (expected * towards).sum().backward()
        (actual * towards).sum().backward()
        for ours, module in ((encoder, theirs.encoder), (decoder, theirs.decoder)):
            wanted = stack_of(module, gradient)
            assert wanted.keys() == dict(ours.named_parameters()).keys()
            for name, parameter in ours.named_parameters():
                assert parameter.grad is not None
                torch.testing.assert_close(
                    parameter.grad, wanted[name], rtol=tolerance, atol=tolerance, msg=name
                )


def test_memories_are_wanted_where_there_is_cross_attention_and_one_a_block() -> None:
    decoder, x = Decoder(config_of("paper"), cross=True).double(), draw(B, N, E)
    memories = decoder.project_memory(draw(B, K, E))
    with pytest.raises(ValueError, match="memory: got None, wanted what `project_memory` gave"):
        decoder.blocks[0](x)
    with pytest.raises(ValueError, match="caches: got 1, wanted 2, one a block"):
        decoder(x, memories, caches=decoder.make_caches(B, N)[:1])
    lone = Decoder(config_of("llama")).double()
    with pytest.raises(ValueError, match="memory: got one, wanted None"):
        lone.blocks[0](x, memories[0])
    with torch.no_grad(), pytest.raises(ValueError, match="memories: got some, wanted None"):
        lone(x[:, :1], memories, caches=lone.make_caches(B, N))  # one token goes another way
