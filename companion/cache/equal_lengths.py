"""Positions of the keys in a cache whose sequences are equally long."""

from __future__ import annotations

import torch
from torch import Tensor


class EqualLengths:
    """What attention asks of any cache about positions: slots are positions, and nothing is padded.

    The caches that are made of it stand where a `KVCache` without a window can stand, for
    sequences of equal length.

    Attributes:
        batch_size: number of sequences b.
        num_kv_heads: number of key and value heads g.
        head_dim: width d of a key.
        value_dim: width of a value, which is d, too.
        dtype: of the keys and values that go in and come out.
        device: where they are.
        length: number of tokens in each sequence.
        changes: how often it was updated.
    """

    window = None

    def __init__(
        self,
        shape: tuple[int, int, int],
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self.batch_size, self.num_kv_heads, self.head_dim = shape
        self.value_dim = self.head_dim
        self.dtype, self.device = dtype, device
        self.length = self.changes = 0

    @property
    def offset(self) -> int:
        """Position of the next token."""
        return self.length

    @property
    def key_positions(self) -> Tensor:
        """Positions of the keys that `update` returned last, (k,)."""
        return torch.arange(self.length, device=self.device)

    def query_positions(self, q_len: int) -> Tensor:
        """Return the positions of the next q_len tokens, (q,)."""
        return self.length + torch.arange(q_len, device=self.device)

    def _count(self, key: Tensor, lengths: Tensor | None) -> slice:
        """Count new tokens, and return the positions that they take."""
        if lengths is not None:
            raise ValueError(
                "lengths: got some, wanted None: these sequences have equal lengths"
            )
        start = self.length
        self.length += key.shape[2]
        self.changes += 1
        return slice(start, self.length)
