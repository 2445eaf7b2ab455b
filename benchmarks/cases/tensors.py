"""The tensors that the cases on attention share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.contest import Contest, Field, Values
from benchmarks.peers.textbook import textbook, truth
from benchmarks.records import Goal
from companion.tiled import tiled_attention

HEADS, WIDTH = 8, 64
LENGTHS = (1024, 2048, 4096, 8192, 16384)
QUICK_LENGTHS = (48, 64, 96)
NAMES = {False: "full", True: "causal"}
"""What a setting is called, by whether it is causal."""
ATTENTION: dict[str, object] = {"batch": 1, "heads": HEADS, "width": WIDTH, "dtype": "float32"}


def lengths(quick: bool, longest: int = LENGTHS[-1], shortest: int = 0) -> tuple[int, ...]:
    """Return the lengths of a run."""
    return QUICK_LENGTHS if quick else tuple(n for n in LENGTHS if shortest <= n <= longest)


def full_and_causal(
    prepare: Callable[[int, bool], Field], goal: Goal, sizes: Sequence[int]
) -> Iterator[Contest]:
    """Make the contests of every length, full and then causal; the goal is beside SDPA."""
    for is_causal, name in NAMES.items():
        for n in sizes:
            yield Contest(
                f"{name}, n = {n}", partial(prepare, n, is_causal), {"SDPA": goal}, length=n
            )


def inputs(
    n: int, *, dtype: torch.dtype = torch.float32, count: int = 3, width: int = WIDTH
) -> list[Tensor]:
    """Return query, key, value and, of four, the gradient of the output: (1, h, n, d)."""
    generator = torch.Generator().manual_seed(n)
    return [torch.randn(1, HEADS, n, width, generator=generator).to(dtype) for _ in range(count)]


def attentions(n: int, is_causal: bool) -> dict[str, Callable[..., Tensor]]:
    """Return who attends, full or causal; the textbook's mask is there before the clock runs."""
    forbidden = ~band(n) if is_causal else None
    return {
        "tiled": partial(tiled_attention, is_causal=is_causal),
        "SDPA": partial(F.scaled_dot_product_attention, is_causal=is_causal),
        "textbook": partial(textbook, forbidden=forbidden),
    }


def band(n: int, *, left: int | None = None, is_causal: bool = True) -> Tensor:
    """Return an (n, n) mask, made without what is to be tested."""
    mask = torch.ones(n, n, dtype=torch.bool)
    if is_causal:
        mask.tril_()
    return mask if left is None else mask.triu_(-left)


def last_head(tensors: Any) -> Values:
    """Return the part of (1, h, n, d) tensors that is held against the truth."""
    tensors = tensors if isinstance(tensors, tuple) else (tensors,)
    return tuple(tensor[:, -1] for tensor in tensors)


def truth_of_last_head(tensors: list[Tensor], mask: Tensor) -> Values:
    """Return output, and with four tensors gradients, of one head in float64: (1, n, d) each."""
    query, key, value, *gradient = last_head(tuple(tensors))
    return truth(query, key, value, mask, *gradient)


def matrix_bytes(n: int, matrices: float) -> float:
    """Return the size of so many (h, n, n) matrices of float32."""
    return matrices * 4 * HEADS * n * n
