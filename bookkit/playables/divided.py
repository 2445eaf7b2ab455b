"""A head whose weight the reader divides between two questions, and what can be read of either."""

from collections.abc import Mapping, Sequence

from bookkit.inputs import as_labels
from bookkit.playables.playable import Playable, playable

STEPS = 60
"""Steps of a slider; the same as in `divided-head.js`."""


def divided_head(
    words: Sequence[str],
    others: Mapping[int, str],
    query: int,
    questions: Sequence[str],
    *,
    heads: int = 1,
    shares: tuple[int, int] = (30, 0),
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
        heads: 1 or 2 to begin with.
        shares: of each head, how many sixtieths of its weight the first word has to begin with; the
            second has the rest.
        caption: the words below it.

    Raises:
        ValueError: positions or numbers are out of range, or there are not two questions.

    >>> divided_head(["she", "is", "in"], {0: "they", 2: "out"}, 1, ["Who?", "Where?"])
    A head that is divided: a drawing to play with.
    """
    shown = as_labels(words, "words", len(words), "word")
    asked = as_labels(questions, "questions", 2, "question")
    places = _places(others, query, len(shown))
    if heads not in (1, 2):
        raise ValueError(f"heads: got {heads}, wanted 1 or 2")
    if not all(0 <= share <= STEPS for share in shares):
        raise ValueError(f"shares: got {shares}, wanted two numbers from 0 to {STEPS}")
    return playable(
        "divided-head",
        "A head that is divided",
        caption=caption,
        words=shown,
        places=places,
        pairs=[(shown[place], others[place]) for place in places],
        query=query,
        questions=asked,
        heads=heads,
        shares=shares,
    )


def _places(others: Mapping[int, str], query: int, count: int) -> tuple[int, int]:
    places = sorted(others)
    if len(places) != 2 or not all(0 <= place < count for place in places):
        raise ValueError(f"others: got positions {places}, wanted two from 0 to {count - 1}")
    if not 0 <= query < count or query in places:
        raise ValueError(f"query: got {query}, wanted another from 0 to {count - 1}")
    return places[0], places[1]
