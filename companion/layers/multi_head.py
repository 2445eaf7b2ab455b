"""Multi-head attention: self, causal, cross, grouped, with a cache, all by one layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from companion.attention import (
    attention_with_weights,
    scaled_dot_product_attention,
)
from companion.contracts import contract
from companion.layers._masks import check_covers, narrow
from companion.layers.attended import Attended
from companion.masks import padding_mask
from companion.positions import rotate

if TYPE_CHECKING:
    from companion.cache import KVCache

Rotary = Callable[[Tensor, Tensor], Tensor]
"""What turns heads (b, h, n, d) by positions, (n,) or (b, n)."""


class ProjectedMemory(NamedTuple):
    """Keys and values of a memory, projected once for all the queries that will look at it.

    Attributes:
        key: (b, g, k, d).
        value: (b, g, k, d).
    """

    key: Tensor
    value: Tensor


@contract(
    embed_dim=">= 1", num_heads=">= 1", num_kv_heads=">= 1", head_dim=">= 1", key_dim=">= 1",
    value_dim=">= 1", dropout_p=">= 0 and < 1", softcap="> 0",
)  # fmt: skip
class MultiHeadAttention(nn.Module):
    """Attend from several projections at once, and join what they gather (Vaswani et al., 2017).

    Queries are projected to h heads of width d, keys and values to g heads, each of which serves
    h / g consecutive query heads (Ainslie et al., 2023). The order is: projection, norm, rotation,
    cache, attention, projection of the joined heads.

    Args:
        embed_dim: width e of a query and of the output.
        num_heads: number of query heads h.
        num_kv_heads: number of key and value heads g, a divisor of h; None means h.
        head_dim: width d of a head; None means e / h.
        key_dim: width of a key before its projection; None means e.
        value_dim: width of a value before its projection; None means e.
        bias: give the four projections biases.
        dropout_p: probability of dropping a weight in training.
        qk_norm: divide every head of queries and keys by its root mean square and multiply it by
            learned gains, (d,) for each of the two (Henry et al., 2020), before the rotation, as
            Qwen3 does.
        rotary: turn queries and keys by their positions (Su et al., 2021). True means
            `companion.positions.rotate` with its defaults. For another base, a part of the width
            or the interleaved layout give a function of heads and positions, such as
            partial(rotate, frequencies=rotary_frequencies(32), interleaved=True).
        window: number of keys that a query may attend to, its own position the last of them
            (Beltagy et al., 2020); or a pair, how many before its own position and how many after.
        softcap: bound on the scores, softcap * tanh(scores / softcap).
        sinks: learn a logit a head that joins the softmax's denominator; it begins at 0.
        attention_fn: what computes attention. It is called with (query, key, value, attn_mask) in
            heads and, by the names of `scaled_dot_product_attention`, those of is_causal, offset,
            enable_gqa, dropout_p, softcap and sinks that are in use, no others. Where weights are
            wanted, `attention_with_weights` stands in for the default; another function is told
            need_weights=True and returns both.

    Raises:
        ValueError: a number out of range, or one that does not divide another.

    >>> import torch
    >>> attention = MultiHeadAttention(embed_dim=12, num_heads=6, num_kv_heads=3)
    >>> x, memory = torch.ones(2, 5, 12), torch.ones(2, 7, 12)
    >>> attention(x, is_causal=True).shape, attention(x, memory).shape
    (torch.Size([2, 5, 12]), torch.Size([2, 5, 12]))
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        *,
        num_kv_heads: int | None = None,
        head_dim: int | None = None,
        key_dim: int | None = None,
        value_dim: int | None = None,
        bias: bool = False,
        dropout_p: float = 0.0,
        qk_norm: bool = False,
        rotary: Rotary | bool | None = None,
        window: int | tuple[int, int] | None = None,
        softcap: float | None = None,
        sinks: bool = False,
        attention_fn: Callable[..., Any] = scaled_dot_product_attention,
    ) -> None:
        super().__init__()
        self.embed_dim, self.num_heads = embed_dim, num_heads
        self.num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        self.head_dim = (
            embed_dim // num_heads if head_dim is None else head_dim
        )
        self.key_dim = embed_dim if key_dim is None else key_dim
        self.value_dim = embed_dim if value_dim is None else value_dim
        if head_dim is None and embed_dim % num_heads:
            raise ValueError(
                f"num_heads: got {num_heads}, wanted a divisor of embed_dim, {embed_dim}, "
                "or a head_dim"
            )
        if num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_kv_heads: got {num_kv_heads}, wanted a divisor of num_heads, {num_heads}"
            )
        self.dropout_p = dropout_p
        self.softcap = softcap
        self.attention_fn = attention_fn
        self.rotary = _rotary(rotary, self.head_dim)
        self.window = _window(window)

        width = num_heads * self.head_dim
        kv_width = self.num_kv_heads * self.head_dim
        self.query_proj = nn.Linear(embed_dim, width, bias)
        self.key_proj = nn.Linear(self.key_dim, kv_width, bias)
        self.value_proj = nn.Linear(self.value_dim, kv_width, bias)
        self.output_proj = nn.Linear(width, embed_dim, bias)
        self.query_norm, self.key_norm = (
            nn.RMSNorm(self.head_dim, eps=1e-6) if qk_norm else None
            for _ in range(2)
        )
        self.sinks = nn.Parameter(torch.zeros(num_heads)) if sinks else None

    @contract(
        matching="query_proj.weight", key="... k key_dim", value="... k value_dim",
        positions="numbers: b... k",
    )  # fmt: skip
    def project_memory(
        self,
        key: Tensor,
        value: Tensor | None = None,
        *,
        positions: Tensor | None = None,
    ) -> ProjectedMemory:
        """Project a memory once; a decoder then passes the result as `key` at every step.

        Args:
            value: None means `key`.
            positions: what rotary turns the keys by, (k,) or (b, k); None means from 0 on.

        Returns:
            Keys and values in heads, (..., g, k, d).
        """
        if value is None and key.shape[-1] != self.value_dim:
            raise ValueError(
                f"value: got None, wanted values of value_dim, {self.value_dim}, "
                f"where key has {key.shape[-1]}"
            )
        keys = self._split_heads(self.key_proj(key), self.key_norm)
        values = self._split_heads(
            self.value_proj(key if value is None else value)
        )
        return ProjectedMemory(self._rotate(keys, positions), values)

    @contract(
        matching="query_proj.weight", query="... q embed_dim", key="... k key_dim",
        value="... k value_dim", positions="numbers: b... q",
        attn_mask="mask: ~... ~num_heads ~q _", lengths="integers: ...",
    )  # fmt: skip
    def forward(
        self,
        query: Tensor,
        key: Tensor | ProjectedMemory | None = None,
        value: Tensor | None = None,
        *,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        positions: Tensor | None = None,
        cache: KVCache | None = None,
        lengths: Tensor | None = None,
        need_weights: bool = False,
    ) -> Tensor | Attended:
        """Let every query gather values by how well their keys answer it.

        Args:
            query: without a cache, leading axes are free.
            key: the memory to look at, or what `project_memory` made of it; None means `query`:
                self-attention.
            value: None means `key`.
            attn_mask: broadcast to (b, h, q, k): boolean, True = may attend, or floating, added to
                the scores. With a cache k counts all tokens so far and the new ones, those that
                its window has left behind too.
            is_causal: allow key j for query i only if j <= i, on top of `attn_mask`; with a cache,
                i counts from the number of cached tokens.
            positions: what rotary turns the queries by, and in self-attention the keys, (q,) or
                (b, q); None means from 0, or the number of cached tokens, on. They mean nothing
                to a window and to `is_causal`, which go by the order of tokens.
            cache: holds keys and values of the tokens before, and takes those of the new ones.
            lengths: how many of the q tokens are real, (b,), as for `KVCache.update`. The rest, at
                the end, is padding, and its output means nothing.
            need_weights: also return the weights.

        Returns:
            (b, q, e); with `need_weights`, `Attended`: the output, and the weights (b, h, q, k),
            before dropout. Those of a cache with a window are in the order of its
            `key_positions`.

        Raises:
            ValueError: a cache beside a key, a cache that is full or keeps fewer tokens than the
                window, or lengths without a cache.
        """
        if cache is not None:
            self._check_cache(cache, query, key, is_causal)
        elif lengths is not None:
            raise ValueError(
                "lengths: got some without a cache, wanted None and a padding mask"
            )
        self._check_memory(query, key, value, attn_mask, cache)

        offset = 0 if cache is None else cache.offset
        if positions is None and cache is not None:
            positions = _positions_from(offset, query)
        queries = self._split_heads(self.query_proj(query), self.query_norm)
        queries = self._rotate(queries, positions)
        if key is None:
            memory = self.project_memory(query, positions=positions)
        else:
            memory = (
                key
                if isinstance(key, ProjectedMemory)
                else self.project_memory(key, value)
            )
        if cache is not None:
            memory = ProjectedMemory(*cache.update(*memory, lengths=lengths))
            attn_mask = _drop_forgotten(attn_mask, cache)

        attn_mask, causal = self._narrow_mask(
            attn_mask, is_causal, offset, query, memory, cache
        )
        attend = self._with_weights() if need_weights else self.attention_fn
        attended = attend(
            queries, *memory, attn_mask, **causal, **self._options()
        )
        output, weights = attended if need_weights else (attended, None)
        output = self.output_proj(output.transpose(-2, -3).flatten(-2))
        return output if weights is None else Attended(output, weights)

    def _check_memory(
        self,
        query: Tensor,
        key: Tensor | ProjectedMemory | None,
        value: Tensor | None,
        attn_mask: Tensor | None,
        cache: KVCache | None,
    ) -> None:
        """Refuse keys, values and a mask that do not go together."""
        if value is not None and not isinstance(key, Tensor):
            came = (
                "without a key" if key is None else "beside a projected memory"
            )
            raise ValueError(f"value: got one {came}, wanted None")
        if (
            key is None
            and not self.key_dim == self.value_dim == self.embed_dim
        ):
            raise ValueError(
                f"key: got None, wanted a memory: key_dim is {self.key_dim} and value_dim "
                f"{self.value_dim}, where query has embed_dim, {self.embed_dim}"
            )
        if isinstance(key, ProjectedMemory):
            wanted = self.num_kv_heads, key.key.shape[-2], self.head_dim
            for name, heads in (("key", key.key), ("value", key.value)):
                if heads.shape[-3:] != wanted:
                    shape = tuple(heads.shape)
                    raise ValueError(
                        f"{name}: got shape {shape}, wanted (..., g, k, d) {wanted}"
                    )
        keys = key.key if isinstance(key, ProjectedMemory) else key
        k_len = (query if keys is None else keys).shape[-2]
        k_len += 0 if cache is None else cache.length
        check_covers("attn_mask", attn_mask, k_len)

    def _check_cache(
        self, cache: KVCache, query: Tensor, key: object, is_causal: bool
    ) -> None:
        """Refuse a cache that does not go with the layer and the call."""
        if not hasattr(cache, "query_positions"):
            raise TypeError(
                f"cache: got {type(cache).__name__}, wanted a KVCache"
            )
        if key is not None:
            raise ValueError(
                "cache: got one beside a key, wanted None: a cache is for self-attention, "
                "a memory is projected once by `project_memory`"
            )
        if query.ndim != 3:
            shape = tuple(query.shape)
            raise ValueError(
                f"query: got shape {shape}, wanted (b, q, embed_dim) with a cache"
            )
        sizes = attrgetter(
            "batch_size", "num_kv_heads", "head_dim", "value_dim"
        )
        shape, d = sizes(cache), self.head_dim
        wanted = query.shape[0], self.num_kv_heads, d, d
        if shape != wanted:
            raise ValueError(
                f"cache: got {shape} for (b, g, d, v), wanted {wanted}, the layer's"
            )
        if cache.dtype != query.dtype and not torch.is_autocast_enabled(
            cache.device.type
        ):
            raise TypeError(
                f"cache: got dtype {cache.dtype}, wanted {query.dtype}, query's"
            )
        before, after = self.window or (math.inf, 0)
        if cache.window is not None and cache.window <= before:
            kept = f"None or at least {before + 1}" if self.window else "None"
            raise ValueError(
                f"cache: got window {cache.window}, wanted {kept}, as the layer has"
            )
        if after and not is_causal:
            raise ValueError(
                f"is_causal: got False with a cache, wanted True: the window of the layer wants "
                f"{after} keys that are still to come"
            )

    def _split_heads(
        self, projected: Tensor, norm: nn.RMSNorm | None = None
    ) -> Tensor:
        """Cut (..., n, h * d) into heads, (..., h, n, d)."""
        heads = torch.unflatten(projected, -1, (-1, self.head_dim)).transpose(
            -2, -3
        )
        if norm is None:
            return heads
        # Autocast leaves the gains as they are.
        normed: Tensor = norm(heads.to(norm.weight.dtype))
        return normed.to(heads.dtype)

    def _rotate(self, heads: Tensor, positions: Tensor | None) -> Tensor:
        """Turn heads by positions, where the layer is rotary; None means from 0 on."""
        if self.rotary is None:
            return heads
        if positions is None:
            positions = torch.arange(heads.shape[-2], device=heads.device)
        return self.rotary(heads, positions)

    def _narrow_mask(
        self,
        attn_mask: Tensor | None,
        is_causal: bool,
        offset: int | Tensor,
        query: Tensor,
        memory: ProjectedMemory,
        cache: KVCache | None,
    ) -> tuple[Tensor | None, dict[str, Any]]:
        """Return the mask, narrowed by window and padding, and what makes attention causal."""
        k_len = memory.key.shape[-2]
        if self.window is not None:
            positions = _positions_from(offset, query)
            near = _window_mask(
                self.window, positions, k_len, is_causal, cache
            )
            return narrow(attn_mask, near), {}
        if is_causal:
            return attn_mask, _causal(offset, k_len)
        if cache is not None and isinstance(cache.offset, Tensor):
            real = padding_mask(cache.lengths[:, None], k_len)
            return narrow(attn_mask, real), {}
        return attn_mask, {}

    def _with_weights(self) -> Callable[..., Any]:
        """Return what computes attention and its weights."""
        if self.attention_fn is scaled_dot_product_attention:
            return attention_with_weights
        return partial(self.attention_fn, need_weights=True)

    def _options(self) -> dict[str, Any]:
        """Return what attention is told besides its arrays, and nothing that it need not know."""
        options = {
            "enable_gqa": self.num_kv_heads != self.num_heads or None,
            "dropout_p": (self.training and self.dropout_p) or None,
            "softcap": self.softcap,
            "sinks": self.sinks,
        }
        return {k: v for k, v in options.items() if v is not None}


def _causal(offset: int | Tensor, k_len: int) -> dict[str, Any]:
    """Return what attention must be told so that no query attends to a key after it."""
    if isinstance(offset, int) and offset >= k_len - 1:
        return {}  # there is none
    if isinstance(offset, int) and offset == 0:
        return {"is_causal": True}
    return {"is_causal": True, "offset": offset}


def _positions_from(offset: int | Tensor, x: Tensor) -> Tensor:
    """Return the positions of tokens (..., n, e) that begin at the offset, (n,) or (b, n)."""
    steps = torch.arange(x.shape[-2], device=x.device)
    return steps + (offset[:, None] if isinstance(offset, Tensor) else offset)


def _window_mask(
    window: tuple[int, int],
    positions: Tensor,
    k_len: int,
    is_causal: bool,
    cache: KVCache | None,
) -> Tensor | None:
    """Say which keys lie in the window, (..., 1, q, k); None where all of them do."""
    before, after = window
    if cache is not None and positions.shape == (1,) and k_len <= before + 1:
        return None
    keys = (
        torch.arange(k_len, device=positions.device)
        if cache is None
        else cache.key_positions
    )
    distance = positions[..., None, :, None] - keys[..., None, None, :]
    near = (distance <= before) & (distance >= (0 if is_causal else -after))
    return near if cache is None else near & (keys >= 0)[..., None, None, :]


def _drop_forgotten(attn_mask: Tensor | None, cache: KVCache) -> Tensor | None:
    """Return, of a mask over all tokens so far, the columns of the keys that a ring still has."""
    if attn_mask is None or cache.window is None:
        return attn_mask
    positions = cache.key_positions.clamp(min=0)[..., None, None, :]
    attn_mask, positions = (
        x[(None,) * (4 - x.ndim)] for x in (attn_mask, positions)
    )
    return torch.take_along_dim(attn_mask, positions, dim=-1)


def _rotary(rotary: Rotary | bool | None, head_dim: int) -> Rotary | None:
    if rotary is True and head_dim % 2:
        raise ValueError(
            f"head_dim: got {head_dim}, wanted an even number for rotary=True"
        )
    if isinstance(rotary, bool):
        return rotate if rotary else None
    return rotary


def _window(window: int | tuple[int, int] | None) -> tuple[int, int] | None:
    """Return how many keys a query may attend to before and after its own position."""
    pair = window if isinstance(window, tuple | None) else (window - 1, 0)
    if pair is not None and min(pair) < 0:
        raise ValueError(
            f"window: got {window}, wanted at least 1, or a pair from 0 on"
        )
    return pair
