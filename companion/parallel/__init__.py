"""Attention over many devices: a text, the heads or a cache are split across the ranks of a group.

Every rank makes the same call with its own part, in ordinary tensors, and gradients come back to
the parts. Groups are those of `torch.distributed`: processes with gloo, or devices with nccl.
Before it attends, every rank tells the others in `NOTE` bytes what it was called with; where one
differs, all of them raise a `ValueError` that names it. Where one does not answer within the
timeout of the group, all others raise a `RuntimeError` that names it, two seconds later at most.
"""

import companion.needs_torch  # noqa: F401
from companion.parallel.by_heads import head_parallel_attention
from companion.parallel.layouts import Layout, positions_of, ring_pairs, shard
from companion.parallel.ranks import NOTE
from companion.parallel.ring import ring_attention
from companion.parallel.split import split_attention
from companion.parallel.tensor import (
    TensorParallelAttention,
    TensorParallelFeedForward,
    tensor_parallel,
)
from companion.parallel.traffic import (
    Traffic,
    head_parallel_bytes,
    ring_bytes,
    split_bytes,
)

__all__ = [
    "NOTE", "Layout", "TensorParallelAttention", "TensorParallelFeedForward", "Traffic",
    "head_parallel_attention", "head_parallel_bytes", "positions_of", "ring_attention",
    "ring_bytes", "ring_pairs", "shard", "split_attention", "split_bytes", "tensor_parallel",
]  # fmt: skip
