# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""Attention without the (q, k) matrix: tile by tile, with the softmax made up as the keys come.

A softmax over two blocks of scores needs of the first block no more than its maximum and the sum of
its exponentials: when the maximum rises by r, the old sum shrinks by exp(-r), and so does the blend
of values that stands above it. Memory then grows with the length, and time with its square.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, overload

from companion.arrays import (
    Array,
    ArrayT,
    Shape,
    broadcast_shape,
    check_flag,
    check_floating,
    check_integer,
    check_rank,
    check_whole,
    constant,
    device_of,
    is_number,
    is_numpy,
    is_torch,
    namespace,
    windows,
)
from companion.calls import aligned, check_call, masked, widen
from companion.kernels.tiles import TAME, Band, Tile
from companion.masks import causal_mask

BLOCKS = (256, 512)  # queries and keys a tile: half a megabyte of scores in float32
ROOM = 2**18  # scores at once: heads are taken together while they fit


def online_softmax(scores_blocks: Iterable[ArrayT]) -> tuple[ArrayT, ArrayT]:
    """Return the maximum and the sum of exp(score - maximum) of rows that come in blocks.

    One pass, one block in memory (Milakov & Gimelshein, 2018). A score's weight is then
    exp(score - maximum) / sum. Half precision is widened to float32.

    Args:
        scores_blocks: blocks (..., q, k of the block) of the scores (..., q, k), in any order.

    Returns:
        Maximum (..., q) and sum (..., q); -inf and 0 for a row with nothing above -inf.

    Raises:
        TypeError: blocks that are not floating arrays of one library.
        ValueError: no block, or blocks whose leading axes differ.

    >>> import numpy as np
    >>> maximum, total = online_softmax([np.array([[0.0, 2.0]]), np.array([[2.0]])])
    >>> maximum, total.round(3)
    (array([2.]), array([2.135]))
    """
    highest: Any = None
    for place, block in enumerate(scores_blocks):
        name = f"scores_blocks[{place}]"
        given: dict[str, Any] = {name: block}
        xp = namespace(**({"scores_blocks[0]": highest} if place else {}), **given)
        check_floating(xp, **given)
        check_rank(2, "(..., q, k)", **given)
        (scores,) = widen(xp, block)
        if highest is None:
            highest, total = _nothing_yet(xp, scores)
        if scores.shape[:-1] != highest.shape[:-1]:
            raise ValueError(
                f"{name}: got leading axes {tuple(scores.shape[:-1])}, "
                f"wanted {tuple(highest.shape[:-1])}, those of the first block"
            )
        if scores.shape[-1] > 0:
            highest, powers, shrink = _absorb(
                xp, highest, xp.max(scores, axis=-1, keepdims=True), scores
            )
            total = total * shrink + xp.sum(powers, axis=-1, keepdims=True)
    if highest is None:
        raise ValueError("scores_blocks: got no block, wanted at least one")
    return highest[..., 0], total[..., 0]


class _Options(TypedDict, total=False):
    scale: float | None
    enable_gqa: bool
    offset: int | Array
    softcap: float | None
    sinks: Array | None
    left: int | None
    right: int | None
    block_size: int | tuple[int, int] | None


@overload
def tiled_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    need_lse: Literal[False] = False,
    **options: Unpack[_Options],
) -> ArrayT: ...
@overload
def tiled_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    need_lse: Literal[True],
    **options: Unpack[_Options],
) -> tuple[ArrayT, ArrayT]: ...
@overload
def tiled_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    need_lse: bool,
    **options: Unpack[_Options],
) -> ArrayT | tuple[ArrayT, ArrayT]: ...
def tiled_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    attn_mask: Array | None = None,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
    offset: int | Array = 0,
    softcap: float | None = None,
    sinks: Array | None = None,
    need_lse: bool = False,
    left: int | None = None,
    right: int | None = None,
    block_size: int | tuple[int, int] | None = None,
) -> ArrayT | tuple[ArrayT, ArrayT]:
    """Compute `scaled_dot_product_attention` tile by tile (Rabe & Staats, 2021; Dao et al., 2022).

    No (q, k) matrix is made, and tiles in which nobody may attend are left out. Torch tensors on
    the CPU go to a kernel that recomputes its tiles for the gradients, once differentiable.
    It is passed over when the mask wants a gradient, the offset is an array or torch compiles:
    the gradients then keep their tiles, as much memory as the matrix.

    Args:
        query: (..., h, q, d).
        key: (..., g, k, d).
        value: (..., g, k, v).
        attn_mask: broadcast to (..., h, q, k): boolean, True = may attend, or floating, added.
        is_causal: allow key j for query i only if j <= i + offset, on top of `attn_mask`.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).
        offset: keys before the first query, a number or integers (b,), one a sequence.
        softcap: bound on the scores, softcap * tanh(scores / softcap), before the mask.
        sinks: (h,) logits that join the denominators of their heads.
        need_lse: also return the log-sum-exp of the rows (..., h, q), natural and with the sinks,
            in at least float32; -inf where there is nothing to sum.
        left: keys allowed before a query's own place, i + offset; None means all.
        right: keys allowed after it; None means all.
        block_size: queries and keys a tile, one number or a pair; None leaves the choice open.

    Returns:
        (..., h, q, v), then the log-sum-exp, if asked for. A query that may attend to no key gets
        zeros.

    Raises:
        TypeError: not floating arrays of one library, or a mask that is neither kind.
        ValueError: shapes that do not fit, or numbers out of range.

    >>> import numpy as np
    >>> value = np.array([[1.0], [2.0], [6.0]])
    >>> tiled_attention(np.zeros((3, 4)), np.ones((3, 4)), value, is_causal=True)
    array([[1. ],
           [1.5],
           [3. ]])
    """
    check_flag(is_causal=is_causal, enable_gqa=enable_gqa, need_lse=need_lse)
    xp = check_call(
        query,
        key,
        value,
        attn_mask,
        scale=scale,
        enable_gqa=enable_gqa,
        offset=offset,
        softcap=softcap,
        sinks=sinks,
    )
    blocks = _check_sizes(left, right, block_size)
    bounded = is_causal or left is not None or right is not None
    output, lse = _attend(
        xp,
        _Call(
            query,
            key,
            value,
            attn_mask,
            scale=1 / math.sqrt(query.shape[-1]) if scale is None else scale,
            softcap=softcap,
            left=left,
            right=0 if is_causal else right,
            offset=aligned(offset, query) if bounded else 0,
            blocks=blocks,
        ),
        repeats=query.shape[-3] // key.shape[-3] if enable_gqa else 1,
    )
    if sinks is not None:  # a sink is a key whose value is zero
        sinks = xp.astype(sinks, lse.dtype, copy=False)[..., None]
        output, lse = _merge(xp, output, lse, xp.zeros_like(output), sinks)
    output = xp.astype(output, xp.result_type(query, key, value), copy=False)
    return (output, lse) if need_lse else output


def window_attention(
    query: ArrayT,
    key: ArrayT,
    value: ArrayT,
    *,
    left: int,
    right: int = 0,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> ArrayT:
    """Attend to the query's own place, `left` keys before it and `right` after it.

    Time and memory grow with the length times the window (Beltagy et al., 2020): blocks of queries
    meet overlapping views of the keys, and one small mask serves them all.

    Args:
        query: (..., h, q, d).
        key: (..., g, k, d).
        value: (..., g, k, v).
        left: keys before the query's own place; a window "of w keys" with itself is left=w - 1.
        right: keys after the query's own place.
        scale: factor on the dot products; None means 1 / sqrt(d).
        enable_gqa: let h / g consecutive query heads share a key head (Ainslie et al., 2023).

    Returns:
        (..., h, q, v).

    Raises:
        TypeError: not floating arrays of one library, or a width that is not whole.
        ValueError: shapes that do not fit, or a negative width.

    >>> import numpy as np
    >>> x = np.arange(4.0)[:, None]
    >>> window_attention(0 * x, x, x, left=1)[:, 0]
    array([0. , 0.5, 1.5, 2.5])
    """
    check_whole(0, left=left, right=right)
    return tiled_attention(
        query, key, value, scale=scale, enable_gqa=enable_gqa, left=left, right=right
    )


def merge_attention(
    output: ArrayT, lse: ArrayT, other_output: ArrayT, other_lse: ArrayT
) -> tuple[ArrayT, ArrayT]:
    """Make of attention to some keys and attention to others attention to all of them.

    What it takes is each half's log-sum-exp: the halves weigh as their denominators do. A half
    whose log-sum-exp is -inf counts for nothing, whatever stands in its output.

    Args:
        output: (..., q, v).
        lse: (..., q) natural log-sum-exp of the same rows.
        other_output: (..., q, v).
        other_lse: (..., q).

    Returns:
        Output (..., q, v) and log-sum-exp (..., q) over the keys of both.

    Raises:
        TypeError: not floating arrays of one library.
        ValueError: shapes that do not fit.

    >>> import numpy as np
    >>> one, two = np.array([[3.0]]), np.array([[6.0]])
    >>> output, lse = merge_attention(one, np.log([2.0]), two, np.log([1.0]))
    >>> output, np.exp(lse).round(3)
    (array([[4.]]), array([3.]))
    """
    given = {"output": output, "lse": lse, "other_output": other_output, "other_lse": other_lse}
    xp = namespace(**given)
    check_floating(xp, **given)
    check_rank(2, "(..., q, v)", output=output)
    for name, shape in zip(given, 2 * (output.shape, output.shape[:-1]), strict=True):
        if given[name].shape != shape:
            raise ValueError(
                f"{name}: got shape {tuple(given[name].shape)}, wanted {tuple(shape)}, "
                f"for the output's {tuple(output.shape)}"
            )
    dtype = xp.result_type(output, other_output)
    merged, merged_lse = _merge(xp, *widen(xp, output, lse, other_output, other_lse))
    return xp.astype(merged, dtype, copy=False), merged_lse


def _merge(xp: Any, output: Any, lse: Any, other_output: Any, other_lse: Any) -> tuple[Any, Any]:
    highest = constant(_finite(xp, xp.maximum(lse, other_lse)))
    weight, other_weight = (xp.exp(x - highest)[..., None] for x in (lse, other_lse))
    total = weight + other_weight
    alive = total > 0
    total = xp.where(alive, total, 1.0)
    blend = weight / total * xp.where(weight > 0, output, 0.0)
    blend = blend + other_weight / total * xp.where(other_weight > 0, other_output, 0.0)
    return blend, xp.where(alive[..., 0], highest + xp.log(total[..., 0]), -math.inf)


def _check_sizes(left: Any, right: Any, block_size: Any) -> tuple[int, int] | None:
    """Refuse wrong widths of a window or a tile, and return queries and keys a tile."""
    widths = {"left": left, "right": right}
    check_whole(0, **{name: width for name, width in widths.items() if width is not None})
    if block_size is None:
        return None
    pair = block_size if isinstance(block_size, tuple) else (block_size, block_size)
    if len(pair) != 2:
        raise ValueError(f"block_size: got {len(pair)} numbers, wanted one or two")
    for size in pair:
        check_whole(1, block_size=size)
    queries, keys = map(int, pair)
    return queries, keys


def _finite(xp: Any, highest: Any) -> Any:
    """Replace -inf by 0, so that something can be taken away from it."""
    return xp.where(highest > -math.inf, highest, 0.0)


def _absorb(xp: Any, highest: Any, top: Any, scores: Any) -> tuple[Any, Any, Any]:
    """Let the maximum rise to the top of new scores.

    Returns:
        The new maximum (..., q, 1), the powers exp(scores - it), and what older sums shrink by.
    """
    risen = xp.maximum(highest, top)
    reference = _finite(xp, risen)
    return risen, xp.exp(scores - reference), xp.exp(highest - reference)


class _Call(NamedTuple):
    """What is to be computed, once the arguments are checked.

    Attributes:
        query: (..., q, d).
        key: (..., k, d).
        value: (..., k, v).
        mask: broadcasts to (..., q, k), or None.
        scale: factor on the dot products.
        softcap: bound on the scores.
        left: keys allowed before the query's own place; None means all.
        right: keys allowed after it; None means all.
        offset: place of the first query, a number or an array (...).
        blocks: queries and keys a tile; None leaves the choice open.
        tame: no score is so large that its power comes near the ends of float32's range.
    """

    query: Any
    key: Any
    value: Any
    mask: Any
    scale: float
    softcap: float | None
    left: int | None
    right: int | None
    offset: Any
    blocks: tuple[int, int] | None
    tame: bool = False

    @property
    def band(self) -> Band | None:
        """Which keys are near, if that can be said without looking into an array."""
        if not is_number(self.offset):
            return None
        return Band(self.left, self.right, self.offset)

    def with_groups(self, xp: Any, repeats: int) -> _Call:
        """Split heads into (g, r), r query heads a key head, and stretch the leading axes.

        Keys and values keep a single one on the axis r.
        """
        offset = self.offset
        if not is_number(offset):
            check_integer(xp, offset=offset)
            offset = xp.astype(offset, xp.int64)[..., None, None]
        arrays = (self.query, self.key, self.value, self.mask, offset)
        query, key, value, mask, offset = (
            array if array is None or is_number(array) else _split_heads(xp, array, times)
            for array, times in zip(arrays, (repeats, 1, 1, repeats, repeats), strict=True)
        )
        lead: Any = query.shape[:-2]
        for array in (key, value):
            lead = broadcast_shape(lead, array.shape[:-2])

        def stretched(array: Any, *axes: int) -> Any:
            return xp.broadcast_to(array, (*lead, *axes))

        return self._replace(
            query=stretched(query, *query.shape[-2:]),
            key=xp.broadcast_to(key, (*lead[:-1], 1, *key.shape[-2:])),
            value=xp.broadcast_to(value, (*lead[:-1], 1, *value.shape[-2:])),
            mask=None if mask is None else stretched(mask, query.shape[-2], key.shape[-2]),
            offset=offset if is_number(offset) else stretched(offset[..., 0, 0]),
        )

    def with_repeats(self, xp: Any) -> _Call:
        """Stretch keys and values over the axis r."""
        lead = self.query.shape[:-2]
        return self._replace(
            key=xp.broadcast_to(self.key, (*lead, *self.key.shape[-2:])),
            value=xp.broadcast_to(self.value, (*lead, *self.value.shape[-2:])),
        )

    def rows(self, start: int, stop: int) -> _Call:
        """Return the call of some queries alone; for calls without a mask."""
        return self._replace(query=self.query[..., start:stop, :], offset=self.offset + start)

    def at(self, place: tuple[Any, ...]) -> _Call:
        """Return the call of the heads at one place."""
        query, key, value, mask, offset = (
            array if array is None or is_number(array) else array[place]
            for array in (self.query, self.key, self.value, self.mask, self.offset)
        )
        return self._replace(query=query, key=key, value=value, mask=mask, offset=offset)


def _split_heads(xp: Any, array: Any, repeats: int) -> Any:
    """Return (..., h, x, y) as (..., h / repeats, repeats, x, y); a single head stays alone."""
    *lead, heads, rows, columns = (1,) * (3 - array.ndim) + tuple(array.shape)
    repeats = 1 if heads == 1 else repeats
    return xp.reshape(array, (*lead, heads // repeats, repeats, rows, columns))


def _attend(xp: Any, call: _Call, repeats: int) -> tuple[Any, Any]:
    """Return (..., h, q, v), and the log-sum-exp (..., h, q) in at least float32."""
    rank = max(array.ndim for array in (call.query, call.key, call.value))
    call = call.with_groups(xp, repeats)
    output, lse = _on_kernel(xp, call) or _by_windows(xp, call.with_repeats(xp))
    *lead, groups, repeats = output.shape[:-2]
    heads = (*lead, groups * repeats)[: rank - 2] if rank > 2 else ()
    return (
        xp.reshape(output, (*heads, *output.shape[-2:])),
        xp.reshape(lse, (*heads, lse.shape[-1])),
    )


def _on_kernel(xp: Any, call: _Call) -> tuple[Any, Any] | None:
    """Attend on the kernel of torch's device; None where there is none for the call."""
    if not is_torch(call.query) or call.band is None:
        return None
    from companion.kernels import cpu

    dtype = xp.result_type(call.query, call.key, call.value)
    arrays = [xp.astype(x, dtype, copy=False) for x in (call.query, call.key, call.value)]
    query, key, value = arrays
    if not cpu.takes(query, key, value, call.mask):
        return None
    groups, repeats = call.query.shape[-4:-2]
    query = query.reshape(-1, groups, repeats, *query.shape[-2:])
    output, lse = cpu.attention(
        query,
        key.reshape(-1, groups, *key.shape[-2:]),
        value.reshape(-1, groups, *value.shape[-2:]),
        None if call.mask is None else call.mask.reshape(*query.shape[:-1], key.shape[-2]),
        band=call.band,
        scale=call.scale,
        softcap=call.softcap,
        blocks=call.blocks,
    )
    shape = call.query.shape[:-1]
    return output.reshape(*shape, -1), lse.reshape(shape)


def _by_windows(xp: Any, call: _Call) -> tuple[Any, Any]:
    """Attend by the array API; where the band is narrow, in blocks that share a small mask."""
    query, key, value = widen(xp, call.query, call.key, call.value)
    call = call._replace(query=query * call.scale, key=key, value=value)
    call = call._replace(tame=_is_tame(xp, call))
    band = None if call.blocks or call.mask is not None else call.band
    inside = band.interior(query.shape[-2], key.shape[-2]) if band else range(0)
    if band is None or not inside:
        return _by_heads(xp, call)

    size, seen = inside.step, band.seen(range(inside.start, inside.stop), key.shape[-2])
    span = len(seen) - (len(inside) - 1) * size
    blocks = call._replace(
        query=windows(call.query[..., inside.start : inside.stop, :], size, size),
        key=windows(key[..., seen.start : seen.stop, :], span, size),
        value=windows(value[..., seen.start : seen.stop, :], span, size),
        offset=inside.start + band.offset - seen.start,
    )
    middle, middle_lse = _by_heads(xp, blocks)
    before, before_lse = _by_heads(xp, call.rows(0, inside.start))
    after, after_lse = _by_heads(xp, call.rows(inside.stop, query.shape[-2]))
    middle = xp.reshape(middle, (*before.shape[:-2], len(inside) * size, value.shape[-1]))
    middle_lse = xp.reshape(middle_lse, (*before.shape[:-2], len(inside) * size))
    return (
        xp.concat([before, middle, after], axis=-2),
        xp.concat([before_lse, middle_lse, after_lse], axis=-1),
    )


def _by_heads(xp: Any, call: _Call) -> tuple[Any, Any]:
    """Attend, as many heads at once as there is room for."""
    lead, queries, keys = call.query.shape[:-2], call.query.shape[-2], call.key.shape[-2]
    height, width = call.blocks or BLOCKS
    tile = min(height, queries) * min(width, keys)
    parts = [_by_queries(xp, call.at(place)) for place in _places(lead, ROOM // max(tile, 1))]
    if len(parts) == 1:
        return parts[0]
    outputs, logarithms = zip(*parts, strict=True)
    return (
        xp.reshape(xp.concat(outputs, axis=0), (*lead, queries, call.value.shape[-1])),
        xp.reshape(xp.concat(logarithms, axis=0), (*lead, queries)),
    )


def _places(lead: Shape, room: int) -> Iterator[tuple[Any, ...]]:
    """Cut leading axes into runs of at most `room` heads, or of one."""
    if math.prod(lead) <= max(room, 1):
        yield (...,)
        return
    axis, inner = len(lead), 1
    while inner * lead[axis - 1] <= room:
        axis -= 1
        inner *= lead[axis]
    *outer, last = lead[:axis]
    step = max(1, room // inner)
    for place in product(*map(range, outer)):
        for first in range(0, last, step):
            yield (*place, slice(first, first + step), ...)


def _by_queries(xp: Any, call: _Call) -> tuple[Any, Any]:
    """Attend, one block of queries after another."""
    queries, size = call.query.shape[-2], (call.blocks or BLOCKS)[0]
    parts = [
        _attend_block(xp, call, range(start, min(start + size, queries)))
        for start in range(0, max(queries, 1), size)
    ]
    outputs, logarithms = zip(*parts, strict=True)
    return xp.concat(outputs, axis=-2), xp.concat(logarithms, axis=-1)


def _attend_block(xp: Any, call: _Call, rows: range) -> tuple[Any, Any]:
    """Attend from a block of queries to all the keys that they may see, tile after tile."""
    query = call.query[..., rows.start : rows.stop, :]
    # Zeros as a product over no key: gradients pass through them, be there keys or not.
    nothing = xp.matmul(query, xp.matrix_transpose(call.key[..., :0, :]))
    blend = xp.matmul(nothing, call.value[..., :0, :])
    blocks = ((tile, _scores(xp, call, query, tile)) for tile in _tiles(call, rows))
    sums = _sum_powers if call.tame else _sum_online
    highest, total, blend = sums(xp, call, blocks, *_nothing_yet(xp, query), blend)
    alive = total > 0
    total = xp.where(alive, total, 1.0)
    lse = xp.where(alive, highest + xp.log(total), -math.inf)
    return blend / total, lse[..., 0]


def _sum_online(
    xp: Any, call: _Call, blocks: Iterable[tuple[Tile, Any]], highest: Any, total: Any, blend: Any
) -> tuple[Any, Any, Any]:
    """Add powers, and values times powers, less the maximum of what came so far."""
    for tile, scores in blocks:
        top = constant(xp.max(scores, axis=-1, keepdims=True))
        highest, powers, shrink = _absorb(xp, highest, top, scores)
        total = total * shrink + xp.sum(powers, axis=-1, keepdims=True)
        blend = blend * shrink + xp.matmul(powers, call.value[..., tile.keys, :])
    return highest, total, blend


def _sum_powers(
    xp: Any, call: _Call, blocks: Iterable[tuple[Tile, Any]], highest: Any, total: Any, blend: Any
) -> tuple[Any, Any, Any]:
    """Do the same for scores that need no maximum taken out, in their place."""
    for tile, scores in blocks:
        powers = xp.exp(scores, out=scores)
        total += powers @ xp.ones((powers.shape[-1], 1), dtype=powers.dtype)
        blend += powers @ call.value[..., tile.keys, :]
    return xp.zeros_like(highest), total, blend


def _is_tame(xp: Any, call: _Call) -> bool:
    """Bound the scores by the lengths of queries and keys, after Cauchy and Schwarz.

    NumPy's arrays alone are looked into: those of others may be traced, or far away.
    """
    query, key, mask = call.query, call.key, call.mask
    floating = mask is not None and not xp.isdtype(mask.dtype, "bool")
    if not is_numpy(query) or floating or 0 in (*query.shape, *key.shape):
        return False
    with xp.errstate(over="ignore", invalid="ignore"):
        lengths = [float(xp.max(xp.sum(x * x, axis=-1))) for x in (query, key)]
    return math.sqrt(math.prod(lengths)) < TAME


def _tiles(call: _Call, rows: range) -> Iterator[Tile]:
    """Say which keys a block of queries meets; with an array of offsets, it could be any."""
    size, keys = (call.blocks or BLOCKS)[1], call.key.shape[-2]
    if call.band is not None:
        return call.band.tiles(rows, keys, size)
    return (tile._replace(partial=True) for tile in Band().tiles(rows, keys, size))


def _scores(xp: Any, call: _Call, query: Any, tile: Tile) -> Any:
    """Score a block of queries against a tile of keys: softcap, then mask, then band."""
    scores = xp.matmul(query, xp.matrix_transpose(call.key[..., tile.keys, :]))
    if call.softcap is not None:
        scores = call.softcap * xp.tanh(scores / call.softcap)
    if call.mask is not None:
        scores = masked(xp, scores, call.mask[..., tile.queries, tile.keys])
    return _within_band(xp, call, scores, tile) if tile.partial else scores


def _within_band(xp: Any, call: _Call, scores: Any, tile: Tile) -> Any:
    """Put -inf where a tile leaves the band."""
    place = call.offset + tile.queries.start - tile.keys.start
    if call.right is not None:
        near = causal_mask(*scores.shape[-2:], offset=place + call.right, like=scores)
        scores = xp.where(near, scores, -math.inf)
    if call.left is not None:
        far = causal_mask(*scores.shape[-2:], offset=place - call.left - 1, like=scores)
        scores = xp.where(far, -math.inf, scores)
    return scores


def _nothing_yet(xp: Any, rows: Any) -> tuple[Any, Any]:
    """Return the maximum and the sum, (..., q, 1), of rows of which nothing was seen so far."""
    shape, options = (*rows.shape[:-1], 1), {"dtype": rows.dtype, "device": device_of(rows)}
    return xp.full(shape, -math.inf, **options), xp.zeros(shape, **options)
