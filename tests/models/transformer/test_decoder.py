"""Encoder and decoder together against torch's Transformer, and the decoder in cached steps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from companion.masks import padding_mask
from companion.models.transformer import Decoder, Encoder
from tests.tiers import often
from tests.transformers import config_of, each_variant, gradient, randomised, stack_of, value

B, Q, K, E = 2, 5, 7, 12
LENGTHS = torch.tensor([4, 7])


def draw(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_torchs_transformer_agrees() -> None:
    for order, activation in (("pre", "relu"), ("post", "gelu")):
        dtype, tolerance = torch.float64, 1e-11
        theirs: Any = nn.Transformer(
            E, 6, 3, 2, 17, dropout=0.0, activation=activation, batch_first=True,
            norm_first=order == "pre",
        )  # fmt: skip
        theirs = randomised(theirs, dtype=dtype, std=0.3).train()
        config = config_of(
            "paper", norm_order=order, activation=activation, final_norm=True, attention_bias=True
        )
        encoder, decoder = Encoder(config, 3).to(dtype), Decoder(config, cross=True).to(dtype)
        encoder.load_state_dict(stack_of(theirs.encoder, value))
        decoder.load_state_dict(stack_of(theirs.decoder, value))

        source, target = draw(B, K, E).to(dtype), draw(B, Q, E).to(dtype)
        mask, future = padding_mask(LENGTHS, K), torch.ones(Q, Q, dtype=torch.bool).triu(1)
        padding = ~mask[:, 0]  # True there means leave out
        expected = theirs(
            source, target, tgt_mask=future, src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )  # fmt: skip
        memory = encoder(source, mask=mask[:, None]).hidden
        memories = decoder.project_memory(memory)
        actual: Any = decoder(target, memories, memory_mask=mask[:, None]).hidden
        torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)

        towards = draw(B, Q, E).to(dtype) / Q
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


@pytest.mark.parametrize("cross", often([True, False], bool))
@each_variant
def test_cached_steps_are_one_pass_at_every_split(variant: str, cross: bool) -> None:
    decoder = randomised(Decoder(config_of(variant), cross=cross))
    x: Any = draw(B, Q, E)
    memory, options = draw(B, K, E), dict[str, Any]()
    if cross:
        options["memories"] = decoder.project_memory(memory)
        options["memory_mask"] = padding_mask(LENGTHS, K)[:, None]
    whole = decoder(x, **options).hidden
    for split in range(Q + 1):
        caches = decoder.make_caches(B, Q)
        with torch.no_grad():
            parts = [
                decoder(part, **options, caches=caches).hidden
                for part in x.split((split, Q - split), 1)
            ]
        torch.testing.assert_close(torch.cat(parts, 1), whole)


def test_weights_are_those_of_the_blocks_asked_for() -> None:
    config = config_of("paper")
    encoder, decoder = randomised(Encoder(config)), randomised(Decoder(config, cross=True))
    x, memory = draw(B, Q, E), draw(B, K, E)
    read = encoder(memory, need_weights=True)
    assert [tuple(w.shape) for w in read.weights] == [(B, 6, K, K)] * 2
    assert encoder(memory).weights == ()
    found = decoder(x, decoder.project_memory(memory), weights_of=(1,))
    assert found.self_weights[0] is None
    assert found.cross_weights[0] is None
    assert found.self_weights[1].shape == (B, 6, Q, Q)
    assert found.cross_weights[1].shape == (B, 6, Q, K)


def test_there_is_a_memory_and_a_cache_for_every_block() -> None:
    decoder = Decoder(config_of("paper"), cross=True).double()
    memories = decoder.project_memory(draw(B, K, E))
    with pytest.raises(ValueError, match="memories: got 1, wanted 2, one a block"):
        decoder(draw(B, Q, E), memories[:1])
    with pytest.raises(ValueError, match="caches: got 1, wanted 2, one a block"):
        decoder(draw(B, Q, E), memories, caches=decoder.make_caches(B, Q)[:1])
