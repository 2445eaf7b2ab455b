"""A map of attention that the reader moves by one row: it looks as good as before, and is wrong."""

from collections.abc import Iterable, Sequence
from typing import Any

from bookkit.inputs import as_labels, as_matrix, in_span, links_inside
from bookkit.playables.playable import Playable, playable
from companion.contracts import contract

_DIGITS = 4


@contract(sentences=">= 1")
def shifted_map(
    weights: Any,
    queries: Sequence[str],
    keys: Sequence[str],
    links: Iterable[tuple[int, int]],
    *,
    wrong: tuple[float, float],
    sentences: int,
    glosses: Sequence[str] = (),
    caption: str = "",
) -> Playable:
    """Show a map of attention; a button moves it up by one row, and a box marks the right words.

    Args:
        weights: (q + 1, k) weights; the last row is that of the step which ends the sentence, and
            takes the place of the last word when the map moves up.
        queries: q words, the rows.
        keys: k words, the columns.
        links: (query, key) right links.
        wrong: the percentage of wrong links over many sentences, with the maps as they are and
            moved up.
        sentences: how many sentences that is measured on.
        glosses: what each of the q words means; empty for none.

    >>> shifted_map([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]], ["casa", "roja"], ["red", "house"],
    ...             [(0, 1), (1, 0)], wrong=(4.8, 98.0), sentences=150)
    A map of attention to move: a drawing to play with.
    """
    given = as_matrix(weights, "weights")
    q_len, k_len = len(given) - 1, given.shape[1]
    rows = as_labels(queries, "queries", q_len, "query")
    columns = as_labels(keys, "keys", k_len, "key")
    meanings = as_labels(glosses, "glosses", q_len, "query") if glosses else []
    for percent in wrong:
        in_span(percent, "wrong", 0, 100)
    return playable(
        "shifted-map",
        "A map of attention to move",
        caption=caption,
        weights=given.round(_DIGITS),
        queries=rows,
        keys=columns,
        glosses=meanings,
        links=links_inside(links, "links", (q_len, k_len), "query, key"),
        wrong=wrong,
        sentences=sentences,
    )
