"""Keys and values in eight bits a number."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.cache.equal_lengths import EqualLengths
from companion.contracts import contract

LEVELS = 127
"""Steps on either side of zero that eight bits can tell apart."""


class EightBitCache(EqualLengths):
    """Keep keys and values in eight bits a number, with one scale for each head of each token.

    A vector is divided by its scale, its largest number over 127, and rounded to whole numbers. So
    no number is off by more than half a scale.

    Args:
        batch_size: number of sequences b.
        num_kv_heads: number of key and value heads g.
        max_len: most tokens in a sequence.
        head_dim: width d of a key and of a value.
        dtype: of what goes in and comes out; None means torch's default.

    >>> cache = EightBitCache(batch_size=1, num_kv_heads=1, max_len=8, head_dim=3)
    >>> key = torch.tensor([[[[1.27, -0.404, 0.0]]]])
    >>> cache.update(key, key)[0]
    tensor([[[[ 1.2700, -0.4000,  0.0000]]]])
    """

    @contract(
        batch_size=">= 1", num_kv_heads=">= 1", max_len=">= 1", head_dim=">= 1"
    )
    def __init__(
        self,
        batch_size: int,
        num_kv_heads: int,
        max_len: int,
        head_dim: int,
        *,
        dtype: torch.dtype | None = None,
    ) -> None:
        shape = batch_size, num_kv_heads, head_dim
        slots = 2, batch_size, num_kv_heads, max_len
        self._like = torch.zeros(0, dtype=dtype)
        # In sixteen bits, the scale of a small vector would lose its digits.
        wide = torch.promote_types(self._like.dtype, torch.float32)
        self._scale = torch.zeros(*slots, 1, dtype=wide)
        self._levels = torch.zeros(*slots, head_dim, dtype=torch.int8)
        super().__init__(shape, self._like.dtype, self._scale.device)

    @property
    def max_len(self) -> int:
        """Most tokens in a sequence."""
        return self._levels.shape[3]

    @property
    def nbytes(self) -> int:
        """Bytes of its memory, scales included."""
        return self._levels.nbytes + self._scale.nbytes

    @contract(
        matching="_like", key="batch_size num_kv_heads n head_dim",
        value="batch_size num_kv_heads n head_dim",
    )  # fmt: skip
    def update(
        self, key: Tensor, value: Tensor, *, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Store the next tokens rounded, and return all of them as they were stored.

        Args:
            lengths: None, as no sequence is padded.

        Raises:
            ValueError: more tokens than max_len, or a number that is not finite.
        """
        if self.length + key.shape[2] > self.max_len:
            raise ValueError(
                f"key: got {key.shape[2]} tokens after {self.length}, "
                f"wanted at most {self.max_len} in all, the cache's max_len"
            )
        both = torch.stack((key, value)).to(self._scale.dtype)
        scale = both.abs().amax(-1, keepdim=True) / LEVELS
        if not scale.isfinite().all():
            raise ValueError(
                "key, value: got inf or nan, wanted numbers that eight bits can hold"
            )
        new = self._count(key, lengths)
        self._scale[:, :, :, new] = scale
        whole = torch.where(scale > 0, both / scale, 0.0).round()
        levels = whole.clamp(-LEVELS, LEVELS).to(torch.int8)
        self._levels[:, :, :, new] = levels
        seen = slice(0, self.length)
        stored = self._levels[:, :, :, seen] * self._scale[:, :, :, seen]
        keys, values = stored.to(self.dtype)
        return keys, values
