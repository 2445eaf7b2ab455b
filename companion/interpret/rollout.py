"""Attention followed through a stack of blocks, residual connections included."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from companion.arrays import check_number
from companion.interpret._checks import check_weights


def attention_rollout(weights: Sequence[Tensor], *, residual: float = 0.5) -> Tensor:
    """Multiply a stack's weights, mixed with the identity (Abnar and Zuidema, 2020, equation 1).

    A block adds what it attended to to what it had. The paper counts both alike: with weights A,
    a block moves information by 0.5 A + 0.5 I, and a stack by the product.

    Args:
        weights: (..., n, n) for every block, the first block first, heads averaged.
        residual: the share of what a block had.

    Returns:
        (..., n, n): row i says how much of every input position i holds after the last block. If
        the rows of all weights sum to 1, so do its rows.

    Raises:
        TypeError: no tensors of floating numbers, or a residual that is no number.
        ValueError: no block, weights that are not square or not alike, or a residual out of range.

    >>> attention_rollout([torch.tensor([[1.0, 0.0], [1.0, 0.0]])] * 2)
    tensor([[1.0000, 0.0000],
            [0.7500, 0.2500]])
    """
    _check_residual(residual)
    _check_stack("weights", weights)
    size = weights[0].shape[-1]
    flow = torch.eye(size, dtype=weights[0].dtype, device=weights[0].device)
    flow = flow.expand(weights[0].shape)
    for block in weights:
        flow = residual * flow + (1 - residual) * (block @ flow)
    return flow


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

    Raises:
        TypeError: no tensors of floating numbers, or a residual that is no number.
        ValueError: no block, weights that do not fit, or a residual out of range.

    >>> one = torch.ones(1, 1)
    >>> cross_rollout([one], [one, one], [one, one])
    tensor([[0.7500]])
    """
    _check_residual(residual)
    _check_stack("encoder", encoder)
    _check_stack("decoder", decoder)
    _check_cross(encoder[0], decoder, cross)
    memory = attention_rollout(encoder, residual=residual)
    flow = torch.zeros_like(cross[0])
    for own, looks in zip(decoder, cross, strict=True):
        flow = residual * flow + (1 - residual) * (own @ flow)
        flow = residual * flow + (1 - residual) * (looks @ memory)
    return flow


def _check_residual(residual: float) -> None:
    check_number(residual=residual)
    if residual is None or not 0 <= residual <= 1:
        raise ValueError(f"residual: got {residual}, wanted a number from 0 to 1")


def _check_stack(name: str, weights: Sequence[Tensor]) -> None:
    if not len(weights):
        raise ValueError(f"{name}: got no block, wanted at least one")
    for block, one in enumerate(weights):
        check_weights(**{f"{name}[{block}]": one})
        if one.ndim < 2 or one.shape[-1] != one.shape[-2] or one.shape != weights[0].shape:
            raise ValueError(
                f"{name}[{block}]: got shape {tuple(one.shape)}, wanted (..., n, n), the same for "
                "every block"
            )


def _check_cross(memory: Tensor, decoder: Sequence[Tensor], cross: Sequence[Tensor]) -> None:
    if len(cross) != len(decoder):
        raise ValueError(f"cross: got {len(cross)} blocks, wanted {len(decoder)}, as in decoder")
    wanted = (*decoder[0].shape[:-1], memory.shape[-1])
    for block, one in enumerate(cross):
        check_weights(**{f"cross[{block}]": one})
        if tuple(one.shape) != wanted:
            raise ValueError(
                f"cross[{block}]: got shape {tuple(one.shape)}, wanted {wanted}: the rows of "
                "decoder, the columns of encoder"
            )
