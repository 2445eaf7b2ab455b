"""Self-attention on words that a reader moves: what a word gets stays, unless order is seen."""

from collections.abc import Sequence
from typing import Any

from bookkit.inputs import as_labels, as_matrix, in_span
from bookkit.playables.playable import Playable, playable


def word_order(
    words: Sequence[str],
    vectors: Any,
    query_weight: Any,
    key_weight: Any,
    value_weight: Any,
    *,
    chosen: int = 0,
    caption: str = "",
) -> Playable:
    """Show a layer of self-attention in the plane, and let the reader put its words in any order.

    The table has a column for each word, with the weight that the chosen word puts on it, its
    result, and how far this lies from its result in the order that is given here. A box to tick
    lets every word see itself and the words before it alone.

    Args:
        words: n different words, in their order.
        vectors: (n, 2) what goes in.
        query_weight: (2, d).
        key_weight: (2, d).
        value_weight: (2, 2): results lie in the plane of the words.
        chosen: the word whose weights are shown at first.

    >>> same = [[1.0, 0.0], [0.0, 1.0]]
    >>> word_order(["new", "house"], [[1.0, 1.0], [2.0, 0.0]], same, same, same, chosen=1)
    Self-attention on words to move: a drawing to play with.
    """
    given = as_matrix(vectors, "vectors", 2)
    names = as_labels(words, "words", len(given), "vector")
    weights = {
        "query_weight": as_matrix(query_weight, "query_weight"),
        "key_weight": as_matrix(key_weight, "key_weight"),
        "value_weight": as_matrix(value_weight, "value_weight", 2),
    }
    if len(set(names)) < len(names):
        raise ValueError(f"words: got {names}, wanted different ones")
    in_span(chosen, "chosen", 0, len(names) - 1)
    return playable(
        "word-order",
        "Self-attention on words to move",
        caption=caption,
        words=names,
        vectors=given,
        chosen=chosen,
        **{name.removesuffix("_weight"): given @ matrix for name, matrix in weights.items()},
    )
