"""Words to move in Python: what is drawn and said without a script, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup

from bookkit.figures import LiveOutput, word_order
from companion.attention import self_attention

WORDS = ["the", "<new>", "house"]
VECTORS = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
QUERY, KEY = np.array([[-1.0, 0.0], [2.0, -1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])
VALUE = np.array([[1.0, 0.5], [0.0, 1.0]])


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "words": WORDS, "vectors": VECTORS, "query_weight": QUERY, "key_weight": KEY,
        "value_weight": VALUE,
    } | changes  # fmt: skip
    return word_order(**given)


def numbers(page: BeautifulSoup, part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in page.select(f".am-word-order-{part}")]


@pytest.mark.parametrize("chosen", [0, 2])
def test_the_table_is_that_of_the_package(chosen: int) -> None:
    page = BeautifulSoup(made(chosen=chosen)._repr_html_(), "html.parser")
    output, weights = self_attention(VECTORS, QUERY, KEY, VALUE)
    np.testing.assert_allclose(numbers(page, "weight"), weights[chosen], atol=1e-8)
    np.testing.assert_allclose(numbers(page, "x"), output[:, 0], atol=1e-8)
    np.testing.assert_allclose(numbers(page, "y"), output[:, 1], atol=1e-8)
    assert numbers(page, "change") == [0, 0, 0]
    assert [head.get_text() for head in page.select("thead th")] == WORDS
    assert [one.get_text() for one in page.select("th.am-word-order-chosen")] == [WORDS[chosen]]
    assert len(page.select("g.am-word-order-chosen")) == 1


def test_words_say_what_is_drawn() -> None:
    shown = made(chosen=1)
    assert shown.alt.startswith("Order: the <new> house. Every word sees all words. From <new>: ")
    assert shown.state.endswith("The word that looks: <new>.")


def test_tensors_are_taken() -> None:
    assert made(vectors=torch.tensor(VECTORS, requires_grad=True)).data == made().data


def test_a_vector_of_zeros_is_drawn() -> None:
    assert "nan" not in made(vectors=VECTORS * [[0.0], [1.0], [1.0]])._repr_html_()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": np.ones((3, 4)), "query_weight": np.ones((4, 2))}, r"vectors: got shape"),
        ({"value_weight": np.ones((2, 3))}, r"value_weight: got shape \(2, 3\), wanted \(2, 2\)"),
        ({"words": ["the", "the", "house"]}, "words: got .* wanted different ones"),
        ({"words": ["the"]}, "words: got 1 labels, wanted 3"),
        ({"chosen": 3}, "chosen: got 3, wanted 0 to 2"),
        ({"query_weight": np.ones((3, 2))}, "query_weight"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
