"""The arrows without a script: their numbers are the package's, and wrong calls are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.data.plane import plane_words
from bookkit.figures import LiveOutput, arrow_lookup
from companion import attention_with_weights

WORDS, VECTORS = plane_words()


def made(**changes: Any) -> LiveOutput:
    given: dict[str, Any] = {
        "words": WORDS, "vectors": VECTORS, "stretched": "house", "length": 2.0,
    } | changes  # fmt: skip
    return arrow_lookup(given.pop("words"), given.pop("vectors"), **given)


def drawn(**changes: Any) -> Tag:
    page = BeautifulSoup(made(**changes)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def values(figure: Tag, part: str) -> list[float]:
    return [float(str(one["data-am-value"])) for one in figure.select(f".am-arrow-lookup-{part}")]


@pytest.mark.parametrize("score", ["dot product", "Gaussian"])
@pytest.mark.parametrize(("length", "temperature"), [(2.0, 1), (3.1, 0.3), (0.5, 20)])
def test_weights_and_blend_are_those_of_attention(
    score: str, length: float, temperature: float
) -> None:
    figure = drawn(query=(0.7, -1.2), temperature=temperature, length=length, score=score)
    key = VECTORS.copy()
    key[5] *= length / 2
    bias = -(key**2).sum(-1) / 2 / temperature if score == "Gaussian" else None
    blend, weights = attention_with_weights(
        np.array([[0.7, -1.2]]), key, VECTORS, bias, scale=1 / temperature
    )
    np.testing.assert_allclose(values(figure, "weight"), weights[0], atol=1e-8)
    np.testing.assert_allclose(values(figure, "found"), blend[0], atol=1e-8)


def test_the_words_tell_what_wins_and_who_shares() -> None:
    assert made().alt == (
        "Query (1.0, 1.0), dot product, temperature 1, house has length 2.0: new and house have "
        "the largest weight, 0.39. The blend is (1.19, 0.47)."
    )
    assert "length 2.1: house has the largest" in made(length=2.1).alt
    assert (
        "Gaussian, temperature 1, house has length 2.1: new has"
        in made(length=2.1, score="Gaussian").alt
    )


def test_the_hexagon_has_all_values_as_corners_and_a_point_inside_is_none() -> None:
    def corners(**changes: Any) -> set[str]:
        polygon = drawn(**changes).select_one("polygon")
        assert polygon is not None
        return set(str(polygon["points"]).split())

    assert len(corners()) == 6
    inside = {"words": [*WORDS, "<so>"], "vectors": [*VECTORS.tolist(), [0.2, 0.1]]}
    assert corners(**inside) == corners()
    line = {"words": ["a", "b"], "vectors": [[1, 0], [2, 0]], "stretched": "a"}
    assert len(corners(**line)) == 2


def test_words_are_text() -> None:
    figure = drawn(words=["<b>", *WORDS[1:]])
    assert figure.select("b") == []
    assert figure.select("tbody th")[0].get_text() == "<b>"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vectors": np.ones((6, 3))}, r"vectors: got shape \(6, 3\)"),
        ({"vectors": np.zeros((6, 2))}, "vectors: got one of length 0"),
        ({"words": WORDS[:5]}, "words: got 5 labels, wanted 6"),
        ({"stretched": "casa"}, "stretched: got 'casa'"),
        ({"query": (4.1, 0.0)}, "query: got 4.1, wanted tenths from -2 to 4"),
        ({"query": (0.0, 0.55)}, "query: got 0.55"),
        ({"length": 4.0}, "length: got 4.0, wanted tenths from 0.5 to 3.5"),
        ({"temperature": 0.0}, "temperature: got 0.0"),
        ({"score": "cosine"}, "score: got 'cosine'"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**changes)
