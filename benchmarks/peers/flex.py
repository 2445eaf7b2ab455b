"""FlexAttention (He et al., 2024), compiled: on the CPU it takes a C++ compiler and no gradient."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

Allowed = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""From batch, head, query and key, whether the query may attend to the key."""


def causal(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Allow what came before."""
    return query >= key


def window(left: int) -> Allowed:
    """Allow the query's own position and `left` keys before it."""

    def allowed(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (query >= key) & (query - key <= left)

    return allowed


def compiled(given: Sequence[Tensor], allowed: Allowed | None) -> Callable[[], Any] | str:
    """Return the compiled call on query, key and value; where it does not compile, the reason."""
    query, key, value = given
    n = query.shape[-2]
    try:
        # Unlike the call, the mask takes the device for a GPU unless told.
        blocks = None if allowed is None else create_block_mask(allowed, None, None, n, n, "cpu")
        torch._dynamo.reset()  # or it takes the second length for a reason to compile for any
        attend = torch.compile(flex_attention)
        attend(query, key, value, block_mask=blocks)
    except Exception as problem:  # whatever the compiler or the tool chain may raise
        return f"does not compile: {str(problem).splitlines()[0][:80]}"
    return lambda: attend(query, key, value, block_mask=blocks)
