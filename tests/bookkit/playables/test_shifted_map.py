"""The map to move in Node: which rows it shows, and in how many the largest weight is right."""

import numpy as np

from bookkit.figures import shifted_map
from tests.bookkit.playables.node import ask

WEIGHTS = np.round(np.eye(3)[[0, 2, 1, 2]] * 0.8 + 0.2 / 3, 4)


MADE = shifted_map(
    WEIGHTS, ["la", "casa", "nueva"], ["the", "new", "house"], [(0, 0), (1, 2), (2, 1)],
    wrong=(4.6, 97.7), sentences=150,
)  # fmt: skip


def test_the_map_moves_by_one_row() -> None:
    whole, moved = ask(MADE, {"moved": 0}, {"moved": 1})
    np.testing.assert_allclose(whole["shown"], WEIGHTS[:-1], atol=1e-6)
    np.testing.assert_allclose(moved["shown"], WEIGHTS[1:], atol=1e-6)
    assert [whole["hits"], moved["hits"]] == [3, 0]
