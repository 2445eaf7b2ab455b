"""A layer of attention with a board of mistakes: one is switched on, and checks look for it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bookkit.inputs import as_labels, as_matrix, as_vector
from bookkit.playables.playable import Playable, playable
from companion.attention import scaled_dot_product_attention
from companion.contracts import contract
from companion.masks import causal_mask

Numbers = NDArray[np.float64]

MATRICES = ("query", "key", "value", "output")
SWITCHES = {
    "no scale": "The scores are not divided by √d.",
    "query and key swapped": "The keys ask and the queries answer.",
    "softmax over queries": "The columns sum to 1 instead of the rows.",
    "heads by a view": "The heads are cut and joined without a transpose.",
    "joined by a view": "The heads are cut correctly, and joined without a transpose.",
    "no mask": "Every word sees every word.",
    "mask upside down": "Every word sees only the words after it.",
    "one word too many": "Every word sees the next word as well.",
    "one word too few": "No word sees itself.",
    "1e-9 for -1e9": "A forbidden score becomes nearly 0 instead of very negative.",
    "masked too late": "Forbidden weights are set to 0 after the softmax.",
    "first-key corner": "With a cache, the mask begins at the first key.",
}
"""The mistakes, and what each of them does."""
CHECKS = {
    "shape": "The output has the shape of the input.",
    "rows": "The weights of each word sum to 1.",
    "future": "Change the last word: no output before it moves.",
    "order": "Without a mask, reordered words give reordered outputs.",
    "cache": "The last two words, asked alone, give the same outputs.",
    "loops": "The output is that of the loops.",
}
"""What looks for a mistake."""
_NEAR = 1e-9


@contract(heads=">= 1")
def switchboard(
    words: Sequence[str],
    x: Any,
    weights: Mapping[str, Any],
    *,
    heads: int,
    other: Any,
    wanted: Any,
    caption: str = "",
) -> Playable:
    """Show causal self-attention in heads; a reader switches a mistake on, and six checks run.

    Args:
        words: (n,) what the rows of x stand for.
        x: (n, e) their vectors.
        weights: the matrices "query", "key" and "value", (e, h * d), and "output", (h * d, e).
        heads: their number h.
        other: (e,) what the check of the future changes the last word to.
        wanted: (n, e) the right output, by another program: the loops.

    >>> same = dict.fromkeys(("query", "key", "value", "output"), [[1.0]])
    >>> switchboard(["new"], [[2.0]], same, heads=1, other=[0.0], wanted=[[2.0]])
    A layer of attention with a board of mistakes: a drawing to play with.
    """
    rows, right = as_matrix(x, "x"), as_matrix(wanted, "wanted")
    labels = as_labels(words, "words", len(rows), "row of x")
    matrices = _matrices(weights, rows.shape[1], heads)
    output = _run(rows, matrices, heads)
    if right.shape != output.shape or not np.allclose(right, output, rtol=0, atol=_NEAR):
        raise ValueError("wanted: got another output than the layer's")
    return playable(
        "switchboard",
        "A layer of attention with a board of mistakes",
        caption=caption,
        words=labels,
        x=rows,
        weights=matrices,
        heads=heads,
        other=as_vector(other, "other", rows.shape[1]),
        wanted=right,
        switches=list(SWITCHES.items()),
        checks=list(CHECKS.items()),
    )


def _matrices(weights: Mapping[str, Any], e: int, heads: int) -> dict[str, Numbers]:
    if set(weights) != set(MATRICES):
        raise ValueError(f"weights: got {sorted(weights)}, wanted {', '.join(MATRICES)}")
    matrices = {name: as_matrix(weights[name], f"weights[{name!r}]") for name in MATRICES}
    inner = matrices["query"].shape[1]
    shapes = [matrices[name].shape for name in MATRICES]
    if shapes != [(e, inner)] * 3 + [(inner, e)] or inner % heads:
        raise ValueError(f"weights: got shapes {shapes} for {heads} heads and words of width {e}")
    return matrices


def _run(x: Numbers, matrices: Mapping[str, Numbers], heads: int) -> Numbers:
    """Return the output (n, e) of the layer without a mistake."""
    query, key, value = (
        np.stack(np.split(x @ matrices[name], heads, axis=1)) for name in MATRICES[:3]
    )
    blends = scaled_dot_product_attention(query, key, value, causal_mask(len(x)))
    output: Numbers = np.concatenate(list(blends), axis=1) @ matrices["output"]
    return output
