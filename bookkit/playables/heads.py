"""The head viewer: who looks at whom, in any layer and head."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bookkit.inputs import Numbers, all_within, as_labels, as_numbers, in_span
from bookkit.playables.playable import Playable, playable

FAINT = 0.02
"""Weights below this get no line; the same as in `head-viewer.js`."""

_MOST_WEIGHTS = 100_000  # some 530 kB of HTML
_SLACK = 1e-3  # what half precision may be beside a sum of 1


def head_viewer(
    weights: Any,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    label: str = "Who looks at whom",
    query_name: str = "query",
    key_name: str = "key",
    layer: int = 0,
    head: int = 0,
    query: int | None = None,
    layer_name: str = "layer",
    head_names: Sequence[str] | None = None,
) -> Playable:
    """Show attention weights as lines between tokens; the reader chooses the layer and the head.

    Without scripts it shows one head. Pointing at a token, or tabbing to it, shows it alone;
    a click pins it, arrow keys move on, Escape lets go. A matrix can be shown instead of lines.

    Args:
        weights: (layers, heads, q, k) or (heads, q, k) weights of one sequence, stored as float32.
        queries: q tokens, on the left.
        keys: k tokens, on the right; None means those of the queries, for self-attention.
        label: what is shown, in a few words.
        query_name: what the tokens on the left are.
        key_name: what the tokens on the right are.
        layer: which layer is shown first, from 0.
        head: which head is shown first, from 0.
        query: which token on the left is followed alone at first, from 0; None means none.
        layer_name: what a layer is called, as "block".
        head_names: what the heads are called; None means their numbers, from 1.

    >>> head_viewer([[[0.9, 0.1], [0.0, 1.0]]], ["el", "gato"], ["the", "cat"])
    Who looks at whom: a drawing to play with.
    """
    given = _as_heads(weights)
    layers, heads, q_len, k_len = given.shape
    left = as_labels(queries, "queries", q_len, "query")
    right = as_labels(queries if keys is None else keys, "keys", k_len, "key")
    in_span(layer, "layer", 0, layers - 1)
    in_span(head, "head", 0, heads - 1)
    in_span(query or 0, "query", 0, q_len - 1)
    return playable(
        "head-viewer",
        label,
        caption=f"The thicker a line, the more the {query_name} token looks at the {key_name} "
        f"token. Weights below {FAINT} have no line.",
        weights=given,
        queries=left,
        keys=right,
        names=[query_name, key_name],
        layers=[str(number) for number in range(1, layers + 1)],
        layerName=layer_name.capitalize(),
        layer=layer,
        head=head,
        query=query,
        heads=None if head_names is None else as_labels(head_names, "head_names", heads, "head"),
    )


def _as_heads(weights: Any) -> Numbers:
    """Convert to (layers, heads, q, k), and refuse what are no weights."""
    given = as_numbers(weights, "weights")
    if given.ndim == 3:
        given = given[None]
    if given.ndim != 4 or not given.size:
        raise ValueError(
            f"weights: got shape {np.shape(weights)}, wanted (layers, heads, q, k) or (heads, q, k)"
        )
    if given.size > _MOST_WEIGHTS:
        raise ValueError(
            f"weights: got {given.size} numbers, wanted at most {_MOST_WEIGHTS}: choose some heads"
        )
    all_within(given, "weights", (0, 1 + _SLACK))
    if (largest := given.sum(-1).max()) > 1 + _SLACK:
        raise ValueError(f"weights: got a row with the sum {largest:.4g}, wanted at most 1")
    return given
