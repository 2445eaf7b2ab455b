"""The same values, fast: one file a kernel. What they compute is defined in the rooms above.

A kernel bears the name of the definition that it computes and takes its arguments; it returns the
result, or NotImplemented where it does not take the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Kernel = Callable[..., Any]


def kernels_of(definition: str) -> tuple[Kernel, ...]:
    """Load the kernels for the definition of a name, in the order in which they are asked.

    Each file is loaded when it is needed, by a statement, which torch.compile can follow.

    >>> [kernel.__module__ for kernel in kernels_of("tiled_attention")]
    ['companion.kernels.tiled_cpu']
    """
    match definition:
        case "scaled_dot_product_attention":
            from companion.kernels import fused

            return (fused.scaled_dot_product_attention,)
        case "tiled_attention":
            from companion.kernels import tiled_cpu

            return (tiled_cpu.tiled_attention,)
        case "through_blocks":
            from companion.kernels import single_token

            return (single_token.through_blocks,)
    raise ValueError(f"definition: got {definition!r}, wanted one that has a kernel")
