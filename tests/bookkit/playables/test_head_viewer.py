"""The head viewer in Node: the map of a head, and the weights of the token that is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": [0.5, 0.5]}, "weights: got shape"),
        ({"weights": [[[0.5, 0.6], [0, 1]]]}, "weights: got a row with the sum 1.1"),
        ({"weights": [[[-0.5, 0.6], [0, 1]]]}, "weights: got -0.5 to 1, wanted numbers from 0"),
        ({"weights": np.zeros((1, 1, 320, 320))}, "weights: got 102400 numbers, wanted at most"),
        ({"queries": ["a"]}, "queries: got 1 labels, wanted 2"),
        ({"layer_names": ["x", "y"]}, "layer_names: got 2 labels, wanted 1"),
        ({"head": 1}, "head: got 1, wanted 0 to 0"),
        ({"query": 2}, "query: got 2, wanted 0 to 1"),
    ],
    ids=["shape", "sum", "negative", "many", "queries", "layers", "head", "query"],
)
def test_wrong_calls(changes: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"weights": [[[1.0, 0.0], [0.0, 1.0]]], "queries": ["a", "b"]}
    with pytest.raises(ValueError, match=message):
        head_viewer(**given | changes)
