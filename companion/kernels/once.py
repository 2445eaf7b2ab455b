"""Gradients that are computed by hand, and whose own gradients nobody computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

_Gradients = tuple[Tensor | None, ...]


def once_differentiable(
    instead: str,
) -> Callable[[Callable[..., _Gradients]], Callable[..., _Gradients]]:
    """Let the backward of a `torch.autograd.Function` be passed once, and refuse a second time.

    Torch's own decorator refuses only where the incoming gradient has a history. That of a sum has
    none: what a penalty on the gradient should add would then be missing, without a word.

    Args:
        instead: what to call where gradients of gradients are wanted, for the message.

    Returns:
        Decorator of a backward that saves tensors. Its gradients raise RuntimeError when they are
        differentiated.

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...
    ...     @staticmethod
    ...     @once_differentiable("x * x")
    ...     def backward(ctx, grad):
    ...         return (2 * ctx.saved_tensors[0] * grad,)
    >>> x = torch.ones(2, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    >>> slope.sum().backward()
    Traceback (most recent call last):
    RuntimeError: create_graph: got gradients of gradients, wanted the first ones alone; use x * x
    """

    def decorate(backward: Callable[..., _Gradients]) -> Callable[..., _Gradients]:
        @wraps(backward)
        def guarded(ctx: Any, *grads: Tensor | None) -> _Gradients:
            if not torch.is_grad_enabled():
                return backward(ctx, *grads)
            with torch.no_grad():  # on copies: what has a history is not to be changed in place
                results = backward(ctx, *(None if x is None else x.clone() for x in grads))
            sources = (*ctx.saved_tensors, *grads)
            refused: _Gradients = _Refusal.apply(results, instead, *sources)  # type: ignore[no-untyped-call]
            return refused

        return guarded

    return decorate


class _Refusal(torch.autograd.Function):
    """Pass gradients on, and raise where they are differentiated by what they were made from."""

    @staticmethod
    def forward(results: _Gradients, instead: str, *sources: Tensor | None) -> _Gradients:
        return results

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.instead = inputs[1]

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise RuntimeError(
            "create_graph: got gradients of gradients, wanted the first ones alone; "
            f"use {ctx.instead}"
        )
