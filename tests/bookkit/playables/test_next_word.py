"""The next word in Node: what it is drawn from is what the package would draw from."""

from typing import Any

import numpy as np
import torch
from scipy.stats import entropy

from bookkit.figures import next_word
from bookkit.playables.next_word import MIN_PS, TEMPERATURES, TOP_KS, TOP_PS
from companion.decoding import keep_min_p, keep_top_k, keep_top_p
from tests.bookkit.playables.node import ask

WORDS = ["<new>", *(f"word{n}" for n in range(59))]
LOGITS = np.random.default_rng(8).normal(size=(2, 60)) * np.array([[3.0], [1.0]])
POSSIBLE = np.random.default_rng(9).random((2, 60)) > 0.4
MADE = next_word(WORDS, ["she works", "in the"], LOGITS, POSSIBLE)


def drawn_from(beginning: int = 0, heat: int = 3, k: int = -1, p: int = -1, least: int = -1) -> Any:
    """Return the probabilities, by the package."""
    logits = torch.tensor(LOGITS[beginning]) / TEMPERATURES[heat]
    if (top_k := TOP_KS[k]) is not None:
        logits = keep_top_k(logits, top_k)
    if (top_p := TOP_PS[p]) is not None:
        logits = keep_top_p(logits, top_p)
    if (min_p := MIN_PS[least]) is not None:
        logits = keep_min_p(logits, min_p)
    return logits.softmax(-1).numpy()


def test_the_probabilities_are_those_of_the_package() -> None:
    sliders = {"heat": TEMPERATURES, "k": TOP_KS, "p": TOP_PS, "least": MIN_PS}
    chosen: list[dict[str, Any]] = [
        *({key: place} for key, steps in sliders.items() for place in range(len(steps))),
        {"beginning": 1},
        {"beginning": 1, "heat": 6, "k": 4},
        {"beginning": 1, "heat": 6, "k": 4, "p": 10, "least": 5},
        {"beginning": 1, "heat": 6, "k": 6, "p": 12, "least": 0},
    ]
    for state, shown in zip(chosen, ask(MADE, *chosen), strict=True):
        chances, row = drawn_from(**state), state.get("beginning", 0)
        np.testing.assert_allclose(shown["chances"], chances, atol=1e-6)
        np.testing.assert_allclose(shown["own"], drawn_from(row), atol=1e-6)
        assert shown["order"] == np.argsort(-LOGITS[row]).tolist()
        wanted = [
            (chances > 0).sum(),
            100 * chances[~POSSIBLE[row]].sum(),
            np.exp(entropy(chances)),
        ]
        found = [shown["left"], shown["wrong"], shown["variety"]]
        np.testing.assert_allclose(found, wanted, atol=1e-6)
