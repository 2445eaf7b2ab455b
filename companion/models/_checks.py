"""What models ask of the ids and lengths that they are called with."""

from __future__ import annotations

import torch
from torch import Tensor

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_ids(axes: str = "(b, n)", **ids: Tensor) -> None:
    """Refuse what is not a batch of ids.

    Args:
        axes: the wanted axes in letters, for the message.
        **ids: the tensors under the names of their arguments.

    Raises:
        TypeError: no tensor, or no integers that an embedding reads.
        ValueError: another number of axes than two.

    >>> check_ids(prompt=torch.tensor([4, 5]))
    Traceback (most recent call last):
    ValueError: prompt: got shape (2,), wanted (b, n)
    """
    for name, tensor in ids.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}: got {type(tensor).__name__}, wanted a tensor of integers")
        if tensor.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"{name}: got dtype {tensor.dtype}, wanted integers, the ids of tokens")
        if tensor.ndim != 2:
            raise ValueError(f"{name}: got shape {tuple(tensor.shape)}, wanted {axes}")


def checked_lengths(lengths: Tensor, rows: int, device: torch.device | str) -> Tensor:
    """Return lengths as 64-bit integers on a device.

    Without the check one length would serve all sequences, and a column of lengths would make
    a mask for every pair of sequences.

    Args:
        lengths: (b,) number of tokens of each sequence.
        rows: the wanted b.
        device: where they are needed.

    Raises:
        TypeError: no tensor of integers.
        ValueError: another shape than (b,).

    >>> checked_lengths(torch.tensor([3]), 2, "cpu")
    Traceback (most recent call last):
    ValueError: lengths: got shape (1,), wanted (2,), one a sequence
    """
    if not isinstance(lengths, Tensor):
        raise TypeError(f"lengths: got {type(lengths).__name__}, wanted a tensor of integers")
    if lengths.dtype not in _INTEGERS:
        raise TypeError(f"lengths: got dtype {lengths.dtype}, wanted integers")
    if lengths.shape != (rows,):
        raise ValueError(
            f"lengths: got shape {tuple(lengths.shape)}, wanted ({rows},), one a sequence"
        )
    return lengths.to(device, torch.int64)
