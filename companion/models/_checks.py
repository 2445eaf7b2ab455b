"""What contracts cannot say: rules over the tensors inside of a batch, or of a decoder's state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from companion.contracts import contract


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
