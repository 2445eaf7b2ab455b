"""What travels between ranks: by formula, and counted while it does."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from companion.contracts import contract
from companion.parallel.by_heads import rank_slices
from companion.parallel.layouts import Layout, count_of, runs_of
from companion.parallel.ranks import Group, place_in, ranks_of


class Traffic(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Count the bytes that this rank sends, by operation, while torch sends them.

    What a sum of all ranks sends depends on how it is made: of `all_reduce` the bytes of the tensor
    are counted.

    Args:
        group: the ranks.

    Attributes:
        sent: bytes for each of "send", "all_to_all", "all_gather" and "all_reduce".
    """

    def __init__(self, group: Group = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.rank, self.size = place_in(ranks_of(group))
        self.sent: Counter[str] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Look at what torch is about to send, and let it go."""
        match func.name():
            case "c10d::send":
                self.sent["send"] += sum(x.nbytes for x in args[0])
            case "c10d::alltoall_base_":
                sizes = list(args[4])
                own = sizes[self.rank] * args[1].itemsize
                self.sent["all_to_all"] += args[1].nbytes - own
            case "c10d::allgather_":
                own = sum(x.nbytes for x in args[1])
                self.sent["all_gather"] += own * (self.size - 1)
            case "c10d::allreduce_":
                self.sent["all_reduce"] += sum(x.nbytes for x in args[0])
        return func(*args, **(kwargs or {}))


@contract(length=">= 0", size=">= 1", token_bytes=">= 0")
def ring_bytes(
    length: int, size: int, token_bytes: int, *, layout: Layout = "balanced",
    backward: bool = False,
) -> list[int]:  # fmt: skip
    """Return the bytes of keys and values that each rank sends in `ring_attention`.

    A rank sends the parts of all ranks but the next one's. Backward sends these again, and the
    gradients of all parts: the last step brings them home. For numbers of 16 bits the gradients
    have 32.

    Args:
        length: keys of all ranks.
        size: number of ranks.
        token_bytes: of a token's keys and values, b g (d + v) numbers.
        layout: how the text is cut.
        backward: count the backward pass instead.

    >>> ring_bytes(8, 4, 10), ring_bytes(8, 4, 10, backward=True)
    ([60, 60, 60, 60], [140, 140, 140, 140])
    """
    if size == 1:
        return [0]
    counts = [count_of(runs) for runs in runs_of(length, size, layout)]
    parts = [length - counts[(rank + 1) % size] for rank in range(size)]
    return [token_bytes * (part + length * backward) for part in parts]


@contract(
    length=">= 0", size=">= 1", head_bytes=">= 0", heads=">= 1", groups=">= 1"
)
def head_parallel_bytes(
    length: int, size: int, head_bytes: int, *, heads: int, groups: int,
    layout: Layout = "balanced", backward: bool = False,
) -> list[int]:  # fmt: skip
    """Return the bytes that each rank sends in `head_parallel_attention`.

    Queries, keys and values go to the ranks that have their heads, and outputs come back; backward
    their gradients take the same ways in the other direction.

    Args:
        length: queries of all ranks, and keys.
        size: number of ranks.
        head_bytes: of one head's vector of one token, b d numbers, where v = d.
        heads: query heads h.
        groups: key heads g.
        layout: how the text is cut.
        backward: count the backward pass instead.

    >>> head_parallel_bytes(8, 4, 10, heads=4, groups=4)
    [240, 240, 240, 240]
    """
    counts = [count_of(runs) for runs in runs_of(length, size, layout)]
    sent = []
    for count, share in zip(counts, rank_slices(groups, size), strict=True):
        key = share.stop - share.start
        query = key * heads // groups
        there = heads - query + (0 if backward else 2 * (groups - key))
        back = query + (2 * key if backward else 0)
        sent.append(head_bytes * (count * there + (length - count) * back))
    return sent


@contract(size=">= 1", rows=">= 0", value_dim=">= 1", itemsize=">= 1")
def split_bytes(
    size: int, rows: int, value_dim: int, *, itemsize: int = 4
) -> int:
    """Return the bytes that a rank sends in `split_attention`: none of them depends on the cache.

    Args:
        size: number of ranks.
        rows: b h q.
        value_dim: width v of a value.
        itemsize: bytes of a number, at least 4.

    >>> split_bytes(4, 9, 64)
    7020
    """
    return (size - 1) * rows * (value_dim + 1) * itemsize
