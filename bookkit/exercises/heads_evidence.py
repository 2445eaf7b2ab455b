"""The exercises of "Many heads: evidence"."""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from bookkit.exercises.exercise import Function, Several


def _words(b: int, h: int, n: int, d: int) -> Tensor:
    return torch.arange(b * n * h * d, dtype=torch.float64).reshape(b, n, h * d)


def _split(x: Tensor, num_heads: int) -> Tensor:
    return x.reshape(*x.shape[:2], num_heads, -1).transpose(1, 2)


def _in_order(heads: Tensor, *axes: int) -> Tensor:
    b, h, n, d = heads.shape
    return heads.permute(axes).reshape(b, n, h * d)


SIZES = (2, 3, 5, 4), (1, 4, 4, 4)

check_heads = Several(
    "How a width is cut into heads, and put together again.",
    split=Function(
        "`split(x, num_heads)`, from (b, n, h * d) to (b, h, n, d): head i has the features "
        "from i * d on.",
        right=_split, cases=[(_words(*size), size[1]) for size in SIZES], mistakes={
            "a view to (b, h, n, d) cuts the sequence into heads, not the width: one head gets "
            "whole places, in pieces. Cut the last axis, then transpose":
                lambda x, h: x.reshape(len(x), h, x.shape[1], -1),
            "heads and places are still in the order (b, n, h, d): transpose them":
                lambda x, h: _split(x, h).transpose(1, 2),
            "cut into h pieces of d, not d pieces of h: head i has neighbouring features":
                lambda x, h: x.reshape(*x.shape[:2], -1, h).permute(0, 3, 1, 2),
        }, axes="(b, h, n, d)",
    ),
    join=Function(
        "`join(heads)`, from (b, h, n, d) back to (b, n, h * d).",
        right=lambda heads: _in_order(heads, 0, 2, 1, 3),
        cases=[(_split(_words(*size), size[1]),) for size in SIZES], mistakes={
            "without a transpose back, what stands beside each other belongs to one head and "
            "several places": lambda h: _in_order(h, 0, 1, 2, 3),
            "the features of a head have to stay together": lambda h: _in_order(h, 0, 2, 3, 1),
            "the heads are added; they belong side by side": lambda h: h.sum(1),
        }, axes="(b, n, h * d)",
    ),
)  # fmt: skip


def _bytes(layers: int, tokens: int, h: int, g: int, d: int, size: int, kept: int = 2) -> int:
    return kept * layers * tokens * g * d * size


check_cache_bytes = Function(
    "`cache_bytes(layers, tokens, num_heads, num_kv_heads, head_dim, number_bytes)`, the bytes of "
    "the keys and values of one sequence.",
    right=_bytes, cases=[(3, 7, 10, 5, 11, 4), (32, 4096, 32, 8, 128, 2)], mistakes={
        "keys and values are both kept": partial(_bytes, kept=1),
        "every layer has a cache of its own": lambda n, *rest: _bytes(1, *rest),
        "keys and values are both kept, in every layer": lambda n, *rest: _bytes(1, *rest) // 2,
        "only key and value heads are kept: num_kv_heads, not num_heads":
            lambda n, t, h, g, d, s: _bytes(n, t, h, h, d, s),
        "only num_kv_heads heads are kept, but in every layer":
            lambda n, t, h, g, d, s: _bytes(1, t, h, h, d, s),
        "those are numbers, not bytes": lambda *given: _bytes(*given) // given[5],
        "every key and value head is kept": lambda n, t, h, g, d, s: _bytes(n, t, h, 1, d, s),
        "a key is a vector: head_dim numbers": lambda n, t, h, g, d, s: _bytes(n, t, h, g, 1, s),
        "a cache keeps a key and a value for every token; it has no table of tokens by "
        "tokens": lambda n, t, *rest: _bytes(n, t, *rest) * t,
    }, otherwise="cache_bytes({}, {}, {}, {}, {}, {}): got {got:g}, which is not it",
)  # fmt: skip

Order = Callable[[int, int], Sequence[int]]
"""From the numbers of query heads and key heads to the key head of each query head."""


ORDERS: dict[str, Order] = {
    "neighbours": lambda h, g: [i * g // h for i in range(h)],
    "in turns": lambda h, g: [i % g for i in range(h)],
    "the first": lambda h, g: [0] * h,
}


def _attending(
    keys: str = "neighbours", values: str = "neighbours", heads: int = 1, power: float = -0.5
) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Make attention whose scale is a power of the width of one head, or of several."""

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        h, g, d = query.shape[1], key.shape[1], query.shape[-1]
        scores = (heads * d) ** power * query @ key[:, ORDERS[keys](h, g)].mT
        return torch.as_tensor(scores.softmax(-1) @ value[:, ORDERS[values](h, g)])

    return attention


def _drawn() -> list[Tensor]:
    generator = torch.Generator().manual_seed(4)
    shapes = (2, 6, 4, 5), (2, 3, 7, 5), (2, 3, 7, 2)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in shapes]


TURNS = "query heads are served in turns, [g0, g1, g2, g0]: repeat_interleave, not repeat"
WIDE = "the width that counts in the scale is that of one head, d, not that of all heads"

check_grouped = Function(
    "`attention(query, key, value)`, grouped-query attention, from (b, h, q, d), (b, g, k, d) and "
    "(b, g, k, v) tensors to (b, h, q, v).",
    right=_attending(), cases=[_drawn()], mistakes={
        TURNS: _attending("in turns", "in turns"),
        f"{TURNS}; and {WIDE}": _attending("in turns", "in turns", heads=6),
        WIDE: _attending(heads=6),
        "nothing is scaled": _attending(power=0),
        "keys and values are repeated in different orders": _attending(values="in turns"),
        "values and keys are repeated in different orders": _attending(keys="in turns"),
        "every query head looks at the first key head": _attending("the first", "the first"),
    }, axes="(b, h, q, v)",
)  # fmt: skip
