"""What today's decoders keep of a text and compute for its next token, by their specification."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import nn

from companion.contracts import contract
from companion.models.atlas.experts import Experts
from companion.models.atlas.model import Layer
from companion.models.atlas.specs import LayerSpec, ModelSpec


class TokenCost(NamedTuple):
    """What one more token costs a decoder.

    Attributes:
        weights: numbers of all matrices that the token passes through, the scores of the next
            word included.
        operations: multiplications and additions in matrix products, in short convolutions and in
            the writing of a state: two for each of these numbers, and those by which the token
            reads what is kept and writes a state.
        reading: of these operations, those by which it reads what is kept.
        bytes: what is kept of all tokens before.
    """

    weights: int
    operations: int
    reading: int
    bytes: int


@contract(length=">= 0", batch_size=">= 1", itemsize=">= 1")
def token_cost(
    spec: ModelSpec, length: int, *, batch_size: int = 1, itemsize: int = 2
) -> TokenCost:
    """Count what the next token costs each of some texts of so many tokens.

    Args:
        spec: the model.
        length: tokens before.
        batch_size: number of texts; bytes are of all of them, operations of one.
        itemsize: bytes of a number in the model's own precision.

    >>> from companion.models.atlas import AttentionSpec, FeedForwardSpec
    >>> layer = LayerSpec(AttentionSpec(4, 2, 8), FeedForwardSpec(hidden_dim=24))
    >>> token_cost(ModelSpec(vocab_size=11, embed_dim=16, layers=(layer,)), length=9)
    TokenCost(weights=2864, operations=7008, reading=1280, bytes=576)
    """
    weights = sum(layer_weights(spec.embed_dim, one) for one in spec.layers)
    weights += outer_weights(spec)
    parts = (part for layer in spec.layers for part in layer.reads())
    reading = sum(part.read_operations(length) for part in parts)
    kept = spec.state_bytes(length, batch_size, itemsize)
    return TokenCost(weights, 2 * weights + reading, reading, kept)


def outer_weights(spec: ModelSpec) -> int:
    """Count the numbers of the matrices outside the layers that one token passes through.

    They score the next token, project what layers read of each token by itself, and blend the
    residual streams where there are several.
    """
    streams = 0 if spec.streams is None else spec.streams.count**2
    read = (layer.token_input for layer in spec.layers)
    inputs = sum(one.dim for one in read if one is not None)
    return (spec.vocab_size + inputs + streams) * spec.embed_dim


def layer_weights(embed_dim: int, spec: LayerSpec) -> int:
    """Count the numbers of the matrices of a layer that one token passes through."""
    with torch.device("meta"):
        layer = Layer(embed_dim, spec)
    return sum(map(_own_weights, layer.modules()))


def _own_weights(module: nn.Module) -> int:
    """Count the numbers of a module's own matrices: of experts, those that a token uses."""
    own = sum(
        weight.numel()
        for name, weight in module.named_parameters(recurse=False)
        if weight.ndim > 1 and not name.endswith("bias")
    )
    if isinstance(module, Experts):
        return own // module.spec.num_experts * module.spec.experts_per_token
    return own
