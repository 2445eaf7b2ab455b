"""The head viewer in Node: the map of a head, and the weights of the token that is followed."""

from typing import Any

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


def test_what_is_said() -> None:
    made = head_viewer([[[0.9, 0.1], [0.0, 1.0]]], ["el", "gato"], ["the", "cat"])
    states: list[dict[str, Any]] = [
        {},
        {"pinned": [0, 0]},
        {"pinned": [1, 0]},
        {"show": 1},
        {"show": 1, "cell": [1, 1]},
    ]
    assert ask(made, *states, want="said") == [
        "Head 1. The thickest line goes from gato to cat, 1.00.",
        "Head 1: el looks at the 0.90, cat 0.10.",
        "Head 1: the is looked at by el 0.90.",
        "Head 1. Rows look at columns: the more ink, the larger the weight.",
        "gato to cat: 1.00.",
    ]
