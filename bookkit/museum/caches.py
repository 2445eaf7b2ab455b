"""Caches and windows that change the result."""

import torch
from torch import Tensor

from bookkit.museum.exhibit import (
    Exhibit,
    Variant,
    attend_causally,
    seeded,
    two_inputs,
)
from companion.attention import scaled_dot_product_attention
from companion.cache import KVCache
from companion.conformance import check_cached, check_reach
from companion.layers import MultiHeadAttention
from companion.masks import sliding_window_mask

SIZE = 3


class FirstKeyCorner:
    """Begin a text; then attend to the keys so far with a mask that begins at the first key."""

    def __init__(self) -> None:
        self.seen = torch.zeros(2, 0, 8, dtype=torch.float64)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the outputs of the next words."""
        self.seen = torch.cat((self.seen, x), 1)
        return scaled_dot_product_attention(
            x, self.seen, self.seen, is_causal=True
        )


class LastKeyCorner:
    """Begin a text; then attend to the keys so far with a mask that begins at the cached ones."""

    def __init__(self) -> None:
        self.cache = KVCache(
            batch_size=2,
            num_kv_heads=1,
            max_len=32,
            head_dim=8,
            dtype=torch.float64,
        )

    def __call__(self, x: Tensor) -> Tensor:
        """Return the outputs of the next words."""
        offset, heads = self.cache.offset, x[:, None]
        keys, values = self.cache.update(heads, heads)
        output = scaled_dot_product_attention(
            heads, keys, values, is_causal=True, offset=offset
        )
        return output[:, 0]


class KeepsTheLastText(LastKeyCorner):
    """Begin a text with the cache that served the one before."""

    kept: KVCache | None = None

    def __init__(self) -> None:
        super().__init__()
        if KeepsTheLastText.kept is None:
            KeepsTheLastText.kept = self.cache
        self.cache = KeepsTheLastText.kept


def check_pieces(start: Variant) -> None:
    """Check that a text in pieces gives what it gives as a whole."""
    KeepsTheLastText.kept = None
    check_cached(attend_causally, start, two_inputs()[0])


def one_more(x: Tensor) -> Tensor:
    """Attend to a window of three: three positions back, and the own one."""
    mask = sliding_window_mask(x.shape[1], left=SIZE, like=x)
    return scaled_dot_product_attention(x, x, x, mask)


CACHES = (
    Exhibit(
        "first-key corner", "With keys in a cache, the causal mask begins at the wrong one",
        broken=FirstKeyCorner, sound=LastKeyCorner, check=check_pieces, hint=r"\(offset\)",
        threads=("rasbt/LLMs-from-scratch #697", "meta-llama/llama #899"),
    ),
    Exhibit(
        "not emptied", "The second text is read behind the first", broken=KeepsTheLastText,
        sound=LastKeyCorner, check=check_pieces, hint="not emptied",
        threads=("rasbt/LLMs-from-scratch #925",),
    ),
    Exhibit(
        "w or w + 1", "A window of three that reaches four", broken=one_more,
        sound=lambda x: seeded(lambda: MultiHeadAttention(8, 2, window=SIZE))(x, is_causal=True),
        check=lambda attend: check_reach(attend, *two_inputs(), size=SIZE),
        hint="outputs reach 4 positions, wanted 3", threads=("ml-explore/mlx-lm #390",),
    ),
)  # fmt: skip
