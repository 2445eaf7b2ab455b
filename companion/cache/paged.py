"""Keys and values in blocks that are handed out on demand."""

from __future__ import annotations

import torch
from torch import Tensor

from companion.cache.equal_lengths import EqualLengths
from companion.contracts import contract


class BlockPool:
    """Memory for the keys and values of many sequences, cut into blocks of a few tokens each.

    Args:
        num_blocks: how many blocks there are.
        block_size: tokens a block.
        num_kv_heads: number of key and value heads g.
        head_dim: width d of a key and of a value.
        dtype: what it holds; None means torch's default.

    Attributes:
        memory: (2, blocks, g, block size, d), keys and then values.
        users: (blocks,) how many sequences have each block in their table.

    >>> BlockPool(num_blocks=6, block_size=4, num_kv_heads=2, head_dim=3).free
    6
    """

    @contract(
        num_blocks=">= 1",
        block_size=">= 1",
        num_kv_heads=">= 1",
        head_dim=">= 1",
    )
    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        num_kv_heads: int,
        head_dim: int,
        *,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.block_size = block_size
        self.memory = torch.zeros(
            2, num_blocks, num_kv_heads, block_size, head_dim, dtype=dtype
        )
        self.users = [0] * num_blocks

    @property
    def free(self) -> int:
        """How many blocks no sequence has."""
        return self.users.count(0)

    def take(self) -> int:
        """Return the number of a free block, which has a user from now on.

        Raises:
            ValueError: none is free.
        """
        if not self.free:
            raise ValueError(
                f"pool: got 0 free blocks of {len(self.users)}, wanted at least 1"
            )
        block = self.users.index(0)
        self.users[block] = 1
        return block


class PagedCache(EqualLengths):
    """Keep keys and values of one sequence in blocks, as PagedAttention does (Kwon et al., 2023).

    A table says which block of the pool has the tokens 0 to s - 1, which has s to 2s - 1, and so
    on, where s is the block size. A block is taken when its first token comes, so at most s - 1
    slots of a sequence are empty.

    Args:
        pool: where its blocks come from; all sequences of a pool share them.

    Attributes:
        table: the numbers of its blocks, in the order of its tokens.

    >>> cache = PagedCache(BlockPool(num_blocks=6, block_size=4, num_kv_heads=2, head_dim=3))
    >>> keys, values = cache.update(torch.ones(1, 2, 5, 3), torch.ones(1, 2, 5, 3))
    >>> keys.shape, cache.table, cache.pool.free
    (torch.Size([1, 2, 5, 3]), [0, 1], 4)
    """

    def __init__(self, pool: BlockPool) -> None:
        _, _, heads, _, width = pool.memory.shape
        super().__init__(
            (1, heads, width), pool.memory.dtype, pool.memory.device
        )
        self.pool = pool
        self.table: list[int] = []

    @contract(
        matching="pool.memory", key="batch_size num_kv_heads n head_dim",
        value="batch_size num_kv_heads n head_dim",
    )  # fmt: skip
    def update(
        self, key: Tensor, value: Tensor, *, lengths: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Store the next tokens, and return keys and values of all tokens so far, (1, g, k, d).

        Args:
            lengths: None, as there is one sequence.

        Raises:
            ValueError: the pool has too few free blocks.
        """
        size = self.pool.block_size
        wanted = -(-(self.length + key.shape[2]) // size) - len(self.table)
        if lengths is None and wanted > self.pool.free:
            raise ValueError(
                f"pool: got {self.pool.free} free blocks, wanted {wanted} for {key.shape[2]} tokens"
            )
        positions = self._count(key, lengths)
        for position in range(positions.start, positions.stop):
            entry, slot = divmod(position, size)
            if entry == len(self.table):
                self.table.append(self.pool.take())
            new = position - positions.start
            both = torch.stack((key[0, :, new], value[0, :, new]))
            self.pool.memory[:, self.table[entry], :, slot] = both
        return self._gathered()

    def fork(self) -> PagedCache:
        """Return a sequence that has begun with the same tokens and shares its full blocks.

        The last block is copied if it is not full, because the two will write into it.
        """
        other = PagedCache(self.pool)
        other.length = self.length
        full, rest = divmod(self.length, self.pool.block_size)
        other.table = self.table[:full]
        for block in other.table:
            self.pool.users[block] += 1
        if rest:
            other.table.append(self.pool.take())
            self.pool.memory[:, other.table[-1]] = self.pool.memory[
                :, self.table[-1]
            ]
        return other

    def release(self) -> None:
        """Forget all tokens, and give the blocks back."""
        for block in self.table:
            self.pool.users[block] -= 1
        self.table, self.length = [], 0
        self.changes += 1

    def _gathered(self) -> tuple[Tensor, Tensor]:
        """Return the tokens in their order, wherever their blocks lie."""
        # (2, blocks of the table, g, s, d).
        blocks = self.pool.memory[:, self.table]
        rows = blocks.transpose(1, 2).flatten(2, 3)[:, None, :, : self.length]
        return rows[0], rows[1]
