"""Three pairs of token ids, and batches of them with as much padding as you like."""

import torch
from torch import Tensor

from companion.data.batching import Batch

SOURCES = [[4, 5, 6, 7, 8], [9, 10], [11]]
TARGETS = [[4, 5], [6, 7, 8, 9, 10, 11], [12, 13, 14]]


def padded(rows: list[list[int]], width: int) -> Tensor:
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def make_batch(chosen: list[int], extra: int = 0) -> Batch:
    """A batch of the chosen pairs, with `extra` more places of padding than it needs."""
    sources, targets = [SOURCES[i] for i in chosen], [TARGETS[i] for i in chosen]
    k = max(map(len, sources)) + extra
    q = max(map(len, targets)) + 1 + extra
    lengths = torch.tensor([len(row) + 1 for row in targets])
    return Batch(
        padded(sources, k),
        torch.tensor([len(row) for row in sources]),
        padded([[1, *row] for row in targets], q),
        padded([[*row, 2] for row in targets], q),
        torch.arange(q) < lengths[:, None],
    )
