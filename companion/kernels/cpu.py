"""Tiled attention for torch on the CPU: forward, backward, and nothing that is quadratic in memory.

A tile of scores is small enough to stay in the cache between its two matmuls. What makes it fast:

- The scale and log2(e) are folded into the keys, so that a power is one `exp2`, which unlike `exp`
  is as quick where it underflows. Tiles are worked on in place, in buffers used over and over.
- Scores of ordinary size need no maximum taken out: float32 has room for their powers. Whether it
  had is seen from the sums, and only rows for which it had not are done again, with an online
  softmax.
- No tile outside the band is touched, and only those on its edges are masked. Narrow windows are
  laid side by side as overlapping views of the keys, and share one small mask.

Axes: a outer, g key heads, r query heads a key head, c heads or windows worked on together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor

from companion.arrays import windows
from companion.kernels.tiles import Band, Tile

LOG2E = 1 / math.log(2)
BLOCKS = (256, 512)  # queries and keys a tile: half a megabyte of scores in float32
ROOM = 2**17  # scores at once
LOWEST, HIGHEST = 2.0**-64, 2.0**96  # sums of powers that lost nothing to float32's range


@contextmanager
def fast_float32() -> Iterator[None]:
    """Let float32 matmuls on the CPU take the processor's faster path, and no longer than asked.

    They may then round their factors to bfloat16. How large the error is depends on the processor:
    compare with float64 where it matters. The setting is the process's, so it reaches all threads.

    Raises:
        RuntimeError: a torch that does not know the setting.

    >>> with fast_float32():
    ...     product = torch.eye(2) @ torch.eye(2)
    """
    matmul = getattr(torch.backends.mkldnn, "matmul", None)
    if matmul is None:
        raise RuntimeError(f"torch: got {torch.__version__}, wanted one with mkldnn.matmul")
    before = matmul.fp32_precision
    matmul.fp32_precision = "bf16"
    try:
        yield
    finally:
        matmul.fp32_precision = before


def takes(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> bool:
    """Say whether the kernel computes attention of these tensors, and their gradients.

    >>> takes(*torch.ones(3, 2, 2), None), takes(*torch.ones(3, 2, 2, device="meta"), None)
    (True, False)
    """
    arrays = [query, key, value] if mask is None else [query, key, value, mask]
    return (
        not torch.compiler.is_compiling()
        and query.dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16)
        and all(type(array) in (Tensor, torch.nn.Parameter) for array in arrays)
        and all(array.device.type == "cpu" and array.numel() > 0 for array in arrays)
        and (mask is None or not mask.requires_grad)
    )


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    band: Band,
    scale: float,
    softcap: float | None = None,
    blocks: tuple[int, int] | None = None,
) -> tuple[Tensor, Tensor]:
    """Attend tile by tile (Dao et al., 2022), with gradients (Dao, 2023).

    Args:
        query: (a, g, r, q, d).
        key: (a, g, k, d), of query's dtype.
        value: (a, g, k, v), of query's dtype.
        mask: (a, g, r, q, k), boolean, True = may attend, or floating, added; no gradient.
        band: which keys are near enough to a query.
        scale: factor on the dot products.
        softcap: bound on the scores, before the mask.
        blocks: queries and keys a tile; None leaves the choice open.

    Returns:
        Output (a, g, r, q, v) and natural log-sum-exp (a, g, r, q), in at least float32.

    >>> query, key, value = torch.zeros(1, 1, 1, 2, 4), torch.ones(1, 1, 2, 4), torch.eye(2)
    >>> output, lse = attention(query, key, value[None, None], band=Band(right=0), scale=1.0)
    >>> output[0, 0, 0], lse.exp().flatten()
    (tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]]), tensor([1., 2.]))
    """
    plan = _Plan(band, scale, softcap, blocks)
    dtype = query.dtype
    if dtype == torch.float16:  # its range is too small for scores
        query, key, value = query.float(), key.float(), value.float()
    output, lse = _TiledAttention.apply(query, key, value, mask, plan)  # type: ignore[no-untyped-call]
    return output.to(dtype), lse


class _Plan(NamedTuple):
    band: Band
    scale: float
    softcap: float | None
    blocks: tuple[int, int] | None


class _TiledAttention(torch.autograd.Function):
    """The values, and the gradients recomputed from the log-sum-exp."""

    @staticmethod
    def forward(
        query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, plan: _Plan
    ) -> tuple[Tensor, Tensor]:
        work = _Workspace(query.dtype, mask, plan)
        output = query.new_zeros(*query.shape[:-1], value.shape[-1])
        lse = query.new_zeros(*query.shape[:-1], 1, dtype=work.dtype)
        with torch.autocast("cpu", enabled=False):
            for piece in _pieces(query, key, mask, plan):
                _attend(
                    work,
                    piece.band,
                    *piece.of_queries(query, mask, output, lse),
                    *piece.of_keys(key, value),
                )
        return output, lse[..., 0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, ctx.plan = inputs
        ctx.save_for_backward(*tensors, *output)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_output: Tensor, grad_lse: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, output, lse = ctx.saved_tensors
        work = _Workspace(query.dtype, mask, ctx.plan)
        of_queries = query, mask, output, lse[..., None], grad_output, grad_lse[..., None]
        grad_query, grad_key, grad_value = (
            torch.zeros_like(x, dtype=work.dtype) for x in (query, key, value)
        )
        with torch.autocast("cpu", enabled=False):
            for piece in _pieces(query, key, mask, ctx.plan):
                _add_gradients(
                    work,
                    piece.band,
                    *piece.of_queries(*of_queries, grad_query),
                    *piece.of_keys(key, value, grad_key, grad_value),
                )
        grads = grad_query, grad_key.mul_(work.factor), grad_value
        return *(grad.to(query.dtype) for grad in grads), None, None


def _attend(
    work: _Workspace,
    band: Band,
    query: Tensor,
    mask: Tensor | None,
    output: Tensor,
    lse: Tensor,
    key: Tensor,
    value: Tensor,
) -> None:
    """Write output (c, q, v) and lse (c, q, 1), which come as zeros."""
    total, highest = lse, torch.zeros_like(lse)  # the sums stand where their logarithms will
    blend = output if output.dtype == work.dtype else torch.zeros_like(output, dtype=work.dtype)
    if work.ordinary:
        _sum_powers(work, band, query, mask, key, value, blend, total)
    if not _in_range(blend, total):
        for rows in work.row_blocks(query):
            part = blend[:, rows.start : rows.stop], total[:, rows.start : rows.stop]
            if not _in_range(*part):
                top = _sum_online(work, band, rows, query, mask, key, value, *part)
                highest[:, rows.start : rows.stop] = top
    output.copy_(blend.div_(total.masked_fill(total == 0, 1)))
    lse.log_().add_(highest, alpha=1 / work.unit)


def _in_range(blend: Tensor, total: Tensor) -> bool:
    """Say whether sums of powers fit into float32 without loss; a row without any has none."""
    low, high = torch.aminmax(total)
    return float(low) > LOWEST and float(high) < HIGHEST and bool(blend.isfinite().all())


def _sum_powers(
    work: _Workspace,
    band: Band,
    query: Tensor,
    mask: Tensor | None,
    key: Tensor,
    value: Tensor,
    blend: Tensor,
    total: Tensor,
) -> None:
    """Add exp(score) value to the blend and exp(score) to the total, as if nothing overflowed."""
    queries, blends, totals = (torch.split(x, work.blocks[0], dim=1) for x in (query, blend, total))
    for keys, visits in band.columns(query.shape[1], key.shape[1], work.blocks):
        scaled, values = work.scaled(key[:, keys]), value[:, keys]
        for i, tile in visits:
            within = _within(tile, keys)
            scores = work.scores(queries[i], scaled[:, within], wide=False)
            powers = work.restrict(scores, tile, mask, band).exp2_()
            totals[i].add_(powers.sum(-1, keepdim=True, dtype=work.dtype))
            work.add_product(blends[i], powers, values[:, within])


def _sum_online(
    work: _Workspace,
    band: Band,
    rows: range,
    query: Tensor,
    mask: Tensor | None,
    key: Tensor,
    value: Tensor,
    blend: Tensor,
    total: Tensor,
) -> Tensor:
    """Do the same for one block of queries, less the maximum so far, and return the maximum."""
    blend.zero_()
    total.zero_()
    highest = torch.full_like(total, torch.finfo(work.dtype).min)
    for tile in band.tiles(rows, key.shape[1], work.blocks[1]):
        scores = work.scores(query[:, tile.queries], work.scaled(key[:, tile.keys]), wide=True)
        logits = work.restrict(scores, tile, mask, band)
        risen = torch.maximum(highest, logits.amax(-1, keepdim=True))
        powers = work.powers(logits, risen)
        shrink = work.powers(highest, risen)
        total.mul_(shrink).add_(powers.sum(-1, keepdim=True))
        work.add_product(blend.mul_(shrink), work.narrowed(0, powers), value[:, tile.keys])
        highest = risen
    return highest


def _add_gradients(
    work: _Workspace,
    band: Band,
    query: Tensor,
    mask: Tensor | None,
    output: Tensor,
    lse: Tensor,
    grad_output: Tensor,
    grad_lse: Tensor,
    grad_query: Tensor,
    key: Tensor,
    value: Tensor,
    grad_key: Tensor,
    grad_value: Tensor,
) -> None:
    """Add to the gradients of query (c, q, d), key (c, k, d) and value (c, k, v).

    With weights p = exp(score - lse), the gradient of a score is p (dp - delta), where dp is the
    output's gradient along the value and delta what all of the row has of it, less lse's own.
    """
    reference = lse * work.unit
    delta = (grad_output * output).sum(-1, keepdim=True, dtype=work.dtype) - grad_lse
    ordinary = work.ordinary and bool((reference.abs() < -math.log2(LOWEST)).all())
    if ordinary:  # exp(-lse) moves out of the weights, to where there are fewer numbers
        weight = reference.neg_().exp2_()
        grad_output, delta = (grad_output * weight).to(query.dtype), delta * weight
    else:
        reference.masked_fill_(reference == -math.inf, math.inf)  # a dead row has no weights
    delta *= work.chain

    of_rows = query, grad_output, delta, reference, grad_query
    blocks = list(zip(*(torch.split(x, work.blocks[0], dim=1) for x in of_rows), strict=True))
    for keys, visits in band.columns(query.shape[1], key.shape[1], work.blocks):
        scaled, values = work.scaled(key[:, keys]), (value[:, keys] * work.chain).mT
        for i, tile in visits:
            within = _within(tile, keys)
            queries, upstream, deltas, references, grad_queries = blocks[i]
            scores = work.scores(queries, scaled[:, within], wide=not ordinary)
            slope = work.slope(scores)
            logits = work.restrict(scores, tile, mask, band)
            powers = logits.exp2_() if ordinary else work.powers(logits, references)
            weights = work.narrowed(0, powers)
            work.add_product(grad_value[:, tile.keys], weights.mT, upstream)
            grad_logits = work.widened(1, work.product(1, upstream, values[..., within]))
            grad_logits.sub_(deltas).mul_(work.widened(0, powers))
            if slope is not None:
                grad_logits.mul_(slope)
            grad_logits = work.narrowed(1, grad_logits)
            work.add_product(grad_key[:, tile.keys], grad_logits.mT, queries)
            work.add_product(grad_queries, grad_logits, scaled[:, within])


def _within(tile: Tile, keys: slice) -> slice:
    """Return where the keys of a tile stand in a block of keys."""
    return slice(tile.keys.start - keys.start, tile.keys.stop - keys.start)


class _Workspace:
    """Buffers that tiles are worked on in, and what is done there.

    bfloat16 is multiplied as it is; sums are float32 at least.
    """

    def __init__(self, dtype: torch.dtype, mask: Tensor | None, plan: _Plan) -> None:
        self.softcap, self.blocks = plan.softcap, plan.blocks or BLOCKS
        self.dtype = torch.promote_types(dtype, torch.float32)
        self.narrow = dtype if dtype != self.dtype else None
        # A floating mask may hold numbers that leave no room for a factor, nor for a power.
        floating = mask is not None and mask.is_floating_point()
        self.unit = 1.0 if floating else LOG2E
        self.ordinary = not floating and (self.softcap is None or self.narrow is None)
        self.factor = plan.scale * self.unit if self.softcap is None else plan.scale / self.softcap
        self.chain = plan.scale / self.factor
        self._buffers: dict[tuple[int, torch.dtype], Tensor] = {}
        self._edges: dict[tuple[int, int, int, torch.dtype], Tensor] = {}

    def row_blocks(self, query: Tensor) -> Iterator[range]:
        """Cut the queries (c, q, d) into blocks."""
        queries, size = query.shape[1], self.blocks[0]
        return (range(start, min(start + size, queries)) for start in range(0, queries, size))

    def scaled(self, key: Tensor) -> Tensor:
        """Fold what scores are multiplied by into a block of keys (c, k, d)."""
        return key * self.factor

    def scores(self, query: Tensor, key: Tensor, *, wide: bool) -> Tensor:
        """Return softcapped scores times the unit, (c, q, k)."""
        scores = self.product(0, query, key.mT)
        if wide:
            scores = self.widened(0, scores)
        if self.softcap is not None:
            scores.tanh_().mul_(self.softcap * self.unit)
        return scores

    def slope(self, scores: Tensor) -> Tensor | None:
        """Return the derivative of the softcap, from what came out of it."""
        if self.softcap is None:
            return None
        return 1 - (scores / (self.softcap * self.unit)).square_()

    def restrict(self, scores: Tensor, tile: Tile, mask: Tensor | None, band: Band) -> Tensor:
        """Apply the mask (c, q, k) and the edges of the band to a tile of scores."""
        if mask is not None:
            mask = mask[:, tile.queries, tile.keys]
            if mask.dtype == torch.bool:
                scores.masked_fill_(~mask, -math.inf)
            else:
                scores.add_(mask)
        return scores.add_(self._edge(band, tile, scores.dtype)) if tile.partial else scores

    def _edge(self, band: Band, tile: Tile, dtype: torch.dtype) -> Tensor:
        """Return -inf where a tile leaves the band, else 0."""
        place = tile.queries.start + band.offset - tile.keys.start
        queries = tile.queries.stop - tile.queries.start
        keys = tile.keys.stop - tile.keys.start
        edge = self._edges.get((place, queries, keys, dtype))
        if edge is None:
            distance = torch.arange(keys) - torch.arange(place, place + queries)[:, None]
            far = torch.zeros_like(distance, dtype=torch.bool)
            if band.left is not None:
                far |= distance < -band.left
            if band.right is not None:
                far |= distance > band.right
            edge = torch.zeros_like(far, dtype=dtype).masked_fill_(far, -math.inf)
            self._edges[place, queries, keys, dtype] = edge
        return edge

    def powers(self, logits: Tensor, reference: Tensor) -> Tensor:
        """Return exp(score - reference), in the place of the logits."""
        logits.sub_(reference)
        return logits.exp2_() if self.unit == LOG2E else logits.mul_(LOG2E).exp2_()

    def product(self, place: int, left: Tensor, right: Tensor) -> Tensor:
        """Multiply into one of the buffers."""
        shape = (left.shape[0], left.shape[1], right.shape[2])
        return torch.bmm(left, right, out=self._room(place, left.dtype, shape))

    def add_product(self, total: Tensor, left: Tensor, right: Tensor) -> None:
        """Add a product to a sum."""
        if self.narrow is None:
            total.baddbmm_(left, right)
        else:
            total.add_(torch.bmm(left, right))

    def narrowed(self, place: int, tile: Tensor) -> Tensor:
        """Return a tile in the dtype that is multiplied."""
        if self.narrow is None or tile.dtype == self.narrow:
            return tile
        return self._room(place, self.narrow, tile.shape).copy_(tile)

    def widened(self, place: int, tile: Tensor) -> Tensor:
        """Return a tile in the dtype that is summed."""
        if tile.dtype == self.dtype:
            return tile
        return self._room(place, self.dtype, tile.shape).copy_(tile)

    def _room(self, place: int, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
        size = math.prod(shape)
        buffer = self._buffers.get((place, dtype))
        if buffer is None or buffer.numel() < size:
            buffer = self._buffers[place, dtype] = torch.empty(size, dtype=dtype)
        return buffer[:size].view(shape)


class _Piece(NamedTuple):
    """Heads or windows, c of them, that are worked on together and share no key.

    Attributes:
        rows: cuts (a, g, r, q, .) down to (c, q of the piece, .), a view.
        keys: cuts (a, g, k, .) down to (c, k of the piece, .), a view.
        band: the band within the piece.
    """

    rows: Callable[[Tensor], Tensor]
    keys: Callable[[Tensor], Tensor]
    band: Band

    def of_queries(self, *tensors: Tensor | None) -> Iterator[Any]:
        """Cut what has rows of queries."""
        return (None if tensor is None else self.rows(tensor) for tensor in tensors)

    def of_keys(self, *tensors: Tensor) -> Iterator[Tensor]:
        """Cut what has rows of keys."""
        return map(self.keys, tensors)


def _pieces(query: Tensor, key: Tensor, mask: Tensor | None, plan: _Plan) -> Iterator[_Piece]:
    """Cut a call into pieces: as many heads as there is room for, or the windows of one."""
    outer, groups, repeats, queries, _ = query.shape
    keys, (block, width) = key.shape[2], plan.blocks or BLOCKS
    inside = plan.band.interior(queries, keys)
    rest = [range(queries)]
    if inside and mask is None and plan.blocks is None:
        rest = [range(inside.start), range(inside.stop, queries)]
        for a, g, r in product(range(outer), range(groups), range(repeats)):
            yield from _windows(a, g, r, inside, plan.band, keys)
    for rows in filter(len, rest):
        band = plan.band._replace(offset=plan.band.offset + rows.start)
        step = max(1, ROOM // (min(block, len(rows)) * min(width, keys)))
        for a, g, r in product(range(outer), range(0, groups, step), range(repeats)):
            heads = slice(g, g + step)
            yield _Piece(
                itemgetter((a, heads, r, slice(rows.start, rows.stop))),
                itemgetter((a, heads)),
                band,
            )


def _windows(a: int, g: int, r: int, inside: range, band: Band, keys: int) -> Iterator[_Piece]:
    """Lay blocks of queries over views of the keys that they see, so far apart that none overlap.

    That is what lets their gradients be added in place.
    """
    seen = band.seen(range(inside.start, inside.stop), keys)
    size, span = inside.step, len(seen) - (len(inside) - 1) * inside.step
    within = band._replace(offset=inside.start + band.offset - seen.start)
    apart = -(-span // size)
    together = max(1, ROOM // (size * span))
    for first in range(apart):
        for start in range(first, len(inside), apart * together):
            picks = slice(start, start + apart * together, apart)

            def rows(tensor: Tensor, picks: slice = picks) -> Tensor:
                views: Tensor = windows(tensor[a, g, r, inside.start : inside.stop], size, size)
                return views[picks]

            def keys_of(tensor: Tensor, picks: slice = picks) -> Tensor:
                views: Tensor = windows(tensor[a, g, seen.start : seen.stop], span, size)
                return views[picks]

            yield _Piece(rows, keys_of, within)
