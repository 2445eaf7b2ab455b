"""Batches of pictures, with captions or with labels."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from companion.contracts import contract


class CaptionBatch(NamedTuple):
    """Pictures and their captions: `b` scenes, `q` tokens a caption.

    Attributes:
        images: (b, 3, height, width) from 0 to 1.
        target_in: (b, q) what the decoder reads: `<bos>`, then the words.
        target_out: (b, q) what it must say: the words, then `<eos>`.
        target_mask: (b, q) boolean, True where `target_out` is a token and no padding.
    """

    images: Tensor
    target_in: Tensor
    target_out: Tensor
    target_mask: Tensor


class LabelledImages(NamedTuple):
    """Pictures of one thing each: images (b, channels, height, width) and labels (b,)."""

    images: Tensor
    labels: Tensor


Images = TypeVar("Images", CaptionBatch, LabelledImages)


@contract(batch_size=">= 1")
class ShuffledBatches(Generic[Images]):
    """An endless sequence of batches: `batches[step]` depends on the seed and the step alone.

    Every epoch goes through all rows once in an order of its own; the last batch of an epoch may
    be smaller.

    Args:
        rows: everything that is trained on, as one batch.
        batch_size: rows a batch.
        seed: decides the orders.

    >>> rows = LabelledImages(torch.zeros(3, 1, 8, 8), torch.arange(3))
    >>> batches = ShuffledBatches(rows, batch_size=2, seed=0)
    >>> sorted((*batches[4].labels.tolist(), *batches[5].labels.tolist()))
    [0, 1, 2]
    """

    def __init__(self, rows: Images, *, batch_size: int, seed: int) -> None:
        self._rows: Images = rows
        self._size, self._seed = batch_size, seed
        self._epoch: tuple[int, Tensor] = (-1, torch.empty(0))

    @property
    def per_epoch(self) -> int:
        """Number of batches in which every row is seen once."""
        return -(-len(self._rows.images) // self._size)

    def __getitem__(self, step: int) -> Images:
        if step < 0:
            raise IndexError(f"step: got {step}, wanted at least 0")
        epoch, number = divmod(step, self.per_epoch)
        if self._epoch[0] != epoch:
            # A seed of several numbers: neighbouring seeds share no order.
            order = np.random.default_rng([self._seed, epoch]).permutation(
                len(self._rows.images)
            )
            self._epoch = epoch, torch.from_numpy(order)
        chosen = self._epoch[1][
            number * self._size : (number + 1) * self._size
        ]
        return type(self._rows)(*(part[chosen] for part in self._rows))
