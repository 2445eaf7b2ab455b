"""Where fast kernels take the calls of a definition, and how to turn them off.

A definition says what is computed; a kernel computes the same, faster, for some of the calls.
`companion.kernels` lists them, and loads those of a definition when its first tensor comes.
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


def accelerated(definition: F) -> F:
    """Ask the kernels for torch before running a definition on its tensors."""
    name = definition.__name__
    kernels: list[Callable[..., Any]] = []

    @wraps(definition)
    def fastest(*args: Any, **kwargs: Any) -> Any:
        first = args[0] if args else next(iter(kwargs.values()))
        if not _thread.definitions_only and is_torch(first):
            if not kernels:
                from companion.kernels import kernels_of

                kernels.extend(kernels_of(name))
            for kernel in kernels:
                result = kernel(*args, **kwargs)
                if result is not NotImplemented:
                    return result
        return definition(*args, **kwargs)

    return fastest  # type: ignore[return-value]
