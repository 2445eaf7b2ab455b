"""Layers that keep latents, pools or blocks of keys: in pieces, what is kept, what is seen."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from companion.models.atlas import AttentionSpec, LatentSpec, LayerSpec, ModelSpec, RotarySpec
from companion.models.atlas.mixers.block_indexed import BlockIndexed, BlockIndexedSpec
from companion.models.atlas.mixers.compressed import Compressed, CompressedSpec
from companion.models.atlas.mixers.indexed import IndexerSpec
from companion.models.atlas.mixers.latent import Latent
from companion.models.atlas.model import state_numbers

TEXT, WIDTH = 20, 14
INDEXER = IndexerSpec(num_heads=3, head_dim=6, count=4, rotary=RotarySpec(4))
PLAIN = LatentSpec(
    num_heads=3, latent_dim=7, head_dim=5, rotary_dim=4, value_dim=6, rotary=RotarySpec(4)
)
KINDS = {
    "plain": PLAIN,
    "query latent": replace(PLAIN, query_dim=9),
    "no positions": replace(PLAIN, rotary=None),
    "no rotary part": replace(PLAIN, rotary=None, rotary_dim=0),
    "scaled": replace(PLAIN, latent_scale=1.7, scale=0.9, length_scale=(0.6, 4)),
    "sinks and gates": replace(PLAIN, sinks=True, gate="feature"),
    "gates of heads": replace(PLAIN, gate="head"),
    "indexer": replace(PLAIN, query_dim=9, indexer=INDEXER),
}
NEAR = CompressedSpec(4, 8, 6, window=5, rotary=RotarySpec(4), groups=2, group_dim=3)
BLOCKS = BlockIndexedSpec(AttentionSpec(4, 2, 8, rotary=RotarySpec(4)), head_dim=6, size=4, count=2)
LAYERS: dict[str, tuple[Any, Any]] = {
    **{name: (Latent, spec) for name, spec in KINDS.items()},
    "window": (Compressed, NEAR),
    "pooled": (Compressed, replace(NEAR, size=3)),
    "overlap": (Compressed, replace(NEAR, size=3, overlap=True)),
    "chosen": (Compressed, replace(NEAR, size=3, overlap=True, count=2, index_heads=3,
                                   index_dim=6)),
    "one block": (BlockIndexed, replace(BLOCKS, count=1)),
    "blocks": (BlockIndexed, BLOCKS),
    "all blocks": (BlockIndexed, replace(BLOCKS, count=9)),
}  # fmt: skip


def made(kind: Any, spec: Any) -> Any:
    """Return a layer whose every weight is random: zeros hide what is done with them."""
    torch.manual_seed(3)
    layer = kind(WIDTH, spec).double().eval()
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn_like(weight) * (0.6 if weight.ndim > 1 else 1.0))
    return layer


def text() -> Tensor:
    return torch.randn(2, TEXT, WIDTH, generator=torch.manual_seed(0), dtype=torch.float64)


@torch.no_grad()
@pytest.mark.parametrize("name", LAYERS)
def test_a_text_in_pieces_is_the_text_at_once_and_keeps_what_the_formula_says(name: str) -> None:
    kind, spec = LAYERS[name]
    layer, x = made(kind, spec), text()
    whole, _ = layer(x)
    for pieces in ([1] * TEXT, [7, 1, 5, 7], [2, 18]):
        state, outputs, length = None, [], 0
        for piece in torch.split(x, pieces, 1):
            output, state = layer(piece, state)
            state = getattr(layer, "trim", lambda state: state)(state)
            length += piece.shape[1]
            outputs.append(output)
            kept = sum(part.bytes(length, 2, itemsize=1) for part in spec.keeps())
            assert state_numbers((state,)) == kept
        torch.testing.assert_close(torch.cat(outputs, 1), whole, rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_few_blocks_are_another_attention_and_all_blocks_are_the_plain_one() -> None:
    for name in ("one block", "blocks", "all blocks"):
        layer = made(*LAYERS[name])
        moved = (layer(text())[0] - layer.attention(text())[0]).abs().max()
        assert bool(moved > 1e-3) == (name != "all blocks")


@torch.no_grad()
def test_one_token_reads_the_chosen_latents_alone() -> None:
    layer = made(*LAYERS["indexer"])
    _, state = layer(text()[:, :-1])
    before = layer.trim(state)
    output, after = layer(text()[:, -1:], before)
    assert after.choice is not None
    unseen = ~after.choice[:, 0, :-1]
    assert unseen.sum() == 2 * (TEXT - 4)
    spoilt = before._replace(latent=torch.where(unseen[..., None], 99.0, before.latent))
    assert torch.equal(layer(text()[:, -1:], spoilt)[0], output)


def test_a_choice_comes_from_an_earlier_layer_that_chooses() -> None:
    own = LayerSpec(replace(PLAIN, indexer=INDEXER), None)
    for chooser in (1, 2):
        layers = (own, replace(own, chosen_by=0), replace(own, chosen_by=chooser))
        with pytest.raises(ValueError, match=f"layer 2 has chosen_by={chooser}, wanted an earlier"):
            ModelSpec(9, WIDTH, layers)
