"""Where fast kernels take the calls of a definition, and how to turn them off.

A definition says what is computed; a kernel computes the same, faster, for some of the calls.
Those for torch are in `companion.torch_fused`, which is loaded when the first tensor comes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

from companion.arrays import is_torch

F = TypeVar("F", bound=Callable[..., Any])


class _Thread(threading.local):
    definitions_only = False


_thread = _Thread()


@contextmanager
def definitions() -> Iterator[None]:
    """Run the definitions alone in this thread, to compare a kernel with what it should compute.

    >>> import torch
    >>> from companion import tiled_attention
    >>> x = torch.ones(1, 2, 3, 4)
    >>> with definitions():
    ...     output = tiled_attention(x, x, x)
    >>> torch.equal(output, x)
    True
    """
    before, _thread.definitions_only = _thread.definitions_only, True
    try:
        yield
    finally:
        _thread.definitions_only = before


def only_definitions() -> bool:
    """Say whether this thread is inside `with definitions():`.

    >>> only_definitions()
    False
    """
    return _thread.definitions_only


def accelerated(definition: F) -> F:
    """Ask torch's kernel before a definition is run on tensors."""
    kernel: Callable[..., Any] | None = None

    @wraps(definition)
    def fastest(*args: Any, **kwargs: Any) -> Any:
        nonlocal kernel
        first = args[0] if args else next(iter(kwargs.values()))
        if is_torch(first) and not _thread.definitions_only:
            if kernel is None:
                from companion import torch_fused

                kernel = getattr(torch_fused, definition.__name__)
            result = kernel(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return definition(*args, **kwargs)

    return fastest  # type: ignore[return-value]
