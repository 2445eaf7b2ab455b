"""Torch's own fused attention: the definitions' values without the (q, k) matrix of scores.

A function here bears the name of the definition that it computes and takes its arguments; it
returns the result, or NotImplemented where it does not take the call.

Keys that are not finite are the exception. Torch adds a mask to the scores, so that a NaN or an
infinity in a masked key gives NaN here, where the definition leaves the key out: `definitions()`
computes such a call. In a masked value both give NaN, as 0 times NaN is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from companion.arrays import result_dtype
from companion.bands import Band, Tile, part_of_mask
from companion.heads import offset_beside_heads, repeat_kv
from companion.masks import causal_mask

FEW_KEYS = 256  # up to which it pays to make all scores at once


def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False, offset: Any = 0, softcap: float | None = None, sinks: Any = None,
) -> Any:  # fmt: skip
    """Run `F.scaled_dot_product_attention`, which wants four axes and one dtype.

    >>> import torch
    >>> x = torch.ones(1, 2, 3, 4)
    >>> scaled_dot_product_attention(x, x, x).shape
    torch.Size([1, 2, 3, 4])
    >>> scaled_dot_product_attention(x, x, x, softcap=2.0)
    NotImplemented
    """
    if (
        softcap is not None
        or sinks is not None
        or not _takes(query, key, value, attn_mask)
    ):
        return NotImplemented
    if is_causal:
        offset = offset_beside_heads(offset, query, key)
        attn_mask, is_causal = _with_causal(attn_mask, query, key, offset)
    if is_causal and scale is not None and scale <= 0:
        return NotImplemented  # torch scales what it has masked, and -inf becomes inf
    if not query.ndim == key.ndim == value.ndim == 4:
        if max(query.ndim, key.ndim, value.ndim) > 4:
            return NotImplemented
        options = {
            "dropout_p": dropout_p,
            "scale": scale,
            "enable_gqa": enable_gqa,
        }
        return _with_four_axes(
            query, key, value, attn_mask, is_causal=is_causal, **options
        )
    if attn_mask is not None:
        return _with_mask(
            query, key, value, attn_mask, dropout_p, scale, enable_gqa
        )
    alone = enable_gqa and not is_causal and dropout_p == 0
    # `len` would fix a traced size.
    if alone and query.shape[0] == key.shape[0] == value.shape[0]:
        return _side_by_side(query, key, value, scale)
    return _attend(
        query, key, value, None, dropout_p, is_causal, scale, enable_gqa
    )


def _attend(
    query: Any, key: Any, value: Any, mask: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Run torch's function, with the kernel that is the quickest for few keys.

    In bfloat16 on the CPU the tiled one takes gradients head by head, and each of these small
    products costs more to set up than to compute.
    """
    slow = query.dtype == torch.bfloat16 and _is_small(query, key)
    # A small call pays for every argument that torch has to read.
    told = dropout_p or is_causal or enable_gqa
    if mask is None and scale is None and not (told or slow):
        return F.scaled_dot_product_attention(query, key, value)
    arguments = query, key, value, mask, dropout_p, is_causal
    with sdpa_kernel(SDPBackend.MATH) if slow else nullcontext():
        return F.scaled_dot_product_attention(
            *arguments, scale=scale, enable_gqa=enable_gqa
        )


def _is_small(query: Any, key: Any) -> bool:
    """Say whether gradients on the CPU are to come through few keys."""
    few = query.requires_grad and key.shape[-2] <= FEW_KEYS
    return (
        few
        and query.device.type == "cpu"
        and not torch.compiler.is_compiling()
    )


def _takes(query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Say whether dtypes agree, a floating mask's included, which would else be rounded."""
    if not query.dtype == key.dtype == value.dtype:
        return False
    if (
        mask is not None
        and mask.dtype.is_floating_point
        and mask.dtype != query.dtype
    ):
        return False
    return bool(query.numel() and key.numel() and value.numel())


def _with_causal(
    mask: Any, query: Any, key: Any, offset: Any
) -> tuple[Any, bool]:
    """Narrow a mask to key j for query i iff j <= i + offset, or leave it to the kernel: (_, True).

    Where every key is allowed there is nothing to narrow.
    """
    q_len, k_len = query.shape[-2], key.shape[-2]
    if isinstance(offset, int):
        if offset >= k_len - 1:
            return mask, False
        if offset == 0 and mask is None:
            return None, True
    causal = causal_mask(q_len, k_len, offset=offset, like=query)
    return _narrowed(mask, causal), False


def _with_four_axes(
    query: Any, key: Any, value: Any, mask: Any, **options: Any
) -> Any:
    """Lend the arrays the leading axes that they lack."""
    missing = 4 - max(query.ndim, key.ndim, value.ndim)
    query, key, value = (
        x[(None,) * (4 - x.ndim)] for x in (query, key, value)
    )
    return scaled_dot_product_attention(query, key, value, mask, **options)[
        (0,) * missing
    ]


def _with_mask(
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    dropout_p: float,
    scale: Any,
    enable_gqa: bool,
) -> Any:
    """Allow every key to the rows that have none, and throw these rows' output away.

    What the kernel gives for a row without keys, and for its gradients, differs between devices and
    versions of torch: it never gets one.
    """
    mask = mask[(None,) * (4 - mask.ndim)]
    if mask.dtype.is_floating_point:
        alive = (mask > -math.inf).any(-1, keepdim=True)
        mask = mask.where(alive, 0.0)
    else:
        alive = mask.any(-1, keepdim=True)
        mask = mask | ~alive
    output = _attend(
        query, key, value, mask, dropout_p, False, scale, enable_gqa
    )
    return output.where(alive, 0.0)


def _side_by_side(
    query: Any, key: Any, value: Any, scale: float | None
) -> Any:
    """Put the queries of all the heads that share a key head in a row.

    Nothing tells them apart where all may attend to every key, and the keys are read once for all
    of them: in decoding that is most of the time.
    """
    b, h, q, d = query.shape
    rows = query.reshape(b, key.shape[1], -1, d)
    output = _attend(rows, key, value, scale=scale)
    return output.reshape(b, h, q, -1)


def tiled_attention(
    query: Any, key: Any, value: Any, *arguments: Any, **options: Any
) -> Any:
    """Attend with memory that grows with the length, on the CPU.

    >>> x = torch.ones(1, 2, 3, 4)
    >>> tiled_attention(x, x, x, left=1).shape, tiled_attention(x, x, x, softcap=2.0)
    (torch.Size([1, 2, 3, 4]), NotImplemented)
    """
    result = tiled_attention_with_lse(query, key, value, *arguments, **options)
    return result if result is NotImplemented else result[0]


def tiled_attention_with_lse(
    query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False, *,
    scale: float | None = None, enable_gqa: bool = False, offset: Any = 0,
    softcap: float | None = None, sinks: Any = None, left: int | None = None,
    right: int | None = None, block_size: Any = None,
) -> Any:  # fmt: skip
    """Attend, and return the log-sum-exp of the rows as well.

    >>> x = torch.zeros(1, 1, 3, 4)
    >>> tiled_attention_with_lse(x, x, x, is_causal=True)[1].exp()
    tensor([[[1., 2., 3.]]])
    """
    dtype, right = result_dtype(query, key, value), 0 if is_causal else right
    band = Band(left, right, 0 if left is None and right is None else offset)
    if softcap is not None or isinstance(band.offset, torch.Tensor):
        return NotImplemented
    if not _fits(query, key, value, attn_mask, dtype):
        return NotImplemented
    if enable_gqa:
        key, value = repeat_kv(key, query), repeat_kv(value, query)
    d, v = query.shape[-1], value.shape[-1]
    leads = query.shape[:-2], key.shape[:-2], value.shape[:-2]
    lead = torch.broadcast_shapes(*leads)  # type: ignore[no-untyped-call]
    arrays = (
        _on_four_axes(x.to(dtype), lead, max(d, v))
        for x in (query, key, value)
    )
    mask = None if attn_mask is None else _mask_on_four_axes(attn_mask, lead)
    scale = 1 / math.sqrt(d) if scale is None else scale
    output, lse = _BlockwiseAttention.apply(*arrays, mask, band, scale)  # type: ignore[no-untyped-call]
    output = output[..., :v].reshape(*lead, query.shape[-2], v)
    lse = lse.reshape(*lead, query.shape[-2])
    return (output, lse) if sinks is None else _with_sinks(sinks, output, lse)


def _fits(query: Any, key: Any, value: Any, mask: Any, dtype: Any) -> bool:
    """Say whether the operator is there, and neither rounds a floating mask nor owes it a gradient.

    Of empty arrays it would divide by zero, and end the process.
    """
    if (
        torch.compiler.is_compiling()
        or not query.device.type == key.device.type == "cpu"
    ):
        return False
    if mask is not None and mask.dtype.is_floating_point:
        rounded = torch.promote_types(mask.dtype, dtype) != dtype
        if rounded or (mask.requires_grad and torch.is_grad_enabled()):
            return False
    return bool(query.numel() and key.numel() and value.numel())


def _on_four_axes(array: Any, lead: Any, width: int) -> Any:
    """Return (..., n, d) as (b, h, n, width), with zeros behind, and rows that lie in a piece.

    Zeros add nothing to a score, and what they blend is cut off. The operator does not look whether
    the numbers of a row stand side by side; it takes it for granted.
    """
    if array.shape[-1] < width:
        array = F.pad(array, (0, width - array.shape[-1]))
    array = array.expand(*lead, *array.shape[-2:])
    return _with_whole_rows(
        array.reshape(-1, lead[-1] if lead else 1, *array.shape[-2:])
    )


def _with_whole_rows(array: Any) -> Any:
    """Return an array (..., n, d) whose rows lie in a piece, without overlap: itself, if it can."""
    row, number = array.stride()[-2:]
    return (
        array if number == 1 and row >= array.shape[-1] else array.contiguous()
    )


def _mask_on_four_axes(mask: Any, lead: Any) -> Any:
    """Return a mask (..., q or 1, k) as (b or 1, h or 1, q or 1, k)."""
    mask = mask[(None,) * (max(len(lead), 2) + 2 - mask.ndim)]
    return (
        mask
        if mask.ndim == 4
        else mask.expand(*lead[:-1], *mask.shape[-3:]).flatten(0, -4)
    )


def _with_sinks(sinks: Any, output: Any, lse: Any) -> tuple[Any, Any]:
    """Let the logits of sinks join the sums: each is a key whose value is zero."""
    logits, alive = sinks.to(lse.dtype)[..., None], lse > -math.inf
    finite = lse.where(alive, 0.0)
    share = torch.sigmoid(finite - logits)[..., None]
    return output * share.to(output.dtype), torch.logaddexp(
        finite, logits
    ).where(alive, logits)


class _BlockwiseAttention(torch.autograd.Function):
    """Attend within a band, one call of torch's operator for a block of queries.

    Arrays are (b, h, n, d), of one width. The log-sum-exp has a gradient here, of which torch's has
    none. The operator takes rowsum(grad_output * output) from the gradients of a row's weights:
    with one more column, which holds 1 in the first and the negative gradient of the log-sum-exp in
    the second, it adds that gradient to them.
    """

    @staticmethod
    def forward(
        query: Any, key: Any, value: Any, mask: Any, band: Band, scale: float
    ) -> Any:
        parts = []
        for rows, keys, is_causal, bias, alive in _blocks(
            query, key, mask, band, scale
        ):
            arrays = (
                query[..., rows, :],
                key[..., keys, :],
                value[..., keys, :],
            )
            output, lse = _attend_with_lse(
                *arrays, 0.0, is_causal, attn_mask=bias, scale=scale
            )
            # What torch gives for a row without keys depends on its version.
            if alive is not None:
                output, lse = (
                    output.where(alive[..., None], 0.0),
                    lse.where(alive, -math.inf),
                )
            parts.append((output, lse))
        if len(parts) == 1:
            return parts[0]
        outputs, lses = zip(*parts, strict=True)
        return torch.cat(outputs, -2), torch.cat(lses, -1)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        query, key, value, mask, ctx.band, ctx.scale = inputs
        ctx.save_for_backward(query, key, value, mask, *output)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, grad_output: Any, grad_lse: Any) -> Any:
        query, key, value, mask, output, lse = ctx.saved_tensors
        d = query.shape[-1]
        grad_output = (
            torch.zeros_like(output) if grad_output is None else grad_output
        )
        if grad_lse is not None:
            query, key, value = (F.pad(x, (0, 1)) for x in (query, key, value))
            output = torch.cat(
                (output, -grad_lse[..., None].to(output.dtype)), -1
            )
            grad_output = F.pad(grad_output, (0, 1), value=1.0)
        # No weights in a row without keys.
        lse = lse.where(lse > -math.inf, math.inf)
        wide = torch.promote_types(query.dtype, torch.float32)
        grads: list[Any] = []
        for rows, keys, is_causal, bias, _ in _blocks(
            query, key, mask, ctx.band, ctx.scale
        ):
            parts = _gradients(
                grad_output[..., rows, :], query[..., rows, :], key[..., keys, :],
                value[..., keys, :], output[..., rows, :], lse[..., rows], 0.0, is_causal,
                attn_mask=bias, scale=ctx.scale,
            )  # fmt: skip
            arrays = query, key, value
            if [x.shape for x in parts] == [x.shape for x in arrays]:
                grads = parts  # of one block: there is nothing to add up
                break
            grads = grads or [torch.zeros_like(x, dtype=wide) for x in arrays]
            for total, part, place in zip(
                grads, parts, (rows, keys, keys), strict=True
            ):
                total[..., place, :] += part
        return (
            *(total[..., :d].to(query.dtype) for total in grads),
            None,
            None,
            None,
        )


class _Block(NamedTuple):
    """A block of queries with the keys that some of them see.

    Attributes:
        rows: the queries.
        keys: the keys, at least one.
        is_causal: query i sees key i and those before it.
        bias: what is added to the scores, if anything.
        alive: which queries see a key, (..., q); None: all of them.
    """

    rows: slice
    keys: slice
    is_causal: bool
    bias: Any
    alive: Any


def _blocks(
    query: Any, key: Any, mask: Any, band: Band, scale: float
) -> Iterator[_Block]:
    """Cut the queries into blocks: one, where torch's operator knows the band by itself."""
    q_len, k_len = query.shape[-2], key.shape[-2]
    # Told that it is causal it scales what it has masked: -inf times no positive number is wrong.
    causal = band == Band(right=0) and mask is None and scale > 0
    if band == Band() or causal:
        yield _Block(
            slice(q_len), slice(k_len), causal, *_bias(mask, query.dtype)
        )
        return
    known = bias = alive = None
    height = queries_at_once(band)
    for start in range(0, q_len, height):
        rows = slice(start, min(start + height, q_len))
        seen = band.seen(range(rows.start, rows.stop), k_len) or range(1)
        keys = slice(seen.start, seen.stop)
        form = rows.stop - start, seen.start - start, len(seen)
        # Far from the ends all windows look alike.
        if form != known or mask is not None:
            tile = Tile(rows, keys, partial=True)
            allowed = _narrowed(
                part_of_mask(mask, tile), band.mask(rows, keys, like=query)
            )
            bias, alive = _bias(allowed, query.dtype)
            known = form
        yield _Block(rows, keys, False, bias, alive)


def queries_at_once(band: Band) -> int:
    """Return how many queries share a call: few, where a window moves along with them.

    >>> queries_at_once(Band(left=9, right=0)), queries_at_once(Band(right=0, offset=5))
    (64, 256)
    """
    return 256 if band.left is None or band.right is None else 64


def _narrowed(mask: Any, allowed: Any) -> Any:
    """Narrow a mask, boolean or floating, to what is allowed besides."""
    if mask is None:
        return allowed
    return (
        mask.where(allowed, -math.inf)
        if mask.dtype.is_floating_point
        else mask & allowed
    )


def _bias(mask: Any, dtype: Any) -> tuple[Any, Any]:
    """Return what a mask adds to the scores, and which rows it leaves a key; None: all."""
    if mask is None:
        return None, None
    allowed = mask > -math.inf if mask.dtype.is_floating_point else mask
    alive = allowed.any(-1)
    if mask.dtype.is_floating_point:
        bias = _with_whole_rows(mask.to(dtype))
    else:
        bias = torch.zeros(mask.shape, dtype=dtype).masked_fill_(
            ~mask, -math.inf
        )
    return bias, None if alive.all() else alive


_attend_with_lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
_gradients = (
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
)
