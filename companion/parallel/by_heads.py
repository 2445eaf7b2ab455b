"""Attention whose heads are shared out: every rank has the whole text for some of them."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed import ProcessGroup

from companion.contracts import contract
from companion.parallel.calls import SHAPES, Call, agreed
from companion.parallel.layouts import Layout, Runs, count_of
from companion.parallel.ranks import Group, all_answer
from companion.tiled import tiled_attention


@contract(**SHAPES)
def head_parallel_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
    offset: int = 0, softcap: float | None = None, sinks: Tensor | None = None,
    left: int | None = None, right: int | None = None, layout: Layout = "balanced",
    group: Group = None,
) -> Tensor:  # fmt: skip
    """Exchange tokens for heads, attend, and exchange them back (Jacobs et al., 2023).

    An all-to-all before attention gives every rank all tokens of some heads, one after it gives
    every rank its own tokens of all heads. Between them attention is an ordinary one, so that any
    layout gives all ranks equal work if their number divides that of the heads.

    The arguments are those of `ring_attention`. A mask has one row for all queries, (..., 1, k),
    and is the same on every rank. The gradients at mask and sinks are those of this rank's heads:
    add up those of all.

    Returns:
        (..., h, q, v), of this rank's queries; those that may attend to no key get zeros.

    Raises:
        ValueError: fewer key heads than ranks, a mask with rows, calls that differ between ranks,
            or lengths that the layout does not give.
        RuntimeError: a rank that does not answer within the timeout of the group.
    """
    options: dict[str, Any] = {
        "scale": scale,
        "enable_gqa": enable_gqa,
        "softcap": softcap,
    }
    call = agreed(
        query, key, value, attn_mask, is_causal, options, offset, left, right, layout, group
    )  # fmt: skip
    groups = key.shape[-3]
    if groups < call.size:
        raise ValueError(
            f"key: got {groups} heads, wanted at least {call.size}, one for every rank; "
            "`ring_attention` has no such limit"
        )
    if (
        attn_mask is not None
        and attn_mask.ndim > 1
        and attn_mask.shape[-2] != 1
    ):
        raise ValueError(
            f"attn_mask: got shape {tuple(attn_mask.shape)}, wanted one row for all queries, "
            "(..., 1, k); `ring_attention` takes a row for each"
        )
    of_keys = rank_slices(groups, call.size)
    of_queries = rank_slices(groups, call.size, query.shape[-3] // groups)
    mine = of_queries[call.rank]
    if (
        attn_mask is not None
        and attn_mask.ndim > 2
        and attn_mask.shape[-3] > 1
    ):
        attn_mask = attn_mask[..., mine, :, :]
    output = tiled_attention(
        _to_heads(query, call, of_queries, call.queries),
        _to_heads(key, call, of_keys, call.keys),
        _to_heads(value, call, of_keys, call.keys),
        attn_mask, left=left, right=call.right, offset=offset, **options,
        sinks=None if sinks is None else sinks[mine],
    )  # fmt: skip
    return _to_tokens(output, call, of_queries, call.queries)


def rank_slices(heads: int, size: int, times: int = 1) -> list[slice]:
    """Return which heads each rank has, as equal as may be; each stands for `times` of them.

    >>> rank_slices(3, 2, times=3)
    [slice(0, 3, None), slice(3, 9, None)]
    """
    cuts = [heads * rank // size * times for rank in range(size + 1)]
    return [slice(*cuts[rank : rank + 2]) for rank in range(size)]


def _to_heads(
    x: Tensor, call: Call, heads: list[slice], tokens: list[Runs]
) -> Tensor:
    """Turn this rank's tokens of all heads into all tokens, in their order, of its heads."""
    mine = heads[call.rank]
    parts = _exchanged(call, [x[..., share, :, :] for share in heads], [
        (*x.shape[:-3], mine.stop - mine.start, count_of(runs), x.shape[-1]) for runs in tokens
    ])  # fmt: skip
    return torch.cat(parts, -2).index_select(-2, _places(tokens, x).argsort())


def _to_tokens(
    x: Tensor, call: Call, heads: list[slice], tokens: list[Runs]
) -> Tensor:
    """Turn all tokens of this rank's heads into its tokens of all heads."""
    counts = [count_of(runs) for runs in tokens]
    ordered = x.index_select(-2, _places(tokens, x))
    parts = _exchanged(call, list(torch.split(ordered, counts, -2)), [
        (*x.shape[:-3], share.stop - share.start, counts[call.rank], x.shape[-1]) for share in heads
    ])  # fmt: skip
    return torch.cat(parts, -3)


def _places(tokens: list[Runs], like: Tensor) -> Tensor:
    """Return the positions of the tokens of all ranks, one rank after the other."""
    places = [place for runs in tokens for run in runs for place in run]
    return torch.tensor(places, device=like.device)


def _exchanged(
    call: Call, sent: list[Tensor], shapes: list[tuple[int, ...]]
) -> list[Tensor]:
    """Send a part to each rank, and return those that come from them."""
    sizes = [torch.Size(shape).numel() for shape in shapes]
    flat = torch.cat([part.flatten() for part in sent])
    counts = [part.numel() for part in sent]
    come: Tensor = _AllToAll.apply(flat, counts, sizes, call.group)  # type: ignore[no-untyped-call]
    parts = zip(torch.split(come, sizes), shapes, strict=True)
    return [part.view(shape) for part, shape in parts]


class _AllToAll(torch.autograd.Function):
    """Send numbers to all ranks; their gradients come back."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, sent: list[int], come: list[int], group: ProcessGroup
    ) -> Tensor:  # fmt: skip
        ctx.way_back = come, sent, group
        received = x.new_empty(sum(come))
        with all_answer(group):
            dist.all_to_all_single(received, x.contiguous(), come, sent, group)
        return received

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return _AllToAll.apply(grad, *ctx.way_back), None, None, None  # type: ignore[no-untyped-call]
