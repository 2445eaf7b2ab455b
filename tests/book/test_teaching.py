"""The page for teachers: its graders run, let right work pass, and turn typical mistakes down.

What passes here is the package's own code, which a student may not hand in.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from companion import padding_mask, rotate, scaled_dot_product_attention, sliding_window_mask
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


def test_every_assignment_has_its_grader() -> None:
    assignments = re.findall(r"^### \d+\. ", PAGE.read_text("utf8"), re.M)
    assert len(assignments) == len(graders()) >= 6


# Work that is right, and typical mistakes


def overflowing(query: Any, key: Any, value: Any, mask: Any) -> Any:
    with np.errstate(over="ignore", invalid="ignore"):
        powers = np.exp(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])) * mask
        sums = powers.sum(-1, keepdims=True)
        return np.divide(powers, sums, out=np.zeros_like(powers), where=sums > 0) @ value


def windowed(left: int) -> Callable[[Any, Any], Any]:
    def layer(x: Any, lengths: Any) -> Any:
        n = x.shape[1]
        mask = sliding_window_mask(n, left=left)[None] & padding_mask(lengths, n)
        return scaled_dot_product_attention(x, x, x, mask)

    return layer


def ignores_lengths(x: Any, lengths: Any) -> Any:
    """Look two words back, and on from the last word to what follows it."""
    n = x.shape[1]
    mask = sliding_window_mask(n, left=2)[None]
    output = scaled_dot_product_attention(x, x, x, mask)
    return output + (lengths < n)[:, None, None] * x.mean(1, keepdims=True)


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


def rotated(query_positions: Any, key_positions: Any) -> Any:
    query, key = np.random.default_rng(1).normal(size=(2, 1, 8))
    queries = rotate(np.repeat(query, len(query_positions), 0), query_positions)
    keys = rotate(np.repeat(key, len(key_positions), 0), key_positions)
    return queries @ keys.T


def check(function: Callable[[int], int]) -> None:
    assert function(3) == 6, "three times two is six"


def wordless(function: Callable[[int], int]) -> None:
    if function(3) != 6:
        raise AssertionError("wrong")


WORK: Any = (lambda n: 2 * n, lambda n: n * n)  # what a check is to tell apart
RIGHT: list[tuple[Any, ...]] = [
    ("attention", scaled_dot_product_attention),
    ("window", windowed(2)),
    ("heads", lambda x, layer: layer(x)),
    ("cache", *cached(offset=True)),
    ("positions", rotated),
    ("bleu", bleu),
    ("check", check, *WORK),
    ("claim", [1.0, 1.2, 0.8, 1.1, 0.9], 0, "holds"),
    ("claim", [-1.0, -1.2, -0.8, -1.1, -0.9], 0, "fails"),
    ("claim", [1.0, -1.2, 0.8, -1.1, 0.9], 0, "undecided"),
]
WRONG: list[tuple[Any, ...]] = [
    ("attention", "finite|differ", overflowing),
    ("window", "reach 4 positions", windowed(3)),
    ("window", "padding", ignores_lengths),
    ("heads", "differ", lambda x, layer: layer(x) + x.mean(0)),
    ("cache", "offset", *cached(offset=False)),
    ("positions", "positions used", lambda q, k: np.ones((len(q), len(k)))),
    ("positions", "moved by 1", lambda q, k: np.outer(q + 1.0, k + 1.0)),
    ("positions", "same score", lambda q, k: (q[:, None] - k > 2).astype(float)),
    ("bleu", "between 0 and 100", lambda ours, theirs: bleu(ours, theirs) / 100),
    ("check", "lets the broken version pass", lambda function: None, *WORK),
    ("check", "does not help", wordless, *WORK),
    ("check", "three times two", check, *WORK[::-1]),
    ("claim", "fewer than five", [1.0, 1.2], 0, "holds"),
    ("claim", "the interval is", [1.0, -1.2, 0.8, -1.1, 0.9], 0, "holds"),
]


def test_right_work_passes_also_with_other_numbers() -> None:
    for grader, *work in RIGHT:
        graders()[f"grade_{grader}"](*work)
        if grader in ("attention", "window", "cache", "heads"):
            torch.manual_seed(3)
            for seed in (1, 2):
                graders()[f"grade_{grader}"](*work, seed)


def test_mistakes_are_named() -> None:
    for grader, hint, *work in WRONG:
        with pytest.raises(AssertionError, match=hint):
            graders()[f"grade_{grader}"](*work)
