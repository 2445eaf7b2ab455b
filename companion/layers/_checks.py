"""What layers ask of the tensors that they are called with."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.arrays import check_floating, check_number, check_rank, check_size, namespace


def check_tensors(weight: Tensor, **tensors: Tensor) -> None:
    """Refuse what cannot be computed with beside a layer's weight.

    Args:
        weight: gives device and dtype.
        **tensors: the tensors under the names of their arguments.

    Raises:
        TypeError: no floating tensor, or another dtype outside autocast.
        ValueError: another device.
    """
    for name, tensor in tensors.items():
        if _is_like(tensor, weight):
            continue  # in a decoding step what follows would take longer than a projection
        xp = namespace(**{"the layer": weight, name: tensor})
        check_floating(xp, **{name: tensor})
        if tensor.dtype != weight.dtype and not torch.is_autocast_enabled(weight.device.type):
            raise TypeError(f"{name}: got dtype {tensor.dtype}, wanted {weight.dtype}, the layer's")


def _is_like(tensor: object, weight: Tensor) -> bool:
    return (
        isinstance(tensor, Tensor)
        and tensor.dtype == weight.dtype
        and tensor.device == weight.device
    )


def check_input(
    weight: Tensor, width: int, meaning: str, axes: str = "(..., n, e)", **tensors: Tensor
) -> None:
    """Refuse what cannot be computed with, or has not the wanted width on its last axis.

    Args:
        weight: gives device and dtype.
        width: the wanted width.
        meaning: what that is, for the message.
        axes: the wanted axes in letters.
        **tensors: the tensors under the names of their arguments.

    Raises:
        TypeError: no floating tensor, or another dtype outside autocast.
        ValueError: another device, too few axes, or another width.
    """
    least = axes.count(",")
    for name, tensor in tensors.items():
        if _is_like(tensor, weight) and tensor.ndim >= least and tensor.shape[-1] == width:
            continue
        check_tensors(weight, **{name: tensor})
        check_rank(least, axes, exactly=False, **{name: tensor})
        check_size(width, meaning, -1, **{name: tensor})


def check_probability(**numbers: float) -> None:
    """Refuse what is no probability below 1.

    Raises:
        TypeError: not a number.
        ValueError: below 0, or 1 and more.
    """
    for name, number in numbers.items():
        if number is None:
            raise TypeError(f"{name}: got NoneType, wanted a number")
        check_number(**{name: number})
        if not 0 <= number < 1:
            raise ValueError(f"{name}: got {number}, wanted at least 0 and below 1")
