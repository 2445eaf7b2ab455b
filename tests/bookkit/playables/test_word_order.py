"""Words to move in Node, against `self_attention`."""

from typing import Any

import numpy as np
import pytest

from bookkit.figures import word_order
from bookkit.playables.playable import Playable
from companion import causal_mask, self_attention
from tests.bookkit.playables.node import ask

VECTORS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
QUERY, KEY = np.array([[-1.0, 0.0], [2.0, -1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
VALUE = np.array([[1.0, 0.5], [0.0, 1.0]])


def made(**changes: Any) -> Playable:
    given: dict[str, Any] = {
        "words": ["the", "new", "house"], "vectors": VECTORS, "query_weight": QUERY,
        "key_weight": KEY, "value_weight": VALUE,
    } | changes  # fmt: skip
    return word_order(**given)


@pytest.mark.parametrize("before", [False, True])
def test_every_order_is_that_of_the_package(before: bool) -> None:
    orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    home, _ = self_attention(VECTORS, QUERY, KEY, VALUE)
    states = [{"order": order, "before": before} for order in orders]
    for order, shown in zip(orders, ask(made(), *states), strict=True):
        mask = causal_mask(3) if before else None
        output, weights = self_attention(VECTORS[order], QUERY, KEY, VALUE, mask)
        back = np.argsort(order)
        np.testing.assert_allclose(shown["results"], output[back], atol=1e-6)
        np.testing.assert_allclose(shown["weights"], weights[back][:, back], atol=1e-6)
        changes = np.linalg.norm(output[back] - home, axis=1)
        np.testing.assert_allclose(shown["changes"], changes, atol=1e-6)


def test_what_is_said() -> None:
    same = np.eye(2)
    words: dict[str, Any] = dict.fromkeys(("query_weight", "key_weight", "value_weight"), same)
    shown = made(words=["new", "house"], vectors=[[1.0, 1.0], [2.0, 0.0]], chosen=1, **words)
    assert ask(shown, {}, {"order": [1, 0], "before": True}, want="said") == [
        "Order: new house. Every word sees all words. From house: new 0.20, house 0.80. Its result "
        "is (1.80, 0.20), changed by 0.00. The largest change of any word is 0.00.",
        "Order: house new. Every word sees itself and the words before it. From house: house 1.00, "
        "new 0.00. Its result is (2.00, 0.00), changed by 0.28. The largest change of any word is "
        "0.28.",
    ]
