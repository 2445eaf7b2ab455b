"""The growing cache in Node: what it keeps and gives is what the package's attention does."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from bookkit.figures import growing_cache
from bookkit.playables.caching import RULES
from companion import (
    attention_with_weights,
    causal_mask,
    scaled_dot_product_attention,
    sliding_window_mask,
)
from tests.bookkit.playables.node import ask

WORDS = ["she", "works", "in", "the", "new", "house"]
VECTORS = np.random.default_rng(4).normal(size=(6, 2)) * 1.5
PROMPT, WINDOW = 2, 3
MADE = growing_cache(WORDS, VECTORS, prompt=PROMPT, window=WINDOW)


def read(pieces: Sequence[int], rule: str) -> tuple[Any, Any, Any]:
    """Return the memory of the second layer, its weights by row, and its output."""
    first, memory, second = VECTORS, np.empty((0, 2)), np.empty((0, 2))
    rows: list[list[float]] = []
    for size in pieces:
        end = len(memory) + size
        causal = causal_mask(size, end, offset=end - size)
        near = sliding_window_mask(size, end, left=WINDOW - 1, offset=end - size)
        mask = {
            "causal": causal,
            "window": near,
            "window and first word": near | (causal & (np.arange(end) == 0)),
            "both ways": np.ones_like(causal),
            "offset forgotten": causal_mask(size, end, offset=0),
        }[rule]
        x, known = first[end - size : end], first[:end]
        x = scaled_dot_product_attention(x, known, known, mask, scale=1.0)
        memory = np.concatenate([memory, x])
        x, weights = attention_with_weights(x, memory, memory, mask, scale=1.0)
        rows += weights.tolist()
        second = np.concatenate([second, x])
    return memory, rows, second


def test_every_step_of_every_rule_is_the_packages() -> None:
    chosen = list(product(range(5), enumerate(RULES)))
    states = [{"step": step, "rule": place} for step, (place, _) in chosen]
    for (step, (_, rule)), shown in zip(chosen, ask(MADE, *states), strict=True):
        n = PROMPT + step
        both = ("mine", [PROMPT] + [1] * step), ("scratch", [n])
        memories = []
        for name, pieces in both:
            memory, weights, output = read(pieces, rule)
            np.testing.assert_allclose(shown[name]["kept"], [VECTORS[:n], memory], atol=1e-6)
            np.testing.assert_allclose(shown[name]["output"], output, atol=1e-6)
            for found, wanted in zip(shown[name]["weights"], weights, strict=True):
                np.testing.assert_allclose(found, wanted, atol=1e-6)
            memories.append(memory)
        stale = np.abs(memories[0] - memories[1]).max(1) > 1e-9
        assert shown["stale"] == [[False] * n, stale.tolist()]
        assert stale.any() == (step > 0 and rule in ("both ways", "offset forgotten"))
        last = {"window": 0, "window and first word": 1}.get(rule, n)
        assert shown["dropped"] == [last <= one < n - WINDOW for one in range(n)]
        assert shown["counts"] == [[1 if step else PROMPT, n], [n, sum(range(PROMPT, n + 1))]]
