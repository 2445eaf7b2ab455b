"""What contracts cannot say: what the tensors of a batch or of a decoder's state must be."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def check_batch(batch: Any) -> None:
    """Refuse a batch whose target cannot be read beside its source."""
    source, target_in = _parts(batch, "source", "target_in")
    _check_ids(source=source, target_in=target_in)


def check_targets(batch: Any) -> None:
    """Refuse a batch over whose target no loss can be averaged."""
    target_in, target_out, mask = _parts(
        batch, "target_in", "target_out", "target_mask"
    )
    _check_ids(target_in=target_in, target_out=target_out)
    for name, part in (("target_out", target_out), ("target_mask", mask)):
        if part.shape != target_in.shape:
            shape, wanted = tuple(part.shape), tuple(target_in.shape)
            raise ValueError(
                f"{name}: got shape {shape}, wanted {wanted} as in target_in"
            )
    if mask.dtype != torch.bool:
        raise TypeError(
            f"target_mask: got dtype {mask.dtype}, wanted a boolean dtype"
        )
    if not mask.any():
        raise ValueError(
            "target_mask: got no token, wanted at least one to average over"
        )


def check_rows(name: str, given: Tensor, rows: Tensor) -> None:
    """Refuse an argument, (b,), that has not one number for every row of a state.

    Args:
        name: of the argument.
        given: the argument.
        rows: of the state, one row a sequence.
    """
    if len(given) != len(rows):
        raise ValueError(
            f"{name}: got b = {len(given)} in shape {tuple(given.shape)}, wanted {len(rows)} as "
            "in state"
        )


def _parts(batch: Any, *names: str) -> list[Tensor]:
    if not all(hasattr(batch, name) for name in names):
        came = type(batch).__name__
        raise TypeError(
            f"batch: got {came}, wanted one that has {', '.join(names)}"
        )
    return [getattr(batch, name) for name in names]


def _check_ids(**ids: Tensor) -> None:
    """Refuse what is not a matrix of ids with at least one column, or another number of rows."""
    first = next(iter(ids))
    for name, x in ids.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}: got {type(x).__name__}, wanted a tensor")
        if x.dtype not in (torch.int32, torch.int64):
            wanted = "32- or 64-bit integers, the ids of tokens"
            raise TypeError(f"{name}: got dtype {x.dtype}, wanted {wanted}")
        if x.ndim != 2 or not x.shape[1]:
            raise ValueError(
                f"{name}: got shape {tuple(x.shape)}, wanted (b, n), n at least 1"
            )
        if len(x) != len(ids[first]):
            raise ValueError(
                f"{name}: got b = {len(x)} in shape {tuple(x.shape)}, wanted {len(ids[first])} "
                f"as in {first}"
            )
