"""The drawn Transformer: what stands where, in both orders of the norms."""

from typing import Any

import pytest
from matplotlib.text import Annotation

from bookkit import figures as plot

FIRST = {"self-attention", "causal self-attention"}
SUBLAYERS = FIRST | {"cross-attention", "feed-forward"}


def column(ax: Any, right: bool) -> list[str]:
    """What is written in one column, from bottom to top, without what stands beside it."""
    inside = [
        text
        for text in ax.texts
        if not isinstance(text, Annotation)
        and text.get_ha() == "center"
        and (text.get_position()[0] > 5) == right
    ]
    return [text.get_text() for text in sorted(inside, key=lambda one: one.get_position()[1])]


@pytest.mark.parametrize(("order", "norms"), [("post", 5), ("pre", 7)])
def test_norms_stand_where_the_order_puts_them(ax: Any, order: Any, norms: int) -> None:
    plot.transformer_diagram(ax, norm_order=order)
    found = [column(ax, right) for right in (False, True)]
    assert sum(words.count("norm") for words in found) == norms
    for words in found:
        for place, word in enumerate(words):
            if word in SUBLAYERS:
                before, after = words[place - 1], words[place + 1 : place + 3]
                assert after[0] == "+"
                assert (before == "norm") == (order == "pre" or word not in FIRST)
                assert order == "pre" or after[1] == "norm"
