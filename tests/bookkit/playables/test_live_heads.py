"""The head viewer in Python: what it says without a script, what it stores, what it refuses."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.figures import head_viewer

WEIGHTS = np.array([[[0.9, 0.1, 0.0], [0.0, 0.015, 0.985]], [[0.2, 0.3, 0.5], [0.0, 0.0, 0.0]]])
SOURCE, TARGET = ["the", "black", "cat"], ["el", "gato"]


def test_one_head_is_drawn_and_put_into_words_without_a_script() -> None:
    shown = head_viewer(WEIGHTS, TARGET, SOURCE, head=1, query_name="Spanish", key_name="English")
    assert repr(shown) == (
        "Who looks at whom. Head 2: el looks most at cat, 0.50; gato looks at nothing."
    )
    drawing = shown.drawing
    assert drawing.count("<path") == 3, "a weight of zero has no line"
    assert head_viewer(WEIGHTS, TARGET, SOURCE).drawing.count("<path") == 3, "0.015 is faint"
    for word in (*SOURCE, *TARGET, "Spanish", "English"):
        assert f">{word}<" in drawing
    assert 'aria-label="Head 2: el looks most at cat' in drawing
    assert "style=" not in drawing
    assert "<button" not in drawing, "nothing to press without a script"


def test_numbers_are_stored_to_the_last_bit_of_float32() -> None:
    data = head_viewer(torch.tensor(WEIGHTS)[None], TARGET, SOURCE).data
    stored = np.frombuffer(base64.b64decode(data["weights"]["base64"]), "<f4")
    assert data["weights"]["shape"] == [1, 2, 2, 3]
    np.testing.assert_array_equal(stored.reshape(WEIGHTS.shape), WEIGHTS.astype("f4"))
    assert data["layers"] == ["1"]


def test_layers_have_the_names_that_they_are_given() -> None:
    shown = head_viewer(np.ones((2, 3, 1, 1)), ["a"], layer=1, layer_name="block")
    assert shown.alt == "Block 2, head 1: a looks most at a, 1.00."
    named = head_viewer(np.ones((2, 3, 1, 1)), ["a"], layer_names=["low", "high"])
    assert named.alt.startswith("Layer low, head 1")


def test_it_opens_at_the_token_that_it_is_given() -> None:
    shown = head_viewer(WEIGHTS, TARGET, SOURCE, head=1, query=0)
    assert shown.alt == "Head 2: el looks most at cat, 0.50."
    assert shown.drawing.count("<path") == 3, "gato has no lines"
    assert head_viewer(WEIGHTS, TARGET, SOURCE, query=1).drawing.count("<path") == 1
    assert shown.data["query"] == 0
    assert head_viewer(WEIGHTS, TARGET, SOURCE).data["query"] is None


def test_the_same_bytes_each_time_and_not_many() -> None:
    heads = np.full((2, 4, 10, 10), 0.1)
    words = [f"word{place}" for place in range(10)]
    pages = [head_viewer(heads, words)._repr_html_() for _ in range(2)]
    assert pages[0] == pages[1]
    assert len(pages[0]) < 45_000


def test_self_attention_needs_its_tokens_once() -> None:
    shown = head_viewer(np.eye(2)[None, None], ["a<b", " "], layer_names=["encoder"])
    assert shown.data["keys"] == shown.data["queries"] == ["a<b", "␣"]
    assert "a<b" not in shown._repr_html_()
    assert shown.alt.startswith("Head 1: a<b looks most at a<b, 1.00")


@pytest.mark.parametrize(
    ("weights", "options", "message"),
    [
        (np.eye(2), {}, r"weights: got shape \(2, 2\), wanted \(layers, heads, q, k\)"),
        (np.zeros((1, 2, 0)), {}, "weights: got shape"),
        (np.full((1, 2, 2), 0.6), {}, "weights: got a row with the sum 1.2, wanted at most 1"),
        (np.full((1, 2, 2), -0.1), {}, "weights: got -0.1 to -0.1, wanted numbers from 0 to 1"),
        (np.full((1, 2, 2), np.nan), {}, "wanted numbers from 0 to 1"),
        (np.zeros((1, 26, 64, 64)), {}, "wanted at most 100000: choose some heads"),
        (np.eye(3)[None], {}, "queries: got 2 labels, wanted 3, one a query"),
        (np.eye(2)[None], {"keys": ["a"]}, "keys: got 1 labels, wanted 2, one a key"),
        (np.eye(2)[None], {"layer": 1}, "layer: got 1, wanted 0 to 0"),
        (np.eye(2)[None], {"head": -1}, "head: got -1, wanted 0 to 0"),
        (np.eye(2)[None], {"query": 2}, "query: got 2, wanted 0 to 1"),
        (np.eye(2)[None], {"layer_names": ["a", "b"]}, "layer_names: got 2 labels, wanted 1"),
    ],
    ids=[
        "rank", "empty", "sum", "negative", "nan", "many",
        "queries", "keys", "layer", "head", "query", "layer_names",
    ],
)  # fmt: skip
def test_wrong_calls(weights: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        head_viewer(weights, ["a", "b"], **options)


def test_words_are_no_weights() -> None:
    with pytest.raises(TypeError, match="weights: got list, wanted numbers"):
        head_viewer([["a"]], ["a"])
