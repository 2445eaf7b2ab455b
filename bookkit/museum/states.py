"""States and caches that forget at the wrong moment, keep one too few, or are counted wrongly."""

import torch
from torch import Tensor

from bookkit.museum.exhibit import Exhibit, Variant, normal_numbers, two_inputs
from companion.attention import scaled_dot_product_attention
from companion.conformance import check_cached, check_delta_rule
from companion.masks import sliding_window_mask

WINDOW = 3
LATENT, ROTARY = 512, 64
"""Widths of what DeepSeek-V3 caches of a token in a layer: `kv_lora_rank`, `qk_rope_head_dim`."""

LAYERS = 61
"""Layers of DeepSeek-V3: `num_hidden_layers`."""


def compared_before(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, beta: Tensor
) -> Tensor:
    """Compare with the state, then forget, then write."""
    state, outputs = torch.zeros_like(key[0][:, None] * value[0]), []
    for q, k, v, left, share in zip(
        query, key, value, decay, beta, strict=True
    ):
        error = v - k @ state
        state = left * state
        state = state + share * torch.outer(k, error)
        outputs.append(q @ state)
    return torch.stack(outputs)


def forgotten_before(
    query: Tensor, key: Tensor, value: Tensor, decay: Tensor, beta: Tensor
) -> Tensor:
    """Forget, then compare with what is left, then write."""
    state, outputs = torch.zeros_like(key[0][:, None] * value[0]), []
    for q, k, v, left, share in zip(
        query, key, value, decay, beta, strict=True
    ):
        state = left * state
        error = v - k @ state
        state = state + share * torch.outer(k, error)
        outputs.append(q @ state)
    return torch.stack(outputs)


def in_the_window(x: Tensor, seen: Tensor) -> Tensor:
    """Attend from the last positions of a text to those of `seen` that are in their window."""
    q, k = x.shape[1], seen.shape[1]
    mask = sliding_window_mask(q, k, left=WINDOW - 1, offset=k - q, like=x)
    return scaled_dot_product_attention(x, seen, seen, mask)


class CutsTheNewWordIn:
    """Begin a text; cut the cache to w - 1 keys, with those of the new words, and attend."""

    def __init__(self) -> None:
        self.seen = torch.zeros(2, 0, 8, dtype=torch.float64)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the outputs of the next words."""
        kept = max(WINDOW - 1, x.shape[1])
        self.seen = torch.cat((self.seen, x), 1)[:, -kept:]
        return in_the_window(x, self.seen)


class CutsAfterwards:
    """Begin a text; attend to the cache and the new words, and then keep the last w - 1 keys."""

    def __init__(self) -> None:
        self.seen = torch.zeros(2, 0, 8, dtype=torch.float64)

    def __call__(self, x: Tensor) -> Tensor:
        """Return the outputs of the next words."""
        everything = torch.cat((self.seen, x), 1)
        self.seen = everything[:, -(WINDOW - 1) :]
        return in_the_window(x, everything)


def attend_in_a_window(x: Tensor) -> Tensor:
    """Attend to the own position and the two before it, (b, n, e) to itself."""
    return in_the_window(x, x)


def check_window_pieces(start: Variant) -> None:
    """Check that a text in pieces gives what a window gives on the whole."""
    check_cached(attend_in_a_window, start, two_inputs()[0])


def keys_and_values(layers: int, tokens: int, number_bytes: int) -> int:
    """Count bytes as of keys and values, each as wide as the latent."""
    return 2 * layers * tokens * LATENT * number_bytes


def latent_and_rotary(layers: int, tokens: int, number_bytes: int) -> int:
    """Count bytes of one latent, from which keys and values are made, and of the rotary key."""
    return layers * tokens * (LATENT + ROTARY) * number_bytes


def bytes_of_a_cache(layers: int, tokens: int, number_bytes: int) -> int:
    """Make what one layer keeps, see how many bytes it has, and multiply by the layers."""
    dtype = {2: torch.bfloat16, 4: torch.float32}[number_bytes]
    kept = (torch.zeros(tokens, w, dtype=dtype) for w in (LATENT, ROTARY))
    return layers * sum(tensor.nbytes for tensor in kept)


def check_bytes(count: Variant) -> None:
    """Check a formula for the bytes of a cache against a small one that is made."""
    counted, made = count(3, 100, 2), bytes_of_a_cache(3, 100, 2)
    if counted != made:
        raise AssertionError(
            f"counted {counted:,} bytes, and a cache that is made has {made:,}: is one latent "
            f"counted once, and the rotary key beside it?"
        )


STATES = (
    Exhibit(
        "compare, then forget", "A memory that does not hold what was just written into it",
        broken=compared_before, sound=forgotten_before,
        check=lambda recurrence: check_delta_rule(recurrence, like=normal_numbers(1)),
        hint="compared with the state before it has forgotten",
        threads=("fla-org/flash-linear-attention #885",),
    ),
    Exhibit(
        "w - 1", "A window of three that reaches two, but only with a cache",
        broken=CutsTheNewWordIn, sound=CutsAfterwards, check=check_window_pieces,
        hint=r"in pieces of \[1, 1, 1, 1, 1, 1\] positions, output 2 is another",
        threads=("huggingface/transformers #39408 #29623", "zml/zml #763"),
    ),
    Exhibit(
        "the latent counted twice",
        "A cache of latents, counted as keys and values and without its rotary part",
        broken=keys_and_values, sound=latent_and_rotary, check=check_bytes,
        hint="is one latent counted once",
        threads=("LMCache/LMCache #694", "NVIDIA/TensorRT-LLM #16707"),
    ),
)  # fmt: skip
