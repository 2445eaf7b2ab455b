"""Layers that pool far tokens or choose blocks of keys."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor, nn

from companion.models.atlas import AttentionSpec, RotarySpec
from companion.models.atlas.mixers.block_indexed import BlockIndexed, BlockIndexedSpec
from companion.models.atlas.mixers.compressed import Compressed, CompressedSpec
from companion.models.atlas.model import state_numbers

TEXT, WIDTH = 20, 14
AnyModule = TypeVar("AnyModule", bound=nn.Module)
NEAR = CompressedSpec(4, 8, 6, window=5, rotary=RotarySpec(4), groups=2, group_dim=3)
KINDS = {
    "window": NEAR,
    "pooled": replace(NEAR, size=3),
    "overlap": replace(NEAR, size=3, overlap=True),
    "chosen": replace(NEAR, size=3, overlap=True, count=2, index_heads=3, index_dim=6),
}


def stirred(layer: AnyModule) -> AnyModule:
    """Make every weight random, in float64: zeros hide what is done with them."""
    layer = layer.double().eval()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn_like(weight) * (0.5 if weight.ndim > 1 else 1.0))
    return layer


def text() -> Tensor:
    return torch.randn(2, TEXT, WIDTH, generator=torch.manual_seed(1), dtype=torch.float64)


@torch.no_grad()
def test_a_text_in_pieces_is_the_text_at_once_and_keeps_what_the_formula_says() -> None:
    for kind in KINDS:
        torch.manual_seed(2)
        layer, x = stirred(Compressed(WIDTH, KINDS[kind])), text()
        whole, _ = layer(x)
        for pieces in ([1] * TEXT, [7, 1, 5, 7], [2, 18]):
            state, outputs, length = None, [], 0
            for piece in torch.split(x, pieces, 1):
                output, state = layer(piece, state)
                state, length = layer.trim(state), length + piece.shape[1]
                outputs.append(output)
                kept = sum(part.bytes(length, 2, itemsize=1) for part in KINDS[kind].keeps())
                assert state_numbers((state,)) == kept
            torch.testing.assert_close(torch.cat(outputs, 1), whole, rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_each_key_head_reads_its_own_block_and_the_best_others() -> None:
    for count in (1, 2, 9):
        torch.manual_seed(2)
        attention = AttentionSpec(4, 2, 8, rotary=RotarySpec(4))
        spec = BlockIndexedSpec(attention, head_dim=6, size=4, count=count)
        layer, x = stirred(BlockIndexed(WIDTH, spec)), text()
        whole, _ = layer(x)
        state, outputs = None, []
        for token in torch.split(x, 1, 1):
            output, state = layer(token, state)
            outputs.append(output)
        torch.testing.assert_close(torch.cat(outputs, 1), whole, rtol=1e-9, atol=1e-9)
        changed = torch.cat((x[:, :13], torch.randn_like(x[:, 13:])), 1)
        torch.testing.assert_close(layer(changed)[0][:, :13], whole[:, :13], rtol=0, atol=1e-10)
        plain = layer.attention(x)[0]
        assert bool((whole - plain).abs().max() > 1e-3) == (count < 5)
