"""The page for teachers: its graders run, let right work pass, and turn typical mistakes down.

What passes here is the package's own code, which a student may not hand in.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from companion import (
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    rotate,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from companion.metrics import bleu
from tests.book.test_notebooks import ROOT

PAGE = ROOT / "book" / "start" / "teaching.md"


@cache
def graders() -> dict[str, Callable[..., None]]:
    """Return the functions that the page defines, after running its blocks from the top."""
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf8"), re.M | re.S):
        exec(block, names)
    return {name: value for name, value in names.items() if name.startswith("grade_")}


def refused(grader: str, hint: str, *work: Any) -> None:
    with pytest.raises(AssertionError, match=hint):
        graders()[grader](*work)


def test_every_assignment_has_its_grader() -> None:
    assignments = re.findall(r"^### \d+\. ", PAGE.read_text("utf8"), re.M)
    assert len(assignments) == len(graders()) >= 6


def attention(query: Any, key: Any, value: Any, mask: Any) -> Any:
    return scaled_dot_product_attention(query, key, value, mask)


def overflowing(query: Any, key: Any, value: Any, mask: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.exp(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])) * mask
        sums = powers.sum(-1, keepdims=True)
        return np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0) @ value


def test_attention() -> None:
    graders()["grade_attention"](attention)
    refused("grade_attention", "differ", lambda q, k, v, mask: attention(q, k, v, ~mask))
    refused("grade_attention", "differ", lambda q, k, v, mask: attention(2 * q, k, v, mask))
    query, key, value = np.random.default_rng(0).normal(size=(3, 2, 7, 5))
    np.testing.assert_allclose(
        overflowing(query, key, value, causal_mask(7)), attention(query, key, value, causal_mask(7))
    )
    refused("grade_attention", "finite|differ", overflowing)


def windowed(left: int, *, padded: bool = True) -> Callable[[Any, Any], Any]:
    def layer(x: Any, lengths: Any) -> Any:
        n = x.shape[1]
        mask = sliding_window_mask(n, left=left)[None]
        if padded:
            mask = mask & padding_mask(lengths, n)
        return scaled_dot_product_attention(x, x, x, mask)

    return layer


def test_window() -> None:
    graders()["grade_window"](windowed(2))
    refused("grade_window", "reach 4 positions", windowed(3))


def ignores_lengths(x: Any, lengths: Any) -> Any:
    """Look two words back, and on from the last word to what follows it."""
    n = x.shape[1]
    mask = sliding_window_mask(n, left=2)[None]
    output = scaled_dot_product_attention(x, x, x, mask)
    return output + (lengths < n)[:, None, None] * x.mean(1, keepdims=True)


def test_window_with_padding() -> None:
    refused("grade_window", "padding", ignores_lengths)


def test_heads() -> None:
    graders()["grade_heads"](lambda x, layer: layer(x))

    def mixes_sentences(x: Any, layer: MultiHeadAttention) -> Any:
        return layer(x) + x.mean(0)

    refused("grade_heads", "differ", mixes_sentences)


def cached(offset: bool) -> tuple[Callable[[Any], Any], Callable[[], Callable[[Any], Any]]]:
    def whole(x: Any) -> Any:
        return scaled_dot_product_attention(x, x, x, is_causal=True)

    def start() -> Callable[[Any], Any]:
        seen: list[Any] = []

        def step(piece: Any) -> Any:
            past = sum(part.shape[1] for part in seen)
            seen.append(piece)
            keys = np.concatenate(seen, axis=1)
            offsets = past if offset else 0
            return scaled_dot_product_attention(piece, keys, keys, is_causal=True, offset=offsets)

        return step

    return whole, start


def test_cache() -> None:
    graders()["grade_cache"](*cached(offset=True))
    refused("grade_cache", "offset", *cached(offset=False))


def rotated(query_positions: Any, key_positions: Any) -> Any:
    query, key = np.random.default_rng(1).normal(size=(2, 1, 8))
    queries = rotate(np.repeat(query, len(query_positions), 0), query_positions)
    keys = rotate(np.repeat(key, len(key_positions), 0), key_positions)
    return queries @ keys.T


def test_positions() -> None:
    graders()["grade_positions"](rotated)
    refused("grade_positions", "positions used", lambda q, k: np.ones((len(q), len(k))))
    refused("grade_positions", "moved by 1", lambda q, k: np.outer(q + 1.0, k + 1.0))
    refused(
        "grade_positions",
        "same score",
        lambda q, k: ((q[:, None] - k) % 2 == 5).astype(float) + (q[:, None] - k > 2),
    )


def test_bleu() -> None:
    graders()["grade_bleu"](bleu)
    refused("grade_bleu", "between 0 and 100", lambda ours, theirs: bleu(ours, theirs) / 100)


def test_a_check_of_ones_own() -> None:
    def check(function: Callable[[int], int]) -> None:
        assert function(3) == 6, "three times two is six"

    def lax(function: Callable[[int], int]) -> None:
        function(3)

    def wordless(function: Callable[[int], int]) -> None:
        if function(3) != 6:
            raise AssertionError("wrong")

    double, square = (lambda n: 2 * n), (lambda n: n * n)
    graders()["grade_check"](check, double, square)
    refused("grade_check", "lets the broken version pass", lax, double, square)
    refused("grade_check", "does not help", wordless, double, square)
    refused("grade_check", "three times two", check, square, double)


def test_a_claim_of_ones_own() -> None:
    grade = graders()["grade_claim"]
    grade([1.0, 1.2, 0.8, 1.1, 0.9], 0, "holds")
    grade([-1.0, -1.2, -0.8, -1.1, -0.9], 0, "fails")
    grade([1.0, -1.2, 0.8, -1.1, 0.9], 0, "undecided")
    refused("grade_claim", "fewer than five", [1.0, 1.2], 0, "holds")
    refused("grade_claim", "the interval is", [1.0, -1.2, 0.8, -1.1, 0.9], 0, "holds")


def test_graders_take_other_numbers() -> None:
    for seed in (1, 2):
        graders()["grade_attention"](attention, seed)
        graders()["grade_window"](windowed(2), seed)
        graders()["grade_cache"](*cached(offset=True), seed)
        torch.manual_seed(3)
        graders()["grade_heads"](lambda x, layer: layer(x), seed)
