"""The small model that copies: its stored weights, its module in Node, and what is refused."""

from itertools import product

import numpy as np
import pytest
import torch

from bookkit.figures import copier_view, heads_that_copy
from bookkit.playables.copying import LETTERS, restored
from experiments.tools import page_copier
from tests.bookkit.playables.node import ask


def test_a_stored_weight_lies_within_half_a_step() -> None:
    weight = torch.randn(5, 9, generator=torch.Generator().manual_seed(1))
    kept = page_copier.stored(weight)
    step = torch.tensor(kept["scale"])[:, None]
    assert float(((restored(kept) - weight).abs() / step).max()) <= 0.5 + 1e-6
    assert restored(kept).shape == weight.shape


@pytest.mark.parametrize("block", ["kitchen", "mtrwiek", "ghoastn"])
@pytest.mark.parametrize("length", [4, 5, 6, 7])
def test_both_heads_copy_and_one_alone_does_not(block: str, length: int) -> None:
    text = (block[:length] * 14)[:14]
    rights = {}
    for on in ((True, True), (False, True), (True, False)):
        best = copier_view(text, on).probabilities.argmax(-1)
        rights[on] = sum(LETTERS[best[i]] == text[i + 1] for i in range(length, 13))
    assert rights[True, True] == 13 - length
    assert rights[False, True] < 0.6 * (13 - length)
    assert rights[True, False] < 0.6 * (13 - length)


def test_the_module_computes_what_the_package_computes() -> None:
    made = heads_that_copy("kitchen")
    texts = ["kitchenkitchen", "kitckitckitcki", "kiuckitckitcki"]
    on = [(True, True), (False, True), (True, False), (False, False)]
    settings = list(product(texts, on))
    states = [
        {"text": [LETTERS.index(letter) for letter in text], "first": one, "second": two}
        for text, (one, two) in settings
    ]
    for (text, works), shown in zip(settings, ask(made, *states), strict=True):
        view = copier_view(text, works)
        np.testing.assert_allclose(shown["seen"], view.weights, atol=1e-6)
        np.testing.assert_allclose(shown["chances"], view.probabilities, atol=1e-6)
