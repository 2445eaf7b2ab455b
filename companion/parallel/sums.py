"""Where what is the same on all ranks meets what is not: values one way, gradients the other."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup

from companion.parallel.ranks import all_answer


def entered(x: Tensor, group: ProcessGroup) -> Tensor:
    """Return x, which all ranks have; its gradient is the sum of those that they find.

    What has entered this group before is returned as it is: its gradient is to be added up once.
    """
    before: Any = x.grad_fn
    entrance: Any = _Entered._backward_cls
    if isinstance(before, entrance) and before.group is group:
        return x
    same: Tensor = _Entered.apply(x, group)  # type: ignore[no-untyped-call]
    return same


def summed(x: Tensor, group: ProcessGroup) -> Tensor:
    """Return the sum of what the ranks have, on all of them; each gets the sum's gradient."""
    total: Tensor = _Summed.apply(x, group)  # type: ignore[no-untyped-call]
    return total


def _all_summed(x: Tensor, group: ProcessGroup) -> Tensor:
    total = x.clone(memory_format=torch.contiguous_format)
    with all_answer(group):
        dist.all_reduce(total, group=group)
    return total


class _Entered(torch.autograd.Function):
    """What Megatron-LM calls f."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: ProcessGroup) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Summed.apply(grad, ctx.group), None  # type: ignore[no-untyped-call]


class _Summed(torch.autograd.Function):
    """What Megatron-LM calls g."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: ProcessGroup) -> Tensor:
        ctx.group = group
        return _all_summed(x, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _Entered.apply(grad, ctx.group), None  # type: ignore[no-untyped-call]
