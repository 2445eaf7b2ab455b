"""The ring in Node: pairs are those that the package counts, whoever has which piece."""

import numpy as np
import pytest

from bookkit.figures import ring_layout
from companion import causal_mask
from companion.parallel import Layout, ring_pairs
from tests.bookkit.playables.node import ask

IN_ORDER, THERE_AND_BACK = [0, 1, 2, 3, 4, 5, 6, 7], [0, 2, 4, 6, 7, 5, 3, 1]


@pytest.mark.parametrize(
    ("layout", "order"), [("in order", IN_ORDER), ("balanced", THERE_AND_BACK)]
)
def test_rounds_are_those_of_the_package(layout: Layout, order: list[int]) -> None:
    for causal, right in ((True, 0), (False, None)):
        (shown,) = ask(ring_layout(), {"order": order, "causal": causal})
        assert shown["rounds"] == ring_pairs(16, 4, layout=layout, right=right)


def test_any_order_is_counted_as_its_mask_allows() -> None:
    orders = [list(map(int, np.random.default_rng(3).permutation(8))) for _ in range(1)]
    orders += [[0, 2, 4, 6, 1, 3, 5, 7], [1, 7, 0, 3, 2, 6, 5, 4]]
    states = [{"order": order, "round": turn} for order in orders for turn in range(4)]
    for state, shown in zip(states, ask(ring_layout(), *states), strict=True):
        owner = np.repeat(np.array(state["order"]) // 2, 2)
        rounds = [
            [int(causal_mask(16)[owner == r][:, owner == (r - turn) % 4].sum()) for r in range(4)]
            for turn in range(4)
        ]
        assert shown["rounds"] == rounds
        assert shown["whole"] == sum(map(max, rounds))
        assert shown["even"] == 16 * 17 / 2 / 4
