"""A map of attention that the reader moves by one row: it looks as good as before, and is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from bookkit.figures._inputs import Numbers, as_labels, as_matrix
from bookkit.playables.output import LiveOutput
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
) -> LiveOutput:
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
        caption: the words below.

    Raises:
        TypeError: `weights` holds no numbers.
        ValueError: shapes, numbers of labels or links do not agree, or `wrong` holds other numbers
            than percentages.

    >>> shifted_map([[0.1, 0.9], [0.8, 0.2], [0.5, 0.5]], ["casa", "roja"], ["red", "house"],
    ...             [(0, 1), (1, 0)], wrong=(4.8, 98.0), sentences=150)
    A map of attention to move. As it is: the largest weight is right in 2 of 2 rows. Over 150 \
sentences, 5 of 100 links are wrong.
    """
    given = as_matrix(weights, "weights")
    q_len, k_len = len(given) - 1, given.shape[1]
    rows = as_labels(queries, "queries", q_len, "query")
    columns = as_labels(keys, "keys", k_len, "key")
    meanings = as_labels(glosses, "glosses", q_len, "query") if glosses else [""] * q_len
    right = sorted(links)
    for row, column in right:
        if not (0 <= row < q_len and 0 <= column < k_len):
            wanted = f"(query, key) inside {(q_len, k_len)}"
            raise ValueError(f"links: got {(row, column)}, wanted {wanted}")
    if not all(0 <= percent <= 100 for percent in wrong):
        raise ValueError(f"wrong: got {wrong}, wanted two numbers from 0 to 100")
    found = _found(given[:-1], right, wrong[0], sentences)
    return LiveOutput(
        "shifted-map",
        drawing=_table(given[:-1], rows, columns, meanings, frozenset(right)),
        data={
            "weights": [[round(weight, _DIGITS) for weight in row] for row in given.tolist()],
            "links": right,
            "wrong": wrong,
            "sentences": sentences,
        },
        label="A map of attention to move",
        alt=found,
        caption=caption,
        state=found,
    )


def _found(shown: Numbers, links: Sequence[tuple[int, int]], wrong: float, sentences: int) -> str:
    hits = sum((row, int(line.argmax())) in set(links) for row, line in enumerate(shown))
    return (
        f"As it is: the largest weight is right in {hits} of {len(shown)} rows. Over {sentences}"
        f" sentences, {wrong:.0f} of 100 links are wrong."
    )


def _table(
    shown: Numbers,
    rows: Sequence[str],
    columns: Sequence[str],
    meanings: Sequence[str],
    right: frozenset[tuple[int, int]],
) -> str:
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in columns)
    body = "".join(
        f'<tr><th scope="row"><span lang="es">{escape(word)}</span>'
        + (f" <small>{escape(meaning)}</small>" if meaning else "")
        + "</th>"
        + "".join(
            _cell(float(weight), (row, column) in right) for column, weight in enumerate(line)
        )
        + "</tr>"
        for row, (word, meaning, line) in enumerate(zip(rows, meanings, shown, strict=True))
    )
    return (
        f'<table class="am-shifted-table"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _cell(weight: float, right: bool) -> str:
    ink = round(10 * weight)  # in tenths: without a script there are classes alone
    mark = ' class="am-shifted-right"' if right else ""
    return (
        f'<td{mark}><span class="am-shifted-ink am-ink-{ink}">'
        f'<span class="am-live-unseen">{weight:.2f}</span></span></td>'
    )
