"""The softmax to touch in Node, against `masked_softmax`."""

import numpy as np

from bookkit.figures import softmax_explorer
from bookkit.playables.softmax import TEMPERATURES
from companion import masked_softmax
from tests.bookkit.playables.node import ask


def test_shares_are_those_of_the_package() -> None:
    scores = np.array([-0.2, 1.4, 0.2, -1.0])
    shown = ask(
        softmax_explorer(["The", "cat", "sat", "on"], scores),
        *({"temperature": place} for place in range(len(TEMPERATURES))),
    )
    wanted = masked_softmax(scores / np.array(TEMPERATURES)[:, None])
    np.testing.assert_allclose(shown, wanted, rtol=1e-6, atol=1e-6)
