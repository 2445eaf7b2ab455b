"""Tiled attention for torch on the CPU: forward, backward, and nothing that is quadratic in memory.

A tile of scores is small enough to stay in the cache between its two matmuls. What makes it fast:

- The scale is a factor of the products of matrices, which costs nothing. Tiles are worked on in
  place, in buffers used over and over, and what they read and write is cut out once a piece, not
  once a tile.
- Scores of ordinary size need no maximum taken out: float32 has room for their powers. Whether it
  had is seen from the sums, and only rows for which it had not are done again, with an online
  softmax.
- On Intel's processors with AVX-512 `exp` is the quickest way to a power, and where it underflows a
  hundred times slower than `exp2`. There it is taken if the lengths of queries and keys bound the
  scores; else, and on other processors, `exp2`, and log2(e) goes into that factor too.
- No tile outside the band is touched, and only those on its edges are cut to shape. Narrow windows
  are laid side by side as overlapping views of the keys.

Axes: a outer, g key heads, r query heads a key head, c heads or windows worked on together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from operator import itemgetter
from typing import Any, NamedTuple

import torch
from torch import Tensor

from companion.bands import Band, Tile, Visit
from companion.kernels.once import once_differentiable

LOG2E = 1 / math.log(2)
LARGEST_SAFE = 40.0  # scores no larger have powers far from the ends of float32's range
BLOCKS = (256, 512)  # queries and keys a tile: half a megabyte of scores in float32
FAST_BLOCKS = (512, 512)  # the same in bfloat16, whose matmuls take less of the time
BACKWARD_BLOCKS = (256, 192)  # the same for the gradients, of which two tiles are worked on
SCORES_AT_ONCE = 2**19  # scores at once: two megabytes of float32
BACKWARD_SCORES_AT_ONCE = 3 * 2**16  # the same for the gradients
WINDOW_SCORES_AT_ONCE = 2**20  # the same for windows, each of which makes few
LOWEST, HIGHEST = 2.0**-64, 2.0**96  # sums of powers that lost nothing to float32's range


@lru_cache
def multiplies_bfloat16() -> bool:
    """Say whether matmuls take bfloat16 as it is.

    Elsewhere torch multiplies it element by element, some twenty times slower than float32.
    float16 is never multiplied as it is: its range is too small for scores.

    >>> multiplies_bfloat16() in (True, False)
    True
    """
    available = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return bool(available and torch.ops.mkldnn._is_mkldnn_bf16_supported())


@lru_cache
def exp_is_quick() -> bool:
    """Say whether torch's `exp` beats its `exp2` here.

    With AVX-512 it comes from Intel's library: faster on Intel's processors, slower on others.

    >>> exp_is_quick() in (True, False)
    True
    """
    tell = getattr(torch.cpu, "get_capabilities", dict[str, str])  # missing in older torch
    is_intel = "Intel" in tell().get("cpu_name", "")
    return is_intel and str(torch.backends.cpu.get_cpu_capability()) == "AVX512"


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
    dtype = query.dtype
    if dtype == torch.float16 or (dtype == torch.bfloat16 and not multiplies_bfloat16()):
        query, key, value = query.float(), key.float(), value.float()
    # Elsewhere every row has keys, and `exp2` is taken whatever the scores are.
    asked = exp_is_quick() or mask is not None or band != Band()
    plan = _Plan(
        band,
        scale,
        softcap,
        blocks=blocks or _blocks(query.dtype, BLOCKS),
        backward_blocks=blocks or _blocks(query.dtype, BACKWARD_BLOCKS),
        windows=blocks is None and mask is None,
        bounded=_is_bounded(query, key, mask, scale) if asked else False,
        scores_at_once=SCORES_AT_ONCE,
    )
    output, lse = _TiledAttention.apply(query, key, value, mask, plan)  # type: ignore[no-untyped-call]
    return output.to(dtype), lse


class _Plan(NamedTuple):
    """How a call is worked on, forward and backward.

    Attributes:
        band: which keys are near enough to a query.
        scale: factor on the dot products.
        softcap: bound on the scores.
        blocks: queries and keys a tile.
        backward_blocks: the same for the gradients.
        windows: blocks of queries may be laid over views of the keys.
        bounded: no score is so large that its power comes near the ends of float32's range.
        scores_at_once: scores that are worked on at once, in all heads.
        apart: windows worked on together share no key, so that gradients can be added in place.
    """

    band: Band
    scale: float
    softcap: float | None
    blocks: tuple[int, int]
    backward_blocks: tuple[int, int]
    windows: bool
    bounded: bool
    scores_at_once: int
    apart: bool = False

    @property
    def backward(self) -> _Plan:
        """The plan of the gradients."""
        return self._replace(
            blocks=self.backward_blocks, scores_at_once=BACKWARD_SCORES_AT_ONCE, apart=True
        )


def _blocks(dtype: torch.dtype, blocks: tuple[int, int]) -> tuple[int, int]:
    return FAST_BLOCKS if dtype == torch.bfloat16 else blocks


@torch.no_grad()
def _is_bounded(query: Tensor, key: Tensor, mask: Tensor | None, scale: float) -> bool:
    """Bound the scores by the lengths of queries and keys, after Cauchy and Schwarz."""
    if query.dtype == torch.bfloat16 or (mask is not None and mask.is_floating_point()):
        return False
    lengths = (torch.linalg.vector_norm(x, dim=-1).amax() for x in (query, key))
    return math.prod(map(float, lengths)) * abs(scale) < LARGEST_SAFE


class _TiledAttention(torch.autograd.Function):
    """The values, and the gradients recomputed from the log-sum-exp."""

    @staticmethod
    def forward(
        query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, plan: _Plan
    ) -> tuple[Tensor, Tensor]:
        work = _Workspace(query.dtype, mask, plan)
        output = query.new_empty(*query.shape[:-1], value.shape[-1])
        lse = query.new_empty(*query.shape[:-1], 1, dtype=work.dtype)
        with torch.autocast("cpu", enabled=False):
            for piece in _pieces(query, key, plan):
                _attend(
                    work,
                    piece.band,
                    *piece.of_queries(query, mask, output, lse),
                    *piece.of_keys(key, value),
                )
        return output, lse[..., 0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, plan = inputs
        ctx.plan = plan.backward
        ctx.save_for_backward(*tensors, *output)

    @staticmethod
    @once_differentiable("scaled_dot_product_attention with need_lse=True")
    def backward(ctx: Any, grad_output: Tensor, grad_lse: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, output, lse = ctx.saved_tensors
        work = _Workspace(query.dtype, mask, ctx.plan)
        of_queries = query, mask, output, lse[..., None], grad_output, grad_lse[..., None]
        grad_query = torch.empty_like(query)
        grad_key, grad_value = (torch.zeros_like(x, dtype=work.dtype) for x in (key, value))
        with torch.autocast("cpu", enabled=False):
            for piece in _pieces(query, key, ctx.plan):
                _add_gradients(
                    work,
                    piece.band,
                    *piece.of_queries(*of_queries, grad_query),
                    *piece.of_keys(key, value, grad_key, grad_value),
                )
        return grad_query, grad_key.to(query.dtype), grad_value.to(query.dtype), None, None


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
    """Write output (c, q, v) and lse (c, q, 1)."""
    total = lse  # the sums stand where their logarithms will
    rows, columns = work.rows(band, query, key), _Columns(work.blocks[1], key, value)
    blocks = _in_blocks(work.blocks[0], query, output, total)
    if work.ordinary:
        for visits, block in zip(rows, blocks, strict=True):
            _average(work, band, mask, columns.of(visits), *block)
    highest = None
    if not (work.ordinary and work.in_range(output, total)):
        highest = torch.zeros_like(total)
        tops = torch.split(highest, work.blocks[0], dim=1)
        for top, visits, block in zip(tops, rows, blocks, strict=True):
            if not (work.ordinary and work.in_range(*block[1:])):
                top.copy_(_average_online(work, band, mask, columns.of(visits), *block))
    lse.log_()
    if highest is not None:
        lse.add_(highest, alpha=1 / work.unit)


def _average(
    work: _Workspace,
    band: Band,
    mask: Tensor | None,
    tiles: _Tiles,
    query: Tensor,
    output: Tensor,
    total: Tensor,
) -> None:
    """Average the values by exp(score), and write the sum of these, as if nothing overflowed."""
    blend = work.buffer(2, work.dtype, output.shape)
    begun = False
    for tile, (keys, values) in tiles:
        scores = work.scores(query, keys, wide=False)
        powers = work.restrict(work.powers(scores), tile, mask, band, outside=0.0)
        if begun:
            total.add_(powers.sum(-1, keepdim=True, dtype=work.dtype))
            work.add_product(blend, powers, values)
        else:
            torch.sum(powers, -1, keepdim=True, dtype=work.dtype, out=total)
            work.put_product(blend, powers, values)
            begun = True
    if not begun:
        total.zero_()
        blend.zero_()
    torch.div(blend, total.clamp_min(LOWEST), out=output)  # no smaller sum counts, but for zero


def _average_online(
    work: _Workspace,
    band: Band,
    mask: Tensor | None,
    tiles: _Tiles,
    query: Tensor,
    output: Tensor,
    total: Tensor,
) -> Tensor:
    """Do the same less the maximum so far, and return the maximum."""
    blend = work.buffer(2, work.dtype, output.shape).zero_()
    total.zero_()
    highest = torch.full_like(total, torch.finfo(work.dtype).min)
    for tile, (keys, values) in tiles:
        scores = work.scores(query, keys, wide=True)
        logits = work.restrict(scores, tile, mask, band, outside=-math.inf)
        risen = torch.maximum(highest, logits.amax(-1, keepdim=True))
        powers = work.powers(logits.sub_(risen))
        shrink = work.powers(highest.sub_(risen))
        total.mul_(shrink).add_(powers.sum(-1, keepdim=True))
        work.add_product(blend.mul_(shrink), work.narrowed(0, powers), values)
        highest = risen
    torch.div(blend, total.masked_fill(total == 0, 1), out=output)
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
    """Write the gradient of query (c, q, d), add to those of key (c, k, d) and value (c, k, v)."""
    rows = work.rows(band, query, key)
    columns = _Columns(work.blocks[1], key, value, grad_key, grad_value)
    of_rows = query, output, lse, grad_output, grad_lse, grad_query
    for visits, block in zip(rows, _in_blocks(work.blocks[0], *of_rows), strict=True):
        _add_gradients_of_rows(work, band, mask, columns.of(visits), *block)


def _add_gradients_of_rows(
    work: _Workspace,
    band: Band,
    mask: Tensor | None,
    tiles: _Tiles,
    query: Tensor,
    output: Tensor,
    lse: Tensor,
    grad_output: Tensor,
    grad_lse: Tensor,
    grad_query: Tensor,
) -> None:
    """Write the gradient of a block of queries, and add what it brings to keys and values.

    With weights p = exp(score - lse), the gradient of a score is p (dp - delta), where dp is the
    output's gradient along the value and delta what all of the row has of it, less lse's own.
    """
    reference = lse * work.unit
    delta = (grad_output.to(work.dtype) * output).sum(-1, keepdim=True) - grad_lse
    dead = reference == -math.inf
    reference.masked_fill_(dead, math.inf)  # its powers are zero
    small = reference.abs() < -math.log2(LOWEST)
    ordinary = work.ordinary and bool(small.logical_or_(dead).all())
    if ordinary:  # exp(-lse) moves out of the weights, to where there are fewer numbers
        weight = work.powers(reference.neg_())
        grad_output, delta = (grad_output * weight).to(query.dtype), delta * weight
    delta *= work.chain
    sums = work.buffer(2, work.dtype, query.shape).zero_()
    for tile, (keys, values, grad_keys, grad_values) in tiles:
        scores = work.scores(query, keys, wide=not ordinary)
        slope = work.slope(scores)
        if ordinary:
            powers = work.restrict(work.powers(scores), tile, mask, band, outside=0.0)
        else:
            logits = work.restrict(scores, tile, mask, band, outside=-math.inf)
            powers = work.powers(logits.sub_(reference))
        weights = work.narrowed(0, powers)
        work.add_product(grad_values, weights.mT, grad_output)
        grad_logits = work.widened(1, work.product(1, grad_output, values.mT, work.chain))
        grad_logits.sub_(delta).mul_(work.widened(0, powers))
        if slope is not None:
            grad_logits.mul_(slope)
        grad_logits = work.narrowed(1, grad_logits)
        work.add_product(grad_keys, grad_logits.mT, query, work.factor)
        work.add_product(sums, grad_logits, keys, work.factor)
    grad_query.copy_(sums)


_Tiles = Iterator[tuple[Tile, Sequence[Tensor]]]


class _Columns:
    """What belongs to the keys, (c, k, .), cut into blocks; most tiles are as wide as one."""

    def __init__(self, width: int, *tensors: Tensor) -> None:
        self.blocks = _in_blocks(width, *tensors)

    def of(self, visits: Iterable[Visit]) -> _Tiles:
        """Return tiles with what belongs to their keys."""
        for tile, i, part in visits:
            block = self.blocks[i]
            yield tile, block if part is None else [x[:, part] for x in block]


def _in_blocks(size: int, *tensors: Tensor) -> list[tuple[Tensor, ...]]:
    return list(zip(*(torch.split(x, size, dim=1) for x in tensors), strict=True))


class _Workspace:
    """Buffers that tiles are worked on in, and what is done there.

    bfloat16 is multiplied as it is; sums are float32 at least.
    """

    def __init__(self, dtype: torch.dtype, mask: Tensor | None, plan: _Plan) -> None:
        self.softcap, self.blocks, self.bounded = plan.softcap, plan.blocks, plan.bounded
        self.dtype = torch.promote_types(dtype, torch.float32)
        self.narrow = dtype if dtype != self.dtype else None
        # A floating mask may hold numbers that leave no room for a factor, nor for a power.
        floating = mask is not None and mask.is_floating_point()
        self.natural = self.bounded and exp_is_quick()
        self.unit = 1.0 if floating or self.natural else LOG2E
        self.ordinary = not floating and (self.softcap is None or self.narrow is None)
        self.factor = plan.scale * self.unit if self.softcap is None else plan.scale / self.softcap
        self.chain = 1 / self.unit if self.softcap is None else self.softcap
        self._buffers: dict[tuple[int, torch.dtype], Tensor] = {}
        self._views: dict[tuple[int, torch.dtype, tuple[int, ...]], Tensor] = {}
        self._rows: dict[tuple[Band, tuple[int, int]], list[list[Visit]]] = {}

    def in_range(self, output: Tensor, total: Tensor) -> bool:
        """Say whether sums of powers fit into float32 without loss."""
        low, high = torch.aminmax(total)
        # A sum of bounded scores is zero in rows alone that may attend to nothing.
        enough = self.bounded or float(low) > LOWEST
        return enough and float(high) < HIGHEST and math.isfinite(float(output.sum()))

    def rows(self, band: Band, query: Tensor, key: Tensor) -> list[list[Visit]]:
        """Cut the (q, k) of a piece into tiles; most pieces of a call are of one shape."""
        shape = query.shape[1], key.shape[1]
        if (band, shape) not in self._rows:
            self._rows[band, shape] = list(band.rows(*shape, self.blocks))
        return self._rows[band, shape]

    def scores(self, query: Tensor, key: Tensor, *, wide: bool) -> Tensor:
        """Return softcapped scores times the unit, (c, q, k)."""
        scores = self.product(0, query, key.mT, self.factor)
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

    def powers(self, logits: Tensor) -> Tensor:
        """Return the powers of logits, in their place."""
        if self.natural:
            return logits.exp_()
        return (logits if self.unit == LOG2E else logits.mul_(LOG2E)).exp2_()

    def restrict(
        self, scores: Tensor, tile: Tile, mask: Tensor | None, band: Band, *, outside: float
    ) -> Tensor:
        """Apply the mask (c, q, k) and the edges of the band to a tile of scores or powers."""
        if mask is not None:
            mask = mask[:, tile.queries, tile.keys]
            if mask.dtype == torch.bool:
                scores.masked_fill_(~mask, outside)
            else:
                scores.add_(mask)
        if not tile.partial:
            return scores
        first = tile.queries.start + band.offset - tile.keys.start
        if outside != 0:
            inside = torch.ones(scores.shape[1:], dtype=torch.bool)
            return scores.masked_fill_(~_cut(inside, band, first), outside)
        return _cut(scores, band, first)

    def product(self, slot: int, left: Tensor, right: Tensor, factor: float = 1.0) -> Tensor:
        """Multiply into one of the buffers."""
        buffer = self.buffer(slot, left.dtype, (left.shape[0], left.shape[1], right.shape[2]))
        return torch.baddbmm(buffer, left, right, beta=0, alpha=factor, out=buffer)

    def put_product(self, result: Tensor, left: Tensor, right: Tensor) -> None:
        """Write a product."""
        if self.narrow is None:
            torch.baddbmm(result, left, right, beta=0, out=result)
        else:
            result.copy_(torch.bmm(left, right))

    def add_product(self, total: Tensor, left: Tensor, right: Tensor, factor: float = 1.0) -> None:
        """Add a product to a sum."""
        if self.narrow is None:
            total.baddbmm_(left, right, alpha=factor)
        else:
            total.add_(torch.bmm(left, right), alpha=factor)

    def narrowed(self, slot: int, tile: Tensor) -> Tensor:
        """Return a tile in the dtype that is multiplied."""
        if self.narrow is None or tile.dtype == self.narrow:
            return tile
        return self.buffer(slot, self.narrow, tile.shape).copy_(tile)

    def widened(self, slot: int, tile: Tensor) -> Tensor:
        """Return a tile in the dtype that is summed."""
        if tile.dtype == self.dtype:
            return tile
        return self.buffer(slot, self.dtype, tile.shape).copy_(tile)

    def buffer(self, slot: int, dtype: torch.dtype, shape: tuple[int, ...]) -> Tensor:
        """Return one of the buffers, with what was left there."""
        view = self._views.get((slot, dtype, shape))
        if view is None:
            size = math.prod(shape)
            memory = self._buffers.get((slot, dtype))
            if memory is None or memory.numel() < size:
                memory = self._buffers[slot, dtype] = torch.empty(size, dtype=dtype)
            view = self._views[slot, dtype, shape] = memory[:size].view(shape)
        return view


def _cut(tile: Tensor, band: Band, first: int) -> Tensor:
    """Set to zero what leaves the band; `first` is the position of the first query's own key."""
    if band.right is not None:
        tile.tril_(first + band.right)
    if band.left is not None:
        tile.triu_(first - band.left)
    return tile


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


def _pieces(query: Tensor, key: Tensor, plan: _Plan) -> Iterator[_Piece]:
    """Cut a call into pieces: as many heads as make few enough scores, or the windows of one."""
    outer, groups, repeats, queries, _ = query.shape
    keys, (block, width) = key.shape[2], plan.blocks
    inside = plan.band.interior(queries, keys)
    rest = [range(queries)]
    if inside and plan.windows:
        rest = [range(inside.start), range(inside.stop, queries)]
        for a, g, r in product(range(outer), range(groups), range(repeats)):
            yield from _windows(a, g, r, inside, plan, keys)
    for rows in filter(len, rest):
        band = plan.band._replace(offset=plan.band.offset + rows.start)
        step = max(1, plan.scores_at_once // (min(block, len(rows)) * min(width, keys)))
        for a, g, r in product(range(outer), range(0, groups, step), range(repeats)):
            heads = slice(g, g + step)
            yield _Piece(
                itemgetter((a, heads, r, slice(rows.start, rows.stop))),
                itemgetter((a, heads)),
                band,
            )


def _windows(a: int, g: int, r: int, inside: range, plan: _Plan, keys: int) -> Iterator[_Piece]:
    """Lay blocks of queries over views of the keys that they see.

    Neighbours lie side by side in the output, which a product of many blocks is written to at once.
    Where the plan wants them apart, they are so far apart that no views overlap.
    """
    band = plan.band
    seen = band.seen(range(inside.start, inside.stop), keys)
    size, span = inside.step, len(seen) - (len(inside) - 1) * inside.step
    within = band._replace(offset=inside.start + band.offset - seen.start)
    apart = -(-span // size) if plan.apart else 1
    together = max(1, WINDOW_SCORES_AT_ONCE // (size * span))
    for first in range(apart):
        for start in range(first, len(inside), apart * together):
            picks = slice(start, start + apart * together, apart)

            def rows(tensor: Tensor, picks: slice = picks) -> Tensor:
                views: Tensor = _windows_of(tensor[a, g, r, inside.start : inside.stop], size, size)
                return views[picks]

            def keys_of(tensor: Tensor, picks: slice = picks) -> Tensor:
                views: Tensor = _windows_of(tensor[a, g, seen.start : seen.stop], span, size)
                return views[picks]

            yield _Piece(rows, keys_of, within)


def _windows_of(rows: Tensor, size: int, step: int) -> Tensor:
    """Return overlapping runs of rows, (n, d) -> (windows, size, d), as views."""
    return rows.unfold(-2, size, step).mT
