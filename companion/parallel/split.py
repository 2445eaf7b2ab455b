"""Attention to a cache that is cut over ranks: each looks at its part, and one merge joins them."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup

from companion.contracts import contract
from companion.parallel.ranks import (
    Group,
    all_answer,
    check_alike,
    place_in,
    ranks_of,
    told_by_all,
)
from companion.parallel.sums import entered
from companion.tiled import merge_attention, tiled_attention_with_lse


@contract(
    query="...h q d", key="...g k d", value="...g k v", attn_mask="mask: ~... ~q k", sinks="~...",
    d=">= 1", softcap="> 0", enable_gqa="g divides h",
)  # fmt: skip
def split_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, *,
    scale: float | None = None, enable_gqa: bool = False, softcap: float | None = None,
    sinks: Tensor | None = None, group: Group = None,
) -> Tensor:  # fmt: skip
    """Attend to keys of which every rank has some, in any order, by queries that all have.

    Flash-decoding (Dao et al., 2023) does it inside of one device: in decoding there is one query,
    and its keys are all the work. Every rank sends its output and log-sum-exp to all others, once;
    how long the cache is makes no difference to what travels. A causal mask would need to know
    where the keys are in the text: give the part of it that belongs to them as `attn_mask`.

    Args:
        query: the same on every rank.
        key: of this rank; it may have none.
        value: of this rank.
        attn_mask: boolean, True = may attend, or floating, added to the scores: a column for
            each of this rank's keys.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).
        softcap: bound on the scores, softcap * tanh(scores / softcap), before the mask.
        sinks: logits that join the denominators of their heads, (h,), the same on every rank.
        group: the ranks.

    Returns:
        (..., h, q, v), the same on every rank. Its gradient is taken to be the same as well, as
        where all ranks compute one loss.

    Raises:
        ValueError: calls that differ between ranks.
        RuntimeError: a rank that does not answer within the timeout of the group.
    """
    members = ranks_of(group)
    same = {
        "query": [*query.shape, str(query.dtype)], "value": value.shape[-1],
        "options": [scale, enable_gqa, softcap, sinks is None],
    }  # fmt: skip
    check_alike(told_by_all(members, query.device, **same), *same)
    query = entered(query, members)
    output, lse = tiled_attention_with_lse(
        query, key, value, attn_mask, scale=scale, enable_gqa=enable_gqa, softcap=softcap
    )  # fmt: skip
    found = torch.cat((output.to(lse.dtype), lse[..., None]), -1)
    parts = _Gathered.apply(found, members)  # type: ignore[no-untyped-call]
    states = [(part[..., :-1], part[..., -1]) for part in parts]
    if sinks is not None:
        silent = entered(sinks, members).to(lse.dtype)[..., None]
        states.append((torch.zeros_like(states[0][0]), silent.expand(lse.shape)))  # fmt: skip
    output, lse = states[0]
    for other in states[1:]:
        output, lse = merge_attention(output, lse, *other)
    return output.to(query.dtype)


class _Gathered(torch.autograd.Function):
    """Give every rank what all have; its own part gets the gradient that all of them find."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: ProcessGroup) -> Tensor:
        ctx.rank, size = place_in(group)
        parts = [torch.empty_like(x) for _ in range(size)]
        with all_answer(group):
            dist.all_gather(parts, x.contiguous(), group=group)
        return torch.stack(parts)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad[ctx.rank], None
