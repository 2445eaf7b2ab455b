"""Check functions of "Many heads: evidence".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, Expected
from companion.attention import scaled_dot_product_attention


def check_heads(split: Answer, join: Answer) -> None:
    """Check how a width is cut into heads, and put together again.

    Args:
        split: `split(x, num_heads)`, from (b, n, h * d) to (b, h, n, d): head i has the features
            from i * d on.
        join: `join(heads)`, from (b, h, n, d) back to (b, n, h * d).
    """
    for b, h, n, d in ((2, 3, 5, 4), (1, 4, 4, 4)):
        x = torch.arange(b * n * h * d, dtype=torch.float64).reshape(b, n, h * d)
        cut = torch.stack([x[..., i * d : (i + 1) * d] for i in range(h)], dim=1)
        untransposed, mixed = x.reshape(b, n, h, d), x.reshape(b, n, d, h).permute(0, 3, 1, 2)
        mistakes = {
            "a view to (b, h, n, d) cuts the sequence into heads, not the width: one head gets "
            "whole places, in pieces. Cut the last axis, then transpose": x.reshape(b, h, n, d),
            "heads and places are still in the order (b, n, h, d): transpose them": untransposed,
            "cut into h pieces of d, not d pieces of h: head i has neighbouring features": mixed,
        }
        got = answers.called(split, x, h)
        answers.compare(got, cut, mistakes, where="split: ", axes="(b, h, n, d)")
        apart = cut.permute(0, 2, 3, 1).reshape(b, n, h * d)
        mistakes = {
            "without a transpose back, what stands beside each other belongs to one head and "
            "several places": cut.reshape(b, n, h * d),
            "the features of a head have to stay together": apart,
            "the heads are added; they belong side by side": cut.sum(1),
        }
        got = answers.called(join, cut)
        answers.compare(got, x, mistakes, where="join: ", axes="(b, n, h * d)")
    print("Right.")


def check_cache_bytes(cache_bytes: Answer) -> None:
    """Check how many bytes the keys and values of one sequence take.

    Args:
        cache_bytes: `cache_bytes(layers, tokens, num_heads, num_kv_heads, head_dim, number_bytes)`.
    """

    def expected(layers: int, tokens: int, h: int, g: int, d: int, size: int) -> Expected:
        right = 2 * layers * tokens * g * d * size
        all_heads = right * h // g
        return right, {
            "keys and values are both kept": right // 2,
            "every layer has a cache of its own": right // layers,
            "keys and values are both kept, in every layer": right // (2 * layers),
            "only key and value heads are kept: num_kv_heads, not num_heads": all_heads,
            "only num_kv_heads heads are kept, but in every layer": all_heads // layers,
            "those are numbers, not bytes": right // size,
            "every key and value head is kept": right // g,
            "a key is a vector: head_dim numbers": right // d,
            "a cache keeps a key and a value for every token; it has no table of tokens by "
            "tokens": right * tokens,
        }

    cases = [(3, 7, 10, 5, 11, 4), (32, 4096, 32, 8, 128, 2)]
    otherwise = "cache_bytes({}, {}, {}, {}, {}, {}): got {got:g}, which is not it"
    answers.check(cache_bytes, cases, expected, otherwise=otherwise)


def check_grouped(attention: Answer) -> None:
    """Check grouped-query attention: which key head serves which query head, and the scale.

    Args:
        attention: `attention(query, key, value)`, from (b, h, q, d), (b, g, k, d) and (b, g, k, v)
            tensors to (b, h, q, v).
    """
    b, h, g, q, k, d, v = 2, 6, 3, 4, 7, 5, 2
    generator = torch.Generator().manual_seed(4)
    draw = partial(torch.randn, generator=generator, dtype=torch.float64)
    query, key, value = draw(b, h, q, d), draw(b, g, k, d), draw(b, g, k, v)

    def attend_with(value_order: list[int], key_order: list[int], scale: float) -> Tensor:
        scores = scale * query @ key[:, key_order].mT
        return scores.softmax(-1) @ value[:, value_order]

    alternating, neighbours = [0, 1, 2, 0, 1, 2], [0, 0, 1, 1, 2, 2]
    one, all_heads = d**-0.5, (h * d) ** -0.5
    alternately = "query heads are served in turns, [g0, g1, g2, g0]: repeat_interleave, not repeat"
    too_wide = "the width that counts in the scale is that of one head, d, not that of all heads"
    both = f"{alternately}; and {too_wide}"
    values_alone, keys_alone = (alternating, neighbours), (neighbours, alternating)
    mistakes = {
        alternately: attend_with(alternating, alternating, one),
        both: attend_with(alternating, alternating, all_heads),
        too_wide: attend_with(neighbours, neighbours, all_heads),
        "nothing is scaled": attend_with(neighbours, neighbours, 1.0),
        "keys and values are repeated in different orders": attend_with(*values_alone, one),
        "values and keys are repeated in different orders": attend_with(*keys_alone, one),
        "every query head looks at the first key head": attend_with([0] * h, [0] * h, one),
    }
    right = scaled_dot_product_attention(query, key, value, enable_gqa=True)
    answers.check_call(attention, (query, key, value), right, mistakes, axes="(b, h, q, v)")
