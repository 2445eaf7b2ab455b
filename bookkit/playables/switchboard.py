"""A layer of attention with a board of mistakes: one is switched on, and checks look for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_matrix, as_vector
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput
from companion.attention import attend, masked_softmax
from companion.contracts import contract
from companion.masks import causal_mask
from companion.scores import scaled_dot_score

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


class _Layer(NamedTuple):
    """Words (n, e), four matrices, and the number of heads."""

    words: Numbers
    matrices: Mapping[str, Numbers]
    heads: int


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
) -> LiveOutput:
    """Show causal self-attention in heads; a reader switches a mistake on, and six checks run.

    Args:
        words: (n,) what the rows of x stand for.
        x: (n, e) their vectors.
        weights: the matrices "query", "key" and "value", (e, h * d), and "output", (h * d, e).
        heads: their number h.
        other: (e,) what the check of the future changes the last word to.
        wanted: (n, e) the right output, by another program: the loops.
        caption: the words below it.

    Raises:
        TypeError: an argument holds no numbers.
        ValueError: shapes do not fit, or `wanted` is not what the layer gives.

    >>> same = dict.fromkeys(("query", "key", "value", "output"), [[1.0]])
    >>> switchboard(["new"], [[2.0]], same, heads=1, other=[0.0], wanted=[[2.0]])
    A layer of attention with a board of mistakes. No mistake is switched on, and every check \
passes.
    """
    layer = _read(x, weights, heads)
    n, e = layer.words.shape
    labels = as_labels(words, "words", n, "row of x")
    right = as_matrix(wanted, "wanted")
    maps, output = _run(layer)
    if right.shape != output.shape or not np.allclose(right, output, rtol=0, atol=_NEAR):
        raise ValueError("wanted: got another output than the layer's")
    finding = "No mistake is switched on, and every check passes."
    return LiveOutput(
        "switchboard",
        drawing=_maps(labels, maps) + _outputs(labels, output) + _checks(),
        data={
            "words": labels,
            "x": layer.words.tolist(),
            "weights": {name: matrix.tolist() for name, matrix in layer.matrices.items()},
            "heads": heads,
            "other": as_vector(other, "other", e).tolist(),
            "wanted": right.tolist(),
            "switches": list(SWITCHES.items()),
            "checks": list(CHECKS),
            "near": _NEAR,
        },
        label="A layer of attention with a board of mistakes",
        alt=finding,
        caption=caption,
        state=finding,
    )


def _read(x: Any, weights: Mapping[str, Any], heads: int) -> _Layer:
    rows = as_matrix(x, "x")
    if set(weights) != set(MATRICES):
        raise ValueError(f"weights: got {sorted(weights)}, wanted {', '.join(MATRICES)}")
    matrices = {name: as_matrix(weights[name], f"weights[{name!r}]") for name in MATRICES}
    e, inner = rows.shape[1], matrices["query"].shape[1]
    shapes = [matrices[name].shape for name in MATRICES]
    if shapes != [(e, inner)] * 3 + [(inner, e)] or inner % heads:
        raise ValueError(f"weights: got shapes {shapes} for {heads} heads and words of width {e}")
    return _Layer(rows, matrices, heads)


def _run(layer: _Layer) -> tuple[Numbers, Numbers]:
    """Return the weights (h, n, n) and the output (n, e) of the layer without a mistake."""
    query, key, value = (
        np.stack(np.split(layer.words @ layer.matrices[name], layer.heads, axis=1))
        for name in MATRICES[:3]
    )
    maps = masked_softmax(scaled_dot_score(query, key), causal_mask(len(layer.words)))
    return maps, np.concatenate(list(attend(maps, value)), axis=1) @ layer.matrices["output"]


def _maps(words: Sequence[str], maps: Numbers) -> str:
    """Draw a table of weights for each head, with the sums of its rows."""
    return (
        '<div class="am-switchboard-maps">'
        + "".join(_map(words, weights, head) for head, weights in enumerate(maps, 1))
        + "</div>"
    )


def _map(words: Sequence[str], weights: Numbers, head: int) -> str:
    columns = "".join(
        f'<th scope="col"><span>{escape(word)}</span></th>' for word in [*words, "sum"]
    )
    body = "".join(
        f'<tr><th scope="row">{escape(word)}</th>{"".join(map(_cell, row))}'
        f'<td class="am-switchboard-sum">{_number(row.sum(), "sum")}</td></tr>'
        for word, row in zip(words, weights.tolist(), strict=True)
        for row in (np.array(row),)
    )
    return (
        f'<table class="am-switchboard-map"><caption>weights of head {head}</caption>'
        f"<thead><tr><td></td>{columns}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(weight: float) -> str:
    deep = round(10 * weight)  # in tenths: without a script there are classes alone
    return (
        f'<td class="am-switchboard-cell am-switchboard-{deep}">'
        f'<span class="am-switchboard-weight am-live-unseen" data-am-value="{precise(weight)}">'
        f"{weight:.2f}</span></td>"
    )


def _number(value: float, part: str, decimals: int = 2) -> str:
    said = signed(value, decimals)
    return f'<span class="am-switchboard-{part}-of" data-am-value="{precise(value)}">{said}</span>'


def _outputs(words: Sequence[str], output: Numbers) -> str:
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in words)
    cells = "".join(
        "<td>" + "".join(_number(number, "output") for number in row) + "</td>"
        for row in output.tolist()
    )
    off = "".join(f"<td>{_number(0.0, 'off')}</td>" for _ in words)
    return (
        '<table class="am-switchboard-outputs"><caption>what each word becomes</caption>'
        f'<thead><tr><td></td>{head}</tr></thead><tbody><tr><th scope="row">output</th>{cells}'
        f'</tr><tr><th scope="row">off by</th>{off}</tr></tbody></table>'
    )


def _checks() -> str:
    rows = "".join(
        f'<tr class="am-switchboard-check"><th scope="row">{name}</th><td>{asks}</td>'
        f"<td>{_number(0.0, 'difference')}</td>"
        '<td class="am-switchboard-verdict">passes</td></tr>'
        for name, asks in CHECKS.items()
    )
    return (
        '<table class="am-switchboard-checks"><thead><tr><th scope="col">check</th>'
        '<th scope="col">what must hold</th><th scope="col">difference</th>'
        f'<th scope="col">verdict</th></tr></thead><tbody>{rows}</tbody></table>'
    )
