"""The head viewer in Node: the map of a head, and the weights of the token that is followed."""

import numpy as np

from bookkit.figures import head_viewer
from tests.bookkit.playables.node import ask

WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(12), size=(2, 3, 9))  # packed: 648 numbers
QUERIES, KEYS = list("abcdefghi"), list("ABCDEFGHIJKL")
MADE = head_viewer(WEIGHTS, QUERIES, KEYS)


def test_the_weights_are_those_that_were_given() -> None:
    query, key = ask(
        MADE, {"layer": 1, "head": 2, "pinned": [0, 4]}, {"pinned": [0, 4], "pointed": [1, 11]}
    )
    np.testing.assert_allclose(query["map"], WEIGHTS[1, 2], atol=1e-6)
    np.testing.assert_allclose(query["partners"], WEIGHTS[1, 2, 4], atol=1e-6)
    np.testing.assert_allclose(key["partners"], WEIGHTS[0, 0, :, 11], atol=1e-6)


def test_heads_may_have_names() -> None:
    named = head_viewer(WEIGHTS[:1], QUERIES, KEYS, head_names=["back", "copies", "rests"])
    (said,) = ask(named, {"head": 1}, want="said")
    assert said.startswith("Head copies. ")
