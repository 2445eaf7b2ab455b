"""What contracts cannot say: rules over the tensors inside of a batch, or of a decoder's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from companion.arrays import is_number
from companion.contracts import contract

if TYPE_CHECKING:
    from companion.data.batching import Batch
    from companion.data.images import CaptionBatch


def check_batch(given: Mapping[str, Any]) -> None:
    """Refuse a batch whose target cannot be read beside its source."""
    _check_readable(*_parts(given["batch"], "source", "target_in"))


def check_targets(given: Mapping[str, Any]) -> None:
    """Refuse a batch over whose target no loss can be averaged."""
    target_in, target_out, mask = _parts(given["batch"], "target_in", "target_out", "target_mask")
    _check_answered(target_in, target_out, mask)
    if not mask.any():
        raise ValueError("target_mask: got no token, wanted at least one to average over")


def one_each(argument: str, of: str) -> Callable[[Mapping[str, Any]], None]:
    """Return a rule: the argument holds one number for every row of a tensor in `state`.

    Args:
        argument: its name.
        of: the name of the tensor in the state, or of a tuple of tensors.
    """

    def rule(given: Mapping[str, Any]) -> None:
        rows = getattr(given["state"], of)
        wanted = len(rows[0] if isinstance(rows, tuple) else rows)
        if len(given[argument]) != wanted:
            raise ValueError(
                f"{argument}: got b = {len(given[argument])} in shape "
                f"{tuple(given[argument].shape)}, wanted {wanted} as in state"
            )

    return rule


def _parts(batch: Any, *names: str) -> list[Tensor]:
    if not all(hasattr(batch, name) for name in names):
        came = type(batch).__name__
        raise TypeError(f"batch: got {came}, wanted one that has {', '.join(names)}")
    return [getattr(batch, name) for name in names]


@contract(source="ids: b k", target_in="ids: b q", k="> 0", q="> 0")
def _check_readable(source: Tensor, target_in: Tensor) -> None: ...


@contract(target_in="ids: b q", target_out="ids: b q", target_mask="booleans: b q", q="> 0")
def _check_answered(target_in: Tensor, target_out: Tensor, target_mask: Tensor) -> None: ...


_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def check_ids(axes: str = "(b, n)", **ids: Tensor) -> None:
    """Refuse what is not a batch of ids.

    Args:
        axes: the wanted axes in letters, for the message.
        **ids: the tensors under the names of their arguments.

    Raises:
        TypeError: no tensor, or no integers that an embedding reads.
        ValueError: another number of axes than two, or sequences without a token.

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
        if not tensor.shape[1]:
            raise ValueError(
                f"{name}: got shape {tuple(tensor.shape)}, wanted {axes}, at least one token each"
            )


def check_one_each(rows: int, **integers: Tensor) -> None:
    """Refuse what is not one integer a sequence, such as the last tokens or the rows of a beam.

    Args:
        rows: number of sequences.
        **integers: the tensors under the names of their arguments.

    Raises:
        TypeError: no tensor of 32- or 64-bit integers.
        ValueError: another shape.

    >>> check_one_each(2, tokens=torch.tensor([[4], [5]]))
    Traceback (most recent call last):
    ValueError: tokens: got shape (2, 1), wanted (2,), one a sequence
    """
    for name, tensor in integers.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name}: got {type(tensor).__name__}, wanted a tensor of integers")
        if tensor.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"{name}: got dtype {tensor.dtype}, wanted an integer dtype")
        if tensor.shape != (rows,):
            raise ValueError(
                f"{name}: got shape {tuple(tensor.shape)}, wanted ({rows},), one a sequence"
            )


def check_read(batch: Batch) -> None:
    """Refuse a batch whose target cannot be read beside its source, which `encode` checks.

    Raises:
        TypeError: target ids that are no integers.
        ValueError: another shape than (b, q).
    """
    check_ids("(b, q)", target_in=batch.target_in)
    if len(batch.target_in) != len(batch.source):
        raise ValueError(
            f"target_in: got {len(batch.target_in)} sentences, wanted {len(batch.source)}, "
            f"those of source"
        )


def check_asked(batch: Batch | CaptionBatch) -> None:
    """Refuse a batch over whose target no loss can be averaged.

    Raises:
        TypeError: target ids that are no integers, or a mask that is not boolean.
        ValueError: other shapes than that of `target_in`, or a mask without a token.
    """
    check_ids("(b, q)", target_in=batch.target_in, target_out=batch.target_out)
    mask, wanted = batch.target_mask, tuple(batch.target_in.shape)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"target_mask: got {came}, wanted bool, True where a token stands")
    for name, tensor in (("target_out", batch.target_out), ("target_mask", mask)):
        if tuple(tensor.shape) != wanted:
            raise ValueError(
                f"{name}: got shape {tuple(tensor.shape)}, wanted {wanted}, that of target_in"
            )
    if not bool(mask.any()):
        raise ValueError("target_mask: got no token, wanted at least one to average over")


def check_smoothing(label_smoothing: float) -> None:
    """Refuse what is no share of a probability.

    Raises:
        TypeError: not a number.
        ValueError: below 0 or above 1.

    >>> check_smoothing(1.5)
    Traceback (most recent call last):
    ValueError: label_smoothing: got 1.5, wanted from 0 to 1
    """
    if isinstance(label_smoothing, bool) or not is_number(label_smoothing):
        raise TypeError(f"label_smoothing: got {type(label_smoothing).__name__}, wanted a number")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing: got {label_smoothing}, wanted from 0 to 1")


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
