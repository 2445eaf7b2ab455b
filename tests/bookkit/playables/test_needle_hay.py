"""The needle in the hay, in Node: its weights are those of a softmax over all the keys."""

from itertools import product

import numpy as np

from bookkit.figures import needle_hay
from bookkit.playables.hay import COUNTS
from companion import masked_softmax
from companion.indexed import top_keys
from tests.bookkit.playables.node import ask

MADE = needle_hay()


def test_the_weights_are_those_of_a_softmax_over_the_best_keys() -> None:
    chosen = list(product((2, 5, 150, 1000), (0.0, 5.0, 11.5), (0, 1, 4), (2, 100, 1000)))
    states = [
        {"n": COUNTS.index(n), "lead": 10 * lead, "others": others, "few": True,
         "k": COUNTS.index(k) + 1}
        for n, lead, others, k in chosen
    ]  # fmt: skip
    for (n, lead, others, k), shown in zip(chosen, ask(MADE, *states), strict=True):
        needles = min(others + 1, n)
        scores = np.zeros((1, n))
        scores[0, :needles] = lead + 1e-9 * np.arange(needles)  # the needle is the last by a hair
        weights = masked_softmax(scores, top_keys(scores, k))[0]
        mean = weights[:needles].mean()  # chance decides which of the needles are read
        np.testing.assert_allclose(shown["needle"], mean, rtol=1e-6)
        np.testing.assert_allclose(shown["others"], mean * (needles - 1), rtol=1e-6)
        np.testing.assert_allclose(shown["hay"], weights[needles:].sum(), rtol=1e-6, atol=1e-9)
        assert shown["read"] == min(k, n)
        soft = masked_softmax(scores)[0, :needles].mean()
        np.testing.assert_allclose(shown["all"][COUNTS.index(n)], soft, rtol=1e-6)


def test_half_of_the_weight_among_a_hundred_thousand_takes_a_lead_of_eleven_and_a_half() -> None:
    (shown,) = ask(MADE, {"n": COUNTS.index(100_000), "lead": 115})
    assert round(shown["half"], 1) == 11.5
    assert abs(shown["needle"] - 0.5) < 0.005
