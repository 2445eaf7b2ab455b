"""The grid of scores in Node, against the layers of the founding notebook and NumPy's own rule."""

import itertools

import numpy as np
import pytest

from bookkit.figures import broadcast_scores
from bookkit.founding import FoundingAttention, RepairedAttention
from bookkit.playables.broadcasting import example
from tests.bookkit.playables.node import ask

MADE = broadcast_scores()
SIZES = list(itertools.product((1, 2, 7, 11, 12), repeat=2))
STATES = [{"letters": k, "steps": q, "repaired": r} for r in (0, 1) for k, q in SIZES]


def test_the_grid_is_filled_as_broadcasting_fills_it() -> None:
    layer, letters, steps = example()
    repaired = RepairedAttention(letters.shape[1]).double()
    repaired.load_state_dict(layer.state_dict())
    for state, shown in zip(STATES, ask(MADE, *STATES), strict=True):
        k, q = state["letters"], state["steps"]
        one: FoundingAttention = repaired if state["repaired"] else layer
        try:
            np.broadcast_shapes((k,), (q,))
        except ValueError:
            if not state["repaired"]:
                assert shown is None
                with pytest.raises(RuntimeError, match="must match"):
                    one.score(letters[None, :k], steps[None, :q])
                continue
        scores = one.score(letters[None, :k], steps[None, :q])[0] @ one.V_a[:, 0]
        assert shown["pairs"] == pairs(k, q, state["repaired"])
        np.testing.assert_allclose(shown["scores"], scores.detach().flatten(), atol=1e-6)


def pairs(k: int, q: int, repaired: int) -> list[list[int]]:
    """Return which step meets which letter, as NumPy says of their numbers."""
    rows, columns = np.arange(q), np.arange(k)
    if repaired:
        rows = rows[:, None]
    both = np.broadcast_arrays(rows, columns)
    return np.stack([one.flatten() for one in both], -1).tolist()  # type: ignore[no-any-return]


def test_it_says_what_is_right() -> None:
    cases = {(12, 11): "stops with an error", (12, 12): "only 12 of 144", (12, 1): "step: right",
             (1, 11): "leaves no choice"}  # fmt: skip
    states = [{"letters": k, "steps": q} for k, q in cases]
    for words, said in zip(cases.values(), ask(MADE, *states, want="said"), strict=True):
        assert words in said
