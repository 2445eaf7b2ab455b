"""Steps of attention in which one query after another meets the same keys and the same memory.

Autograd makes, at every step, a gradient as large as the memory, and then adds it to those of the
other steps. Here each step hands on what it has used to the next. Going backward, the sum of the
gradients comes back the same way, and each step adds its share to it in place. So the result of
one step must go into the next, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from companion.kernels.once import once_differentiable

ROOM = 2**18  # numbers at once: a megabyte of float32, which stays in the cache


def plainly(tensor: Tensor) -> bool:
    """Say whether autograd must see every operation: torch compiles, or chooses the dtypes."""
    if torch.compiler.is_compiling() or tensor.is_meta:
        return True
    return torch.is_autocast_enabled(tensor.device.type)


def additive_score(query: Tensor, keys: Tensor, vector: Tensor) -> tuple[Tensor, Tensor]:
    """Score one projected query a sentence: vector . tanh(query + keys).

    The (b, k, hidden) array of tanh is never there as a whole, and made again for the gradients,
    both times as 2 sigmoid(2 x) - 1, which torch computes in a third of the time. Its rounding is
    that of a number near 1 even where the tanh is small: next to nothing in a sum over features.

    Args:
        query: (b, 1, hidden), projected.
        keys: (b, k, hidden), projected.
        vector: (hidden,).

    Returns:
        Scores (b, 1, k), and the keys for the next step.

    >>> query, keys = torch.zeros(1, 1, 2), torch.tensor([[[0.0, 0.0], [50.0, 50.0]]])
    >>> scores, keys = additive_score(query, keys, torch.ones(2))
    >>> scores
    tensor([[[0., 2.]]])
    """
    if plainly(query):
        return torch.tanh(query + keys)[:, None] @ vector, keys
    scores, handed = _AdditiveScore.apply(query, keys, vector)  # type: ignore[no-untyped-call]
    return scores, handed


def product(left: Tensor, matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Multiply rows by a matrix.

    Args:
        left: (rows, d), or a batch of them, (b, rows, d).
        matrix: (d, v), or (b, d, v).

    Returns:
        left @ matrix, and the matrix for the next step.

    >>> context, memory = product(torch.tensor([[0.25, 0.75]]), torch.tensor([[0.0], [4.0]]))
    >>> context
    tensor([[3.]])
    """
    if plainly(left):
        return left @ matrix, matrix
    result, handed = _Product.apply(left, matrix)  # type: ignore[no-untyped-call]
    return result, handed


class _AdditiveScore(torch.autograd.Function):
    @staticmethod
    def forward(query: Tensor, keys: Tensor, vector: Tensor) -> tuple[Tensor, Tensor]:
        wide = vector.to(_wide(keys))
        parts = [sigmoid @ wide for sigmoid, *_ in _sigmoids(query, keys)]
        scores = torch.cat(parts).mul_(2).sub_(wide.sum())
        return scores.to(keys.dtype)[:, None], keys.view_as(keys)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)

    @staticmethod
    @once_differentiable("AdditiveAttention's forward")
    def backward(
        ctx: Any, grad: Tensor | None, total: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        if grad is None:
            return None, total, None
        query, keys, vector = ctx.saved_tensors
        total = torch.zeros_like(keys) if total is None else total
        grad, wide = grad.to(_wide(keys)), 4 * vector.to(_wide(keys))
        grad_query, grad_vector = torch.empty_like(query, dtype=grad.dtype), -grad.sum()
        for sigmoid, *rows in _sigmoids(query, keys, grad, total, grad_query):
            grads, totals, grad_queries = rows
            grad_vector = grad_vector + 2 * (grads @ sigmoid).sum((0, 1))
            slopes = torch.ops.aten.sigmoid_backward.grad_input(
                grads.mT.expand_as(sigmoid), sigmoid, grad_input=sigmoid
            )
            totals.addcmul_(slopes, wide)
            torch.sum(slopes, 1, keepdim=True, out=grad_queries)
        grad_query = grad_query.mul_(wide).to(query.dtype)
        return grad_query, total, grad_vector.to(vector.dtype)


def _sigmoids(query: Tensor, keys: Tensor, *others: Tensor) -> Iterator[list[Tensor]]:
    """Go through some sentences at a time: sigmoid(2 (query + keys)), in one room, and others."""
    together = max(1, ROOM // keys[0].numel())
    room = torch.empty_like(keys[:together], dtype=_wide(keys))
    for queries, known, *parts in zip(
        *(torch.split(x, together) for x in (2 * query, keys, *others)), strict=True
    ):
        doubled = torch.add(queries, known, alpha=2, out=room[: len(known)])
        yield [doubled.sigmoid_(), *parts]


def _wide(tensor: Tensor) -> torch.dtype:
    """Return the dtype that half precision is summed in, or the tensor's own."""
    return torch.promote_types(tensor.dtype, torch.float32)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(left: Tensor, matrix: Tensor) -> tuple[Tensor, Tensor]:
        return left @ matrix, matrix.view_as(matrix)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.set_materialize_grads(False)

    @staticmethod
    @once_differentiable("AdditiveAttention's forward")
    def backward(
        ctx: Any, grad: Tensor | None, total: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        if grad is None:
            return None, total
        left, matrix = ctx.saved_tensors
        if total is None:
            total = left.mT @ grad
        else:
            (total.addmm_ if total.ndim == 2 else total.baddbmm_)(left.mT, grad)
        return grad @ matrix.mT, total
