"""A head whose weight the reader divides between two questions, and what can be read of either."""

from collections.abc import Mapping, Sequence

from bookkit.inputs import as_labels, one_of
from bookkit.playables.playable import Playable, playable

STEPS = 60
"""Steps of a slider; the same as in `divided-head.js`."""


def divided_head(
    words: Sequence[str],
    others: Mapping[int, str],
    query: int,
    questions: Sequence[str],
    *,
    caption: str = "",
) -> Playable:
    """Show what one head, or two, hand over of two words, by how their weight is divided.

    A word has the value 0, and the other word that may stand in its place the value 1. So there are
    four sentences, and each is a point: what the first head hands over and, with two heads, what
    the second one does. A question can be answered as far as sentences with different answers lie
    apart; the smallest of these distances is shown.

    Args:
        words: n words.
        others: by position, the other word of each of the two that are asked about.
        query: the position of the word that asks.
        questions: two, about the two words in their order.

    >>> divided_head(["she", "is", "in"], {0: "they", 2: "out"}, 1, ["Who?", "Where?"])
    A head that is divided: a drawing to play with.
    """
    shown = as_labels(words, "words", len(words), "word")
    asked = as_labels(questions, "questions", 2, "question")
    places = sorted(others)
    if len(places) != 2 or not all(0 <= place < len(shown) for place in places):
        raise ValueError(f"others: got positions {places}, wanted two from 0 to {len(shown) - 1}")
    one_of(query, "query", set(range(len(shown))) - others.keys())
    return playable(
        "divided-head",
        "A head that is divided",
        caption=caption,
        words=shown,
        places=places,
        pairs=[(shown[place], others[place]) for place in places],
        query=query,
        questions=asked,
        heads=1,
        shares=(STEPS // 2, 0),
    )
