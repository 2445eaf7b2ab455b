"""One call of attention whose text is cut over ranks: what all of them must agree about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.distributed import ProcessGroup

from companion.parallel.layouts import Layout, Runs, count_of, runs_of
from companion.parallel.ranks import (
    Group,
    check_alike,
    check_lengths,
    place_in,
    ranks_of,
    told_by_all,
)

SHAPES: dict[str, Any] = {
    "query": "...h q d", "key": "...g k d", "value": "...g k v", "attn_mask": "mask: ~... ~q _",
    "sinks": "~...", "d": ">= 1", "softcap": "> 0", "enable_gqa": "g divides h", "left": ">= 0",
    "right": ">= 0",
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """What is the same on every rank.

    Attributes:
        group: the ranks.
        rank: this one.
        size: how many there are.
        queries: the positions of each rank's queries.
        keys: the positions of each rank's keys.
        options: what attention is told: scale, enable_gqa and softcap.
        left: keys allowed before a query's own position.
        right: keys allowed after it.
        offset: keys before the first query.
    """

    group: ProcessGroup
    rank: int
    size: int
    queries: list[Runs]
    keys: list[Runs]
    options: dict[str, Any]
    left: int | None
    right: int | None
    offset: int

    @property
    def k_len(self) -> int:
        """How many keys all ranks have."""
        return sum(map(count_of, self.keys))


def agreed(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, is_causal: bool,
    options: dict[str, Any], offset: int, left: int | None, right: int | None, layout: Layout,
    group: Group,
) -> Call:  # fmt: skip
    """Return the call, once all ranks have said that they make the same one."""
    members = ranks_of(group)
    rank, size = place_in(members)
    right = 0 if is_causal else right
    same = {
        **{n: _outline(x) for n, x in (("query", query), ("key", key), ("value", value))},
        "options": [*options.values(), offset, left, right], "layout": layout,
        "attn_mask": None if attn_mask is None else [str(attn_mask.dtype), attn_mask.shape[-1]],
    }  # fmt: skip
    notes = told_by_all(
        members, query.device, **same, q=query.shape[-2], k=key.shape[-2]
    )
    check_alike(notes, *same)
    lengths = ([note["q"] for note in notes], [note["k"] for note in notes])
    queries, keys = (runs_of(sum(one), size, layout) for one in lengths)
    for name, got, runs in zip(
        ("query", "key"), lengths, (queries, keys), strict=True
    ):
        check_lengths(name, got, list(map(count_of, runs)), layout)
    _check_axes(query, key, value, attn_mask, options["enable_gqa"], sum(lengths[1]))  # fmt: skip
    return Call(
        members, rank, size, queries, keys, options, left, right, offset
    )


def _outline(x: Tensor) -> list[Any]:
    """Return a shape without its length, and the dtype."""
    return [*x.shape[:-2], "n", x.shape[-1], str(x.dtype)]


def _check_axes(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, shared: bool, k_len: int
) -> None:  # fmt: skip
    """Refuse leading axes that would be stretched, and a mask of other keys than all."""
    for name, x in (("key", key), ("value", value)):
        wanted = (*query.shape[:-3], x.shape[-3] if shared else query.shape[-3])  # fmt: skip
        if x.shape[:-2] != wanted or x.dtype != query.dtype:
            raise ValueError(
                f"{name}: got {x.dtype} with leading axes {tuple(x.shape[:-2])}, "
                f"wanted {query.dtype} with {wanted}, as in query"
            )
    if mask is not None and mask.shape[-1] != k_len:
        raise ValueError(
            f"attn_mask: got shape {tuple(mask.shape)}, wanted (..., {k_len}): a column for "
            "every key of all ranks, in the order of the text"
        )


def chosen(mask: Tensor | None, rows: slice, columns: slice) -> Tensor | None:
    """Return the part of a mask (..., q or 1, k) for some queries and keys."""
    if mask is None or mask.ndim == 1 or mask.shape[-2] == 1:
        return None if mask is None else mask[..., columns]
    return mask[..., rows, columns]


def nothing(query: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Return output and log-sum-exp of queries that have seen no key, in at least float32."""
    wide = torch.promote_types(query.dtype, torch.float32)
    output = query.new_zeros((*query.shape[:-1], width), dtype=wide)
    return output, query.new_full(query.shape[:-1], -torch.inf, dtype=wide)
