"""Words to move in Node, against `self_attention`."""

import numpy as np
import pytest

from bookkit.figures import word_order
from companion import causal_mask, self_attention
from tests.bookkit.playables.node import ask

VECTORS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
QUERY, KEY = np.array([[-1.0, 0.0], [2.0, -1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
VALUE = np.array([[1.0, 0.5], [0.0, 1.0]])


MADE = word_order(["the", "new", "house"], VECTORS, QUERY, KEY, VALUE)


@pytest.mark.parametrize("before", [False, True])
def test_every_order_is_that_of_the_package(before: bool) -> None:
    orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    home, _ = self_attention(VECTORS, QUERY, KEY, VALUE)
    states = [{"order": order, "before": before} for order in orders]
    for order, shown in zip(orders, ask(MADE, *states), strict=True):
        mask = causal_mask(3) if before else None
        output, weights = self_attention(VECTORS[order], QUERY, KEY, VALUE, mask)
        back = np.argsort(order)
        np.testing.assert_allclose(shown["results"], output[back], atol=1e-6)
        np.testing.assert_allclose(shown["weights"], weights[back][:, back], atol=1e-6)
        changes = np.linalg.norm(output[back] - home, axis=1)
        np.testing.assert_allclose(shown["changes"], changes, atol=1e-6)
