"""Attention followed through a stack of blocks, residual connections included."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from companion.contracts import contract
from companion.interpret._checks import distributions


def _check_shape(
    name: str, blocks: Sequence[Tensor], wanted: tuple[int, ...]
) -> None:
    for number, weights in enumerate(blocks):
        shape = tuple(distributions(f"{name}[{number}]", weights).shape)
        if shape != wanted:
            raise ValueError(
                f"{name}[{number}]: got shape {shape}, wanted {wanted}"
            )


def _check_square(name: str, blocks: Sequence[Tensor]) -> None:
    if not len(blocks):
        raise ValueError(f"{name}: got no block, wanted at least one")
    shape = tuple(distributions(f"{name}[0]", blocks[0]).shape)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"{name}[0]: got shape {shape}, wanted (..., n, n)")
    _check_shape(name, blocks, shape)


@contract(residual=">= 0 and <= 1")
def attention_rollout(
    weights: Sequence[Tensor], *, residual: float = 0.5
) -> Tensor:
    """Multiply a stack's weights, mixed with the identity (Abnar and Zuidema, 2020, equation 1).

    A block adds what it attended to to what it had. The paper counts both alike: with weights A,
    a block moves information by 0.5 A + 0.5 I, and a stack by the product.

    Args:
        weights: (..., n, n) for every block, the first block first, heads averaged.
        residual: the share of what a block had.

    Returns:
        (..., n, n): row i says how much of every input position i holds after the last block. If
        the rows of all weights sum to 1, so do its rows.

    >>> attention_rollout([torch.tensor([[1.0, 0.0], [1.0, 0.0]])] * 2)
    tensor([[1.0000, 0.0000],
            [0.7500, 0.2500]])
    """
    _check_square("weights", weights)
    size = weights[0].shape[-1]
    flow = torch.eye(size, dtype=weights[0].dtype, device=weights[0].device)
    flow = flow.expand(weights[0].shape)
    for block in weights:
        flow = residual * flow + (1 - residual) * (block @ flow)
    return flow


@contract(residual=">= 0 and <= 1")
def cross_rollout(
    encoder: Sequence[Tensor],
    decoder: Sequence[Tensor],
    cross: Sequence[Tensor],
    *,
    residual: float = 0.5,
) -> Tensor:
    """Roll out an encoder-decoder: how much of every source word each target position holds.

    Abnar and Zuidema (2020) give the rule for one stack. It serves here, too: the memory is the
    encoder's rollout, and each of a decoder block's two attentions adds to what was there. A
    position of the decoder begins with nothing of the source.

    Args:
        encoder: (..., k, k) for every encoder block, the first first, heads averaged.
        decoder: (..., q, q) self-attention of every decoder block.
        cross: (..., q, k) cross-attention of every decoder block.
        residual: the share of what a sub-layer had.

    Returns:
        (..., q, k): a row sums to at most 1, if those of all weights do; what is missing to 1
        comes from the target's own words.

    >>> one = torch.ones(1, 1)
    >>> cross_rollout([one], [one, one], [one, one])
    tensor([[0.7500]])
    """
    _check_square("encoder", encoder)
    _check_square("decoder", decoder)
    if len(cross) != len(decoder):
        count = len(decoder)
        raise ValueError(
            f"cross: got {len(cross)} blocks, wanted {count}, as in decoder"
        )
    _check_shape(
        "cross", cross, (*decoder[0].shape[:-1], encoder[0].shape[-1])
    )
    memory = attention_rollout(encoder, residual=residual)
    flow = torch.zeros_like(cross[0])
    for to_target, to_source in zip(decoder, cross, strict=True):
        flow = residual * flow + (1 - residual) * (to_target @ flow)
        flow = residual * flow + (1 - residual) * (to_source @ memory)
    return flow
