"""Multi-head attention: self, causal, cross, grouped, with a cache, all by one layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypedDict, Unpack, overload

import torch
from torch import Tensor, nn

from companion.arrays import (
    broadcast_shape,
    check_flag,
    check_mask,
    check_number,
    check_rank,
    check_size,
    check_whole,
    namespace,
)
from companion.attention import scaled_dot_product_attention
from companion.layers._checks import check_input, check_probability, check_tensors
from companion.layers._joined import Joined
from companion.layers._masks import narrow
from companion.masks import padding_mask
from companion.positions import rotate

if TYPE_CHECKING:
    from companion.cache import KVCache

Rotary = Callable[[Tensor, Tensor], Tensor]


class ProjectedMemory(NamedTuple):
    """Keys and values of a memory, projected once for all the queries that will look at it.

    Attributes:
        key: (b, g, k, d).
        value: (b, g, k, d).
    """

    key: Tensor
    value: Tensor


class _Options(TypedDict, total=False):
    attn_mask: Tensor | None
    is_causal: bool
    positions: Tensor | None
    cache: KVCache | None
    lengths: Tensor | None


class MultiHeadAttention(nn.Module):
    """Attend from several projections at once, and join what they find (Vaswani et al., 2017).

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
        rotary: turn queries and keys by their places (Su et al., 2021). True means
            `companion.positions.rotate` with its defaults. For another base, a part of the width
            or the interleaved layout give a function of heads and places, such as
            partial(rotate, frequencies=rotary_frequencies(32), interleaved=True).
        window: number of keys that a query may attend to, its own place the last of them (Beltagy
            et al., 2020); or a pair, how many before its own place and how many after.
        softcap: bound on the scores, softcap * tanh(scores / softcap).
        sinks: learn a logit a head that joins the softmax's denominator; it begins at 0.
        attention_fn: what computes attention. It is called with (query, key, value, attn_mask) in
            heads and, by the names of `scaled_dot_product_attention`, those of is_causal, offset,
            enable_gqa, dropout_p, softcap, sinks and need_weights that are in use, no others.

    Raises:
        TypeError: a number that is not whole, or a rotary or attention_fn that cannot be called.
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
        head_dim = _head_dim(embed_dim, num_heads, head_dim)
        num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        key_dim = embed_dim if key_dim is None else key_dim
        value_dim = embed_dim if value_dim is None else value_dim
        check_whole(1, num_kv_heads=num_kv_heads, key_dim=key_dim, value_dim=value_dim)
        if num_heads % num_kv_heads:
            raise ValueError(
                f"num_kv_heads: got {num_kv_heads}, wanted a divisor of num_heads, {num_heads}"
            )
        check_probability(dropout_p=dropout_p)
        check_number(softcap=softcap)
        check_flag(bias=bias, qk_norm=qk_norm, sinks=sinks)
        if softcap is not None and not softcap > 0:
            raise ValueError(f"softcap: got {softcap}, wanted a number above 0, or None")
        if not callable(attention_fn):
            raise TypeError(f"attention_fn: got {type(attention_fn).__name__}, wanted a function")
        self.embed_dim, self.key_dim, self.value_dim = embed_dim, key_dim, value_dim
        self.num_heads, self.num_kv_heads, self.head_dim = num_heads, num_kv_heads, head_dim
        self.dropout_p, self.softcap, self.attention_fn = dropout_p, softcap, attention_fn
        self.rotary = _rotary(rotary, head_dim)
        self.window = _window(window)

        self.query_proj = nn.Linear(embed_dim, num_heads * head_dim, bias)
        self.key_proj = nn.Linear(key_dim, num_kv_heads * head_dim, bias)
        self.value_proj = nn.Linear(value_dim, num_kv_heads * head_dim, bias)
        self.output_proj = nn.Linear(num_heads * head_dim, embed_dim, bias)
        self.query_norm = nn.RMSNorm(head_dim, eps=1e-6) if qk_norm else None
        self.key_norm = nn.RMSNorm(head_dim, eps=1e-6) if qk_norm else None
        self.sinks = nn.Parameter(torch.zeros(num_heads)) if sinks else None
        self._joined = Joined()
        self.lay_out()
        self.register_load_state_dict_post_hook(_lay_out_loaded)  # type: ignore[no-untyped-call]

    def project_memory(
        self, key: Tensor, value: Tensor | None = None, *, positions: Tensor | None = None
    ) -> ProjectedMemory:
        """Project a memory once; a decoder then passes the result as `key` at every step.

        Args:
            key: (..., k, key_dim).
            value: (..., k, value_dim); None means `key`.
            positions: (k,) or (b, k) places that rotary turns the keys by; None means from 0 on.

        Returns:
            Keys and values in heads, (..., g, k, d).

        Raises:
            TypeError: no tensors, or dtypes that are not the layer's.
            ValueError: shapes that do not fit.
        """
        _check_positions(positions)
        keys, values = self._project(key, key if value is None else value)
        (keys,) = self._turned(self._places(positions, 0, key), keys)
        return ProjectedMemory(keys, values)

    @overload
    def forward(
        self,
        query: Tensor,
        key: Tensor | ProjectedMemory | None = None,
        value: Tensor | None = None,
        *,
        need_weights: Literal[False] = False,
        **options: Unpack[_Options],
    ) -> Tensor: ...
    @overload
    def forward(
        self,
        query: Tensor,
        key: Tensor | ProjectedMemory | None = None,
        value: Tensor | None = None,
        *,
        need_weights: Literal[True],
        **options: Unpack[_Options],
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def forward(
        self,
        query: Tensor,
        key: Tensor | ProjectedMemory | None = None,
        value: Tensor | None = None,
        *,
        need_weights: bool = False,
        **options: Unpack[_Options],
    ) -> Tensor | tuple[Tensor, Tensor]: ...
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
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Let every query gather values by what their keys promise.

        Args:
            query: (b, q, e); without a cache, leading axes are free.
            key: (b, k, key_dim) the memory to look at, or what `project_memory` made of it; None
                means `query`: self-attention.
            value: (b, k, value_dim); None means `key`.
            attn_mask: broadcast to (b, h, q, k): boolean, True = may attend, or floating, added to
                the scores. With a cache k counts all tokens so far and the new ones, those that
                its window has left behind too.
            is_causal: allow key j for query i only if j <= i, on top of `attn_mask`; with a cache,
                i counts from the number of cached tokens.
            positions: (q,) or (b, q) places that rotary turns the queries by, and in
                self-attention the keys; None means from 0, or the number of cached tokens, on.
                They mean nothing to a window and to `is_causal`, which go by the order of tokens.
            cache: holds keys and values of the tokens before, and takes those of the new ones.
            lengths: (b,) how many of the q tokens are real, as for `KVCache.update`. The rest, at
                the end, is padding, and its output means nothing.
            need_weights: also return the weights.

        Returns:
            (b, q, e); with `need_weights` also the weights (b, h, q, k), before dropout. Those of
            a cache with a window are in the order of its `key_positions`.

        Raises:
            TypeError: no tensors, or dtypes that are not the layer's or the cache's.
            ValueError: shapes that do not fit, a cache beside a key, a cache that is full or keeps
                fewer tokens than the window, or lengths without a cache.
        """
        check_flag(is_causal=is_causal, need_weights=need_weights)
        _check_positions(positions)
        self._check_call(query, key, value, is_causal, cache, lengths)
        offset = 0 if cache is None else cache.offset
        places = self._places(positions, offset, query)
        if key is None:
            queries, memory = self._project_self(query, places)
        else:
            memory = key if isinstance(key, ProjectedMemory) else self.project_memory(key, value)
            queries = self._heads(self.query_proj(query), self.query_norm)
            (queries,) = self._turned(places, queries)
        _check_mask(attn_mask, queries, memory, cache)
        if cache is not None:
            memory = ProjectedMemory(*cache.update(*memory, lengths=lengths))
            attn_mask = _columns(attn_mask, cache)

        k_len = memory.key.shape[-2]
        options = self._options(need_weights)
        if self.window is not None:
            places = _places(offset, query.shape[-2], query.device)
            attn_mask = narrow(attn_mask, _near(self.window, places, k_len, is_causal, cache))
        elif is_causal:
            options |= _causal(offset, k_len)
        elif cache is not None and isinstance(cache.offset, Tensor):
            attn_mask = narrow(attn_mask, padding_mask(cache.lengths[:, None], k_len))
        attended = self.attention_fn(queries, *memory, attn_mask, **options)
        output, weights = attended if need_weights else (attended, None)
        output = self.output_proj(output.transpose(-2, -3).flatten(-2))
        return output if weights is None else (output, weights)

    if TYPE_CHECKING:
        __call__ = forward

    def _project(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        check_input(self.key_proj.weight, self.key_dim, "key_dim", key=key)
        check_input(self.value_proj.weight, self.value_dim, "value_dim", value=value)
        check_size(key.shape[-2], "the keys of key", -2, value=value)
        together = None
        if key is value and torch.is_grad_enabled() and self.key_norm is None:
            together = self._joined(key, self.key_proj, self.value_proj)
        if together is not None:
            heads = self._heads(together)
            return heads.narrow(-3, 0, g := self.num_kv_heads), heads.narrow(-3, g, g)
        keys = self._heads(self.key_proj(key), self.key_norm)
        return keys, self._heads(self.value_proj(value))

    def _project_self(
        self, x: Tensor, places: int | Tensor | None
    ) -> tuple[Tensor, ProjectedMemory]:
        """Return queries, and keys and values, of one sequence."""
        together = None
        if self.query_norm is None:
            together = self._joined(x, self.query_proj, self.key_proj, self.value_proj)
        if together is None:
            queries = self._heads(self.query_proj(x), self.query_norm)
            keys, values = (
                self._heads(self.key_proj(x), self.key_norm),
                self._heads(self.value_proj(x)),
            )
            queries, keys = self._turned(places, queries, keys)
            return queries, ProjectedMemory(keys, values)
        sizes = [self.num_heads + self.num_kv_heads, self.num_kv_heads]
        both, values = torch.split(self._heads(together), sizes, dim=-3)
        (both,) = self._turned(places, both)
        queries, keys = torch.split(both, [self.num_heads, self.num_kv_heads], dim=-3)
        return queries, ProjectedMemory(keys, values)

    def _heads(self, projected: Tensor, norm: nn.RMSNorm | None = None) -> Tensor:
        """Cut (..., n, h * d) into heads, (..., h, n, d)."""
        heads = torch.unflatten(projected, -1, (-1, self.head_dim)).transpose(-2, -3)
        if norm is None:
            return heads
        normed: Tensor = norm(heads.to(norm.weight.dtype))  # autocast leaves the gains as they are
        return normed.to(heads.dtype)

    def _places(
        self, positions: Tensor | None, offset: int | Tensor, x: Tensor
    ) -> int | Tensor | None:
        """Return the places to turn by: the first alone, if that is all that rotary asks for."""
        if self.rotary is None or positions is not None:
            return positions
        if isinstance(offset, int) and hasattr(self.rotary, "from_place"):
            return offset
        return _places(offset, x.shape[-2], x.device)

    def _turned(self, places: int | Tensor | None, *heads: Tensor) -> tuple[Tensor, ...]:
        """Rotate heads that stand at the same places, in one go."""
        if self.rotary is None or places is None:
            return heads
        together = heads[0] if len(heads) == 1 else torch.cat(heads, dim=-3)
        if isinstance(places, int):
            turned: Tensor = self.rotary.from_place(together, places)  # type: ignore[attr-defined]
        else:
            turned = self.rotary(together, places)
        return torch.split(turned, [part.shape[-3] for part in heads], dim=-3)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is asked for but heads, groups and rotary with places of its own."""
        asked = (self.window, self.softcap, self.sinks, self.query_norm, self.output_proj.bias)
        places = self.rotary is None or hasattr(self.rotary, "from_place")
        own = self.attention_fn is scaled_dot_product_attention
        return own and places and all(option is None for option in asked)

    @property
    def fused_weight(self) -> Tensor | None:
        """Weights of queries, keys and values, (h d + 2 g d, e); None where they lie apart."""
        return self._joined.weight_of(self.query_proj, self.key_proj, self.value_proj)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move the weights, as any module does, and lay them side by side where they now are."""
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.lay_out()
        return self

    def lay_out(self) -> None:
        """Lay the weights that read one input side by side, if they are not: one matmul then does.

        It happens by itself but where parameters were put in the place of others one by one.
        """
        if (self.key_dim, self.value_dim) == (self.embed_dim, self.embed_dim):
            self._joined.lay_out(self.query_proj, self.key_proj, self.value_proj)

    def _options(self, need_weights: bool) -> dict[str, Any]:
        """Return what attention is told besides its arrays, and nothing that it need not know."""
        options = {
            "enable_gqa": self.num_kv_heads != self.num_heads or None,
            "dropout_p": (self.training and self.dropout_p) or None,
            "softcap": self.softcap,
            "sinks": self.sinks,
            "need_weights": need_weights or None,
        }
        return {name: option for name, option in options.items() if option is not None}

    def _check_call(
        self,
        query: Tensor,
        key: Tensor | ProjectedMemory | None,
        value: Tensor | None,
        is_causal: bool,
        cache: KVCache | None,
        lengths: Tensor | None,
    ) -> None:
        check_input(self.query_proj.weight, self.embed_dim, "embed_dim", query=query)
        if value is not None and (key is None or isinstance(key, ProjectedMemory)):
            came = "without a key" if key is None else "beside a projected memory"
            raise ValueError(f"value: got one {came}, wanted None")
        if key is None and (self.key_dim, self.value_dim) != (self.embed_dim, self.embed_dim):
            raise ValueError(
                f"key: got None, wanted a memory: key_dim is {self.key_dim} and value_dim "
                f"{self.value_dim}, where query has embed_dim, {self.embed_dim}"
            )
        if isinstance(key, ProjectedMemory):
            check_tensors(self.query_proj.weight, key=key.key, value=key.value)
            check_rank(3, "(..., g, k, d)", key=key.key, value=key.value)
            check_size(self.num_kv_heads, "num_kv_heads", -3, key=key.key, value=key.value)
            check_size(self.head_dim, "head_dim", -1, key=key.key, value=key.value)
        if cache is not None:
            check_rank(3, "(b, q, e)", exactly=True, query=query)
            self._check_cache(cache, key, is_causal)
        elif lengths is not None:
            raise ValueError("lengths: got some without a cache, wanted None and a padding mask")

    def _check_cache(
        self, cache: KVCache, key: Tensor | ProjectedMemory | None, is_causal: bool
    ) -> None:
        if not hasattr(cache, "query_positions"):
            raise TypeError(f"cache: got {type(cache).__name__}, wanted a KVCache")
        if key is not None:
            raise ValueError(
                "cache: got one beside a key, wanted None: a cache is for self-attention, "
                "a memory is projected once by `project_memory`"
            )
        before, after = self.window or (math.inf, 0)
        if cache.window is not None and cache.window <= before:
            wanted = f"None or at least {before + 1}" if self.window else "None"
            raise ValueError(f"cache: got window {cache.window}, wanted {wanted}, as the layer has")
        if after and not is_causal:
            raise ValueError(
                f"is_causal: got False with a cache, wanted True: the window of the layer wants "
                f"{after} keys that are still to come"
            )


def _lay_out_loaded(module: nn.Module, incompatible: object) -> None:
    """Join weights that were put in the place of others."""
    assert isinstance(module, MultiHeadAttention)
    module.lay_out()


def _causal(offset: int | Tensor, k_len: int) -> dict[str, Any]:
    """Return what attention must be told so that no query attends to a key after it."""
    if isinstance(offset, int) and offset >= k_len - 1:
        return {}  # there is none
    if isinstance(offset, int) and offset == 0:
        return {"is_causal": True}
    return {"is_causal": True, "offset": offset}


def _places(offset: int | Tensor, length: int, device: torch.device) -> Tensor:
    """Return the places of tokens that begin at the offset, (n,) or (b, n)."""
    steps = torch.arange(length, device=device)
    return steps + (offset[:, None] if isinstance(offset, Tensor) else offset)


def _near(
    window: tuple[int, int], places: Tensor, k_len: int, is_causal: bool, cache: KVCache | None
) -> Tensor | None:
    """Say which keys lie in the window, (..., 1, q, k); None where all of them do."""
    before, after = window
    if cache is not None and places.shape == (1,) and k_len <= before + 1:
        return None
    keys = torch.arange(k_len, device=places.device) if cache is None else cache.key_positions
    distance = places[..., None, :, None] - keys[..., None, None, :]
    near = (distance <= before) & (distance >= (0 if is_causal else -after))
    return near if cache is None else near & (keys >= 0)[..., None, None, :]


def _columns(attn_mask: Tensor | None, cache: KVCache) -> Tensor | None:
    """Return, of a mask over all tokens so far, the columns of the keys that a ring still has."""
    if attn_mask is None or cache.window is None:
        return attn_mask
    places = cache.key_positions.clamp(min=0)[..., None, None, :]
    attn_mask, places = (x[(None,) * (4 - x.ndim)] for x in (attn_mask, places))
    return torch.take_along_dim(attn_mask, places, dim=-1)


def _check_mask(
    attn_mask: Tensor | None, queries: Tensor, memory: ProjectedMemory, cache: KVCache | None
) -> None:
    """Refuse a mask that does not fit (..., h, q, k), all tokens so far among the keys."""
    lead, memory_lead = tuple(queries.shape[:-3]), tuple(memory.key.shape[:-3])
    if attn_mask is None and lead == memory_lead:
        return
    joined = broadcast_shape(lead, memory_lead)
    if joined is None:
        raise ValueError(
            f"key: got leading axes {memory_lead}, wanted ones that broadcast with {lead}"
        )
    k_len = memory.key.shape[-2] + (0 if cache is None else cache.length)
    xp = namespace(query=queries, attn_mask=attn_mask)
    check_mask(xp, (*joined, *queries.shape[-3:-1], k_len), attn_mask=attn_mask)


def _check_positions(positions: object) -> None:
    """Refuse places that are no tensor: whether they are turned by or not, nothing else will do."""
    if positions is not None and not isinstance(positions, Tensor):
        raise TypeError(f"positions: got {type(positions).__name__}, wanted a tensor, or None")


def _head_dim(embed_dim: int, num_heads: int, head_dim: int | None) -> int:
    check_whole(1, embed_dim=embed_dim, num_heads=num_heads)
    if head_dim is not None:
        check_whole(1, head_dim=head_dim)
        return head_dim
    if embed_dim % num_heads:
        raise ValueError(
            f"num_heads: got {num_heads}, wanted a divisor of embed_dim, {embed_dim}, or a head_dim"
        )
    return embed_dim // num_heads


def _rotary(rotary: Rotary | bool | None, head_dim: int) -> Rotary | None:
    if rotary is None or rotary is False:
        return None
    if rotary is not True and not callable(rotary):
        raise TypeError(f"rotary: got {type(rotary).__name__}, wanted True, None or a function")
    if rotary is True and head_dim % 2:
        raise ValueError(f"head_dim: got {head_dim}, wanted an even number for rotary=True")
    return rotate if rotary is True else rotary


def _window(window: int | tuple[int, int] | None) -> tuple[int, int] | None:
    """Return how many keys a query may attend to before and after its own place."""
    if window is None:
        return None
    if not isinstance(window, tuple):
        check_whole(1, window=window)
        return window - 1, 0
    if len(window) != 2:
        raise ValueError(f"window: got {window}, wanted a number or a pair (before, after)")
    for side in window:
        check_whole(0, window=side)
    return window
