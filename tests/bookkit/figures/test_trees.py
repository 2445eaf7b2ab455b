"""The tree of beginnings: where words stand, and which lines lead to them."""

from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Annotation

from bookkit import figures as plot

TREE = {
    ("the",): 1.0, ("the", "cat"): 0.3, ("the", "dog"): 0.6, ("the", "cat", "sleeps"): 0.25,
    ("the", "dog", "runs"): 0.2, ("the", "dog", "sees"): 0.15,
}  # fmt: skip
DOG, CAT = ("the", "dog", "runs"), ("the", "cat", "sleeps")


def words(ax: Any) -> dict[str, Any]:
    return {t.get_text(): t for t in ax.texts if not isinstance(t, Annotation)}


def lines(ax: Any) -> dict[tuple[int, int], Any]:
    """Every line by column and row of its end."""
    return {(round(x[-1]), y[-1]): line for line in ax.lines for x, y in [line.get_data()]}


def test_words_stand_in_columns_and_the_more_probable_above(ax: Any) -> None:
    plot.prefix_tree(ax, TREE)
    places = {name: text.get_position() for name, text in words(ax).items()}
    assert places == {
        "the": (0, 0), "dog": (1, 0), "runs": (2, 0), "sees": (2, 1), "cat": (1, 2),
        "sleeps": (2, 2),
    }  # fmt: skip
    low, high = ax.get_ylim()
    assert low > high  # row 0 is on top


def test_ways_have_the_colour_of_their_series_and_shared_ones_ink(ax: Any) -> None:
    tree = {("i",): 1.0, **{("i", *key): value for key, value in TREE.items()}}
    ends = {"greedy": ("i", *DOG), "beam": ("i", *CAT)}
    plot.prefix_tree(ax, tree, followed=[*tree], arrived=ends)
    colours = {end: to_hex(line.get_color()) for end, line in lines(ax).items()}
    assert colours == {
        (1, 0): plot.INK, (2, 0): plot.PETROL, (3, 0): plot.PETROL, (3, 1): plot.SLATE,
        (2, 2): plot.GOLD, (3, 2): plot.GOLD,
    }  # fmt: skip
    names = {t.get_text(): t for t in ax.texts if t.get_text() in ends}
    assert names["greedy"].xy == (3, 0)
    assert names["beam"].xy == (3, 2)
    assert to_hex(names["beam"].get_color()) == plot.letter_color(plot.GOLD)


def test_impossible_trees_are_refused(ax: Any) -> None:
    with pytest.raises(ValueError, match="probabilities: got 2 beginnings"):
        plot.prefix_tree(ax, {**TREE, ("a", "b"): 0.1})
