"""A mask painted by hand: the reader blocks keys, and the softmax rows change at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from companion.attention import masked_softmax
from companion.pages.plot._inputs import Flags, Numbers, as_labels, as_matrix
from companion.pages.plot.live.output import LiveOutput, pack


def paint_mask(
    scores: Any,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    masks: Mapping[str, Any],
    label: str = "A mask to paint",
    caption: str = "Each row is a softmax over the keys that its query may look at: the weights of "
    "one query. Hatched cells are not allowed.",
) -> LiveOutput:
    """Show the weights of every query as a table; the reader paints who may look at whom.

    A click, a touch or the space bar allows or blocks a cell, a drag paints several, arrow keys
    move. Without scripts it shows the first of `masks`.

    Args:
        scores: (q, k) what the softmax gets, scaled; stored as float64.
        queries: q tokens, the rows.
        keys: k tokens, the columns; None means those of the queries, for self-attention.
        masks: the masks to begin with, by name, the first one shown: boolean arrays that broadcast
            to (q, k), True = may attend.
        label: what is shown, in a few words.
        caption: the words below.

    Raises:
        TypeError: `scores` holds no numbers, or a mask is not boolean.
        ValueError: shapes or numbers of labels do not agree, a score is not finite, or there is no
            mask.

    >>> from companion import causal_mask
    >>> paint_mask([[0.0, 0.0], [0.0, 0.0]], ["I", "am"], masks={"causal": causal_mask(2)})
    A mask to paint. Mask: causal. I: I 1.00, am blocked; am: I 0.50, am 0.50.
    """
    given = as_matrix(scores, "scores")
    if not np.isfinite(given).all():
        raise ValueError(
            "scores: got numbers that are not finite, wanted masks for what is blocked"
        )
    rows = as_labels(queries, "queries", given.shape[0], "query")
    columns = as_labels(queries if keys is None else keys, "keys", given.shape[1], "key")
    if not masks:
        raise ValueError("masks: got none, wanted at least one")
    allowed = {name: _as_mask(mask, name, given.shape) for name, mask in masks.items()}
    first, mask = next(iter(allowed.items()))
    weights = masked_softmax(given, mask)
    painted = [
        {"name": name, "allowed": one.astype(int).ravel().tolist()} for name, one in allowed.items()
    ]
    return LiveOutput(
        "paint-mask",
        drawing=_table(weights, mask, rows, columns),
        data={"scores": pack(given, "float64"), "queries": rows, "keys": columns, "masks": painted},
        label=label,
        alt=f"Mask: {first}. {_words(weights, mask, rows, columns)}.",
        caption=caption,
        state=f"Mask: {first}.",
    )


def _as_mask(mask: Any, name: str, shape: tuple[int, ...]) -> Flags:
    given = np.asarray(mask)
    if given.dtype != np.bool_:
        raise TypeError(f"masks: {name!r} has dtype {given.dtype}, wanted booleans")
    try:
        return np.broadcast_to(given, shape)
    except ValueError:
        raise ValueError(f"masks: {name!r} has shape {given.shape}, wanted {shape}") from None


def _words(weights: Numbers, mask: Flags, rows: Sequence[str], columns: Sequence[str]) -> str:
    said = []
    for query, line, allowed in zip(rows, weights, mask, strict=True):
        shown = [f"{w:.2f}" if may else "blocked" for w, may in zip(line, allowed, strict=True)]
        said.append(f"{query}: {', '.join(map(' '.join, zip(columns, shown, strict=True)))}")
    return "; ".join(said)


def _table(weights: Numbers, mask: Flags, rows: Sequence[str], columns: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{escape(key)}</th>' for key in columns)
    body = "".join(
        f'<tr><th scope="row">{escape(query)}</th>'
        + "".join(_cell(float(weight), bool(one)) for weight, one in zip(line, open_, strict=True))
        + f'<td class="am-mask-sum">{line.sum():.2f}</td></tr>'
        for query, line, open_ in zip(rows, weights, mask, strict=True)
    )
    return (
        '<div class="am-mask-scroll"><table class="am-mask-table"><thead><tr>'
        f"<td>query ↓ key →</td>{head}"
        f'<th scope="col" class="am-mask-sum">sum</th></tr></thead><tbody>{body}</tbody></table>'
        "</div>"
    )


def _cell(weight: float, allowed: bool) -> str:
    if not allowed:
        return '<td class="am-mask-cell am-mask-blocked"><span>–</span></td>'
    ink = round(10 * weight)  # in tenths: without a script there are classes alone
    return f'<td class="am-mask-cell"><span class="am-ink-{ink}">{weight:.2f}</span></td>'
