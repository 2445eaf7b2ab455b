"""Ring attention: every rank keeps its queries, and the keys and values of all travel past them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from companion.contracts import contract
from companion.parallel.calls import SHAPES, Call, agreed, chosen, nothing
from companion.parallel.layouts import Layout, Runs, count_of, meeting
from companion.parallel.ranks import Group, pass_on, wait_for
from companion.tiled import merge_attention, tiled_attention_with_lse


@contract(**SHAPES)
def ring_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    is_causal: bool = False, *, scale: float | None = None, enable_gqa: bool = False,
    offset: int = 0, softcap: float | None = None, sinks: Tensor | None = None,
    left: int | None = None, right: int | None = None, layout: Layout = "balanced",
    group: Group = None,
) -> Tensor:  # fmt: skip
    """Attend to the keys of all ranks, which pass them around in a ring (Liu et al., 2023).

    A rank gives its keys and values to the next one while it attends to those that it has, and
    merges what it finds through the log-sum-exps. It never holds more than three parts: its own,
    one that visits and one on the way. Backward goes around again: nothing of the other ranks is
    kept for it, and gradients travel with their keys.

    Args:
        query: of this rank's tokens.
        key: of this rank's tokens.
        value: of this rank's tokens.
        attn_mask: boolean, True = may attend, or floating, added to the scores: a row for each of
            this rank's queries, or one for all, and a column for every key of all ranks, in the
            order of the text.
        is_causal: allow key j for query i only if j <= i + offset, by their positions in the text.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).
        offset: keys before the first query of the text, one number.
        softcap: bound on the scores, softcap * tanh(scores / softcap), before the mask.
        sinks: logits that join the denominators of their heads, (h,), the same on every rank. The
            gradient is that of this rank's queries: add up those of all.
        left: keys allowed before a query's own position; None means all.
        right: keys allowed after it; None means all.
        layout: how the text is cut; `shard` cuts it so.
        group: the ranks.

    Returns:
        (..., h, q, v), of this rank's queries; those that may attend to no key get zeros.

    Raises:
        ValueError: calls that differ between ranks, or lengths that the layout does not give.
        RuntimeError: a rank that does not answer within the timeout of the group.
    """
    options = {"scale": scale, "enable_gqa": enable_gqa, "softcap": softcap}
    call = agreed(
        query, key, value, attn_mask, is_causal, options, offset, left, right, layout, group
    )  # fmt: skip
    output: Tensor = _Ring.apply(query, key, value, attn_mask, sinks, call)  # type: ignore[no-untyped-call]
    return output.to(query.dtype)


class _Ring(torch.autograd.Function):
    """Attend to all ranks' keys; backward attends to each part again, and weighs what it gives.

    A part with output o and log-sum-exp s has the share w = exp(s - s of all) in the output c. So
    of a gradient g it gets w g, and its log-sum-exp w g . (o - c).
    """

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, sinks: Any, call: Call
    ) -> Tensor:  # fmt: skip
        output, lse = nothing(query, value.shape[-1])
        if sinks is not None:
            lse = sinks.to(lse.dtype)[..., None].expand(lse.shape)
        for source, part in _around(call, key, value):
            keys, values = _apart(part, key, value, call.keys[source])
            found = _attend(query, keys, values, mask, call, source)
            output, lse = merge_attention(output, lse, *found)
        ctx.save_for_backward(query, key, value, mask, sinks, output, lse)
        ctx.call = call
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        query, key, value, mask, sinks, output, lse = ctx.saved_tensors
        call: Call = ctx.call
        lse = lse.where(lse > -torch.inf, 0.0)
        bias = mask is not None and ctx.needs_input_grad[3]
        local = [torch.zeros_like(query, dtype=grad.dtype)]
        if bias:
            local.append(torch.zeros_like(mask))
        carried = grad.new_zeros(key.numel() + value.numel())
        for turn, (source, part) in enumerate(_around(call, key, value)):
            given = (query, *_apart(part, key, value, call.keys[source]), mask)
            found = _gradients(given, bias, call, source, grad, output, lse)
            if found is not None:
                for total, one in zip(local, found[2:], strict=True):
                    total += one
                carried += torch.cat([one.flatten() for one in found[:2]])
            carried = _handed_on(call, carried, turn, key, value)
        of_key, of_value = _apart(carried, key, value, call.keys[call.rank])
        of_sinks = None
        if sinks is not None:  # a part whose output is zero
            silent = (sinks.to(lse.dtype)[..., None] - lse).exp()
            moved = -silent * (grad * output).sum(-1)
            of_sinks = moved.sum(-1).reshape(-1, *sinks.shape).sum(0)
        return (
            local[0].to(query.dtype), of_key.to(key.dtype), of_value.to(value.dtype),
            local[1] if bias else None, of_sinks, None,
        )  # fmt: skip


def _gradients(
    given: tuple[Tensor, Tensor, Tensor, Tensor | None], bias: bool, call: Call, source: int,
    grad: Tensor, output: Tensor, lse: Tensor,
) -> tuple[Tensor, ...] | None:  # fmt: skip
    """Return what one part gives at its key and value, at the query and the bias, if anything."""
    *three, mask = given
    query, key, value = (x.detach().requires_grad_() for x in three)
    inputs = [key, value, query]
    if bias and mask is not None:
        mask = mask.detach().requires_grad_()
        inputs.append(mask)
    with torch.enable_grad():
        found, own = _attend(query, key, value, mask, call, source)
    if not found.requires_grad:
        return None  # no query may attend to any of its keys
    share = (own.detach() - lse).exp()
    moved = share * (grad * (found.detach() - output)).sum(-1)
    return torch.autograd.grad(
        (found, own), inputs, (share[..., None] * grad, moved)
    )


def _attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, call: Call, source: int
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Attend to the keys of one rank: output and log-sum-exp, in at least float32."""
    found = [nothing(query[..., :0, :], value.shape[-1])]
    for rows, queries in _slices(call.queries[call.rank]):
        state = nothing(query[..., rows, :], value.shape[-1])
        for columns, keys in _slices(call.keys[source]):
            band = meeting(queries, keys, call.left, call.right, call.offset)
            if band is None:
                continue
            places = slice(keys.start, keys.stop, keys.step)
            output, lse = tiled_attention_with_lse(
                query[..., rows, :], key[..., columns, :], value[..., columns, :],
                chosen(mask, rows, places), **band._asdict(), **call.options,
            )  # fmt: skip
            state = merge_attention(*state, output.to(lse.dtype), lse)
        found.append(state)
    outputs, lses = zip(*found, strict=True)
    return torch.cat(outputs, -2), torch.cat(lses, -1)


def _slices(runs: Runs) -> Iterator[tuple[slice, range]]:
    """Yield where each run of positions is among the tokens of its rank, but for empty ones."""
    start = 0
    for run in runs:
        if run:
            yield slice(start, start + len(run)), run
        start += len(run)


def _around(
    call: Call, key: Tensor, value: Tensor
) -> Iterator[tuple[int, Tensor]]:
    """Yield keys and values of one rank after another, this one's first, each flat.

    The next ones are on their way while those that are here are used.
    """
    part = torch.cat((key.flatten(), value.flatten()))
    for turn in range(call.size):
        source = (call.rank - turn) % call.size
        if turn == call.size - 1:
            yield source, part
            return
        behind = count_of(call.keys[(source - 1) % call.size])
        coming = part.new_empty(behind * _numbers_of_a_token(key, value))
        works = pass_on(call.group, part, coming)
        yield source, part
        wait_for(call.group, works)
        part = coming


def _handed_on(
    call: Call, carried: Tensor, turn: int, key: Tensor, value: Tensor
) -> Tensor:
    """Send gradients on with the keys that they belong to, and return those that come."""
    if call.size == 1:
        return carried
    behind = count_of(call.keys[(call.rank - turn - 1) % call.size])
    coming = carried.new_empty(behind * _numbers_of_a_token(key, value))
    wait_for(call.group, pass_on(call.group, carried, coming, tag=1))
    return coming


def _numbers_of_a_token(key: Tensor, value: Tensor) -> int:
    """Return how many numbers the key and the value of one token have."""
    return key.shape[:-2].numel() * (key.shape[-1] + value.shape[-1])


def _apart(
    part: Tensor, key: Tensor, value: Tensor, runs: Runs
) -> tuple[Tensor, Tensor]:
    """Return keys (..., g, k, d) and values (..., g, k, v) of a flat part."""
    shapes = [
        (*x.shape[:-2], count_of(runs), x.shape[-1]) for x in (key, value)
    ]
    cut = torch.Size(shapes[0]).numel()
    return part[:cut].view(shapes[0]), part[cut:].view(shapes[1])
