"""A cache that grows word by word: what is kept, what is computed, and whether it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.figures._inputs import as_labels, as_matrix
from bookkit.playables._numbers import precise, signed
from bookkit.playables.output import LiveOutput, pack
from companion.attention import attend, masked_softmax
from companion.masks import causal_mask, sliding_window_mask
from companion.scores import dot_score

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

RULES = ("causal", "window", "window and first word", "both ways", "offset forgotten")
"""Who may look at whom."""
LAYERS = 2
_SAME = 1e-9  # closer numbers are the same, up to rounding
_CACHE = ("kept", "none")


def growing_cache(
    words: Sequence[str],
    vectors: Any,
    *,
    prompt: int = 3,
    window: int = 3,
    step: int = 1,
    rule: str = "causal",
    cached: bool = True,
    caption: str = "",
) -> LiveOutput:
    """Show two layers of attention that read a prompt and then one word at a time.

    The vectors are queries, keys and values of the first layer in one, and what it blends are those
    of the second. With a cache a step computes the rows of its new words alone. The drawing says
    what the cache holds, which weights of the second layer are computed, and how far the output for
    the last word is from the one that is computed from scratch. A reader chooses the step, who may
    look at whom (`RULES`), and whether there is a cache.

    Args:
        words: n words.
        vectors: (n, 2) one vector for each.
        prompt: how many words are read at once at first; at least one more follows.
        window: how many words a query sees in the rules with a window, its own the last of them.
        step: to begin with; 0 is the prompt, and each further step reads a word.
        rule: to begin with, one of `RULES`.
        cached: begin with the cache.
        caption: the words below it.

    Raises:
        TypeError: `vectors` holds no numbers.
        ValueError: words and vectors disagree, or a setting is none of the controls'.

    >>> growing_cache(["the", "new", "house"], [[0, 1], [1, 1], [2, 0]], prompt=1, step=2)
    A cache that grows. Reading “house”, causal: this step computes 1 word, and 3 without a cache. \
So far it is 3, and 6 without. The output for “house” is (1.66, 0.26) with the cache and \
(1.66, 0.26) from scratch.
    """
    matrix = as_matrix(vectors, "vectors").astype(np.float64)
    labels = as_labels(words, "words", len(matrix), "vector")
    if matrix.shape[1] != 2 or not np.isfinite(matrix).all():
        raise ValueError(f"vectors: got shape {matrix.shape}, wanted (n, 2) finite numbers")
    if not 1 <= prompt < len(labels):
        raise ValueError(f"prompt: got {prompt}, wanted 1 to {len(labels) - 1}")
    if not 0 <= step <= len(labels) - prompt:
        raise ValueError(f"step: got {step}, wanted 0 to {len(labels) - prompt}")
    if window < 1:
        raise ValueError(f"window: got {window}, wanted at least 1")
    if rule not in RULES:
        raise ValueError(f"rule: got {rule!r}, wanted one of {', '.join(RULES)}")
    reader = _Reader(labels, matrix, prompt, window, rule)
    view = reader.view(step)
    finding = _finding(reader, view)
    return LiveOutput(
        "growing-cache",
        drawing=_table(reader, view, cached) + _readings(reader, view),
        data={
            "words": labels,
            "vectors": pack(matrix, "float64"),
            "prompt": prompt,
            "window": window,
            "rules": RULES,
            "names": _names(window),
            "cache": _CACHE,
            "step": step,
            "rule": RULES.index(rule),
            "cached": int(cached),
        },
        label="A cache that grows",
        alt=finding,
        caption=caption,
        state=finding,
    )


class _Pass(NamedTuple):
    """What comes of reading some words in pieces.

    Attributes:
        kept: for each layer, the vectors (n, 2) that are its keys and values.
        weights: (n, n) of the last layer.
        open: (n, n) which of them may be above 0.
        output: (n, 2).
    """

    kept: list[Numbers]
    weights: Numbers
    open: Flags
    output: Numbers


class _View(NamedTuple):
    """One step: with the cache, from scratch, and the first position that is new."""

    cached: _Pass
    scratch: _Pass
    new: int


class _Reader(NamedTuple):
    words: list[str]
    vectors: Numbers
    prompt: int
    window: int
    rule: str

    def view(self, step: int) -> _View:
        pieces = [self.prompt, *[1] * step]
        end = sum(pieces)
        return _View(self.read(pieces), self.read([end]), end - pieces[-1])

    def read(self, pieces: Sequence[int]) -> _Pass:
        n = sum(pieces)
        kept = [np.zeros((n, 2)) for _ in range(LAYERS)]
        read = _Pass(kept, np.zeros((n, n)), np.zeros((n, n), dtype=bool), np.zeros((n, 2)))
        start = 0
        for size in pieces:
            end = start + size
            x, mask = self.vectors[start:end], self.mask(size, end)
            for layer in kept:
                layer[start:end] = x
                weights = masked_softmax(dot_score(x, layer[:end]), mask)
                x = attend(weights, layer[:end])
            read.weights[start:end, :end] = weights
            read.open[start:end, :end] = mask
            read.output[start:end] = x
            start = end
        return read

    def mask(self, size: int, end: int) -> Flags:
        """Return who of the last `size` words may look at which of the `end` words so far."""
        offset = end - size
        causal: Flags = causal_mask(size, end, offset=offset)
        near: Flags = sliding_window_mask(size, end, left=self.window - 1, offset=offset)
        masks: dict[str, Flags] = {
            "causal": causal,
            "window": near,
            "window and first word": near | (causal & (np.arange(end) == 0)),
            "both ways": np.ones((size, end), dtype=bool),
            "offset forgotten": causal_mask(size, end),
        }
        return masks[self.rule]

    def dropped(self, position: int, end: int) -> bool:
        """Say whether no word from the end on will look at a position."""
        if not self.rule.startswith("window") or position > end - 1 - self.window:
            return False
        return position > 0 or self.rule == "window"


def _names(window: int) -> list[str]:
    """Return what the buttons of the rules say."""
    return [f"window of {window}" if rule == "window" else rule for rule in RULES]


def _stale(view: _View, layer: int) -> list[bool]:
    """Say of every kept vector whether it would be another one if it were computed now."""
    change = np.abs(view.cached.kept[layer] - view.scratch.kept[layer])
    return [bool(far > _SAME) for far in change.max(axis=1)]


def _point(vector: Numbers) -> str:
    return f"({signed(vector[0], 2)}, {signed(vector[1], 2)})"


def _done(reader: _Reader, view: _View) -> tuple[int, int, int, int]:
    """Count words computed: in this step with a cache and without, and in all steps so far."""
    n = len(view.cached.output)
    ends = range(reader.prompt, n + 1)
    return n - view.new, n, n, sum(ends)


def _finding(reader: _Reader, view: _View) -> str:
    n = len(view.cached.output)
    said = " ".join(reader.words[view.new : n])
    here, anew, kept, again = _done(reader, view)
    mine, theirs = view.cached.output[-1], view.scratch.output[-1]
    name = _names(reader.window)[RULES.index(reader.rule)]
    stale = sum(_stale(view, LAYERS - 1)[: view.new])
    late = f" Out of date in layer {LAYERS}: {stale} of the vectors that were kept."
    return (
        f"Reading “{said}”, {name}: this step computes {here} {'word' if here == 1 else 'words'},"
        f" and {anew} without a cache. So far it is {kept}, and {again} without. The output for"
        f" “{reader.words[n - 1]}” is {_point(mine)} with the cache and {_point(theirs)} from"
        f" scratch.{late if stale else ''}"
    )


def _table(reader: _Reader, view: _View, cached: bool) -> str:
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in reader.words)
    slots = "".join(_slots(reader, view, cached, layer) for layer in range(LAYERS))
    rows = "".join(_row(reader, view, cached, row) for row in range(len(reader.words)))
    return (
        f'<table class="am-growing-table"><thead><tr><td></td>{head}</tr></thead>'
        f"<tbody>{slots}</tbody><tbody>{rows}</tbody></table>"
    )


def _slots(reader: _Reader, view: _View, cached: bool, layer: int) -> str:
    shown, n = view.cached if cached else view.scratch, len(view.cached.output)
    stale = _stale(view, layer)
    cells = []
    for position in range(len(reader.words)):
        if position >= n:
            cells.append('<td class="am-growing-slot"></td>')
            continue
        is_new = position >= view.new or not cached
        kinds = ["am-growing-slot", "am-growing-new" if is_new else "am-growing-kept"]
        kinds += ["am-growing-dropped"] if cached and reader.dropped(position, n) else []
        kinds += ["am-growing-stale"] if cached and stale[position] else []
        numbers = "".join(_number(value) for value in shown.kept[layer][position])
        cells.append(f'<td class="{" ".join(kinds)}">{numbers}</td>')
    return f'<tr><th scope="row">layer {layer + 1}</th>{"".join(cells)}</tr>'


def _number(value: float) -> str:
    shown = f'data-am-value="{precise(value)}">{signed(value, 2)}'
    return f'<span class="am-growing-number" {shown}</span>'


def _row(reader: _Reader, view: _View, cached: bool, row: int) -> str:
    shown, n = view.cached if cached else view.scratch, len(view.cached.output)
    first = view.new if cached else 0
    cells = []
    for column in range(len(reader.words)):
        if row >= n or column >= n:
            cells.append('<td class="am-growing-cell"></td>')
        elif row < first:
            was = " am-growing-before" if shown.open[row, column] else ""
            cells.append(f'<td class="am-growing-cell{was}"></td>')
        elif not shown.open[row, column]:
            cells.append('<td class="am-growing-cell am-growing-blocked"></td>')
        else:
            weight = shown.weights[row, column]
            cells.append(
                f'<td class="am-growing-cell am-growing-now am-ink-{round(10 * weight)}"'
                f' data-am-value="{precise(weight)}">{weight:.2f}</td>'
            )
    return f'<tr><th scope="row">{escape(reader.words[row])}</th>{"".join(cells)}</tr>'


def _readings(reader: _Reader, view: _View) -> str:
    here, anew, kept, again = _done(reader, view)
    counts = (("words computed in this step", here, anew), ("words computed so far", kept, again))
    lines = "".join(
        f'<tr><th scope="row">{name}</th><td class="am-growing-count">{mine}</td>'
        f'<td class="am-growing-count">{theirs}</td></tr>'
        for name, mine, theirs in counts
    )
    last = reader.words[len(view.cached.output) - 1]
    outputs = "".join(
        f'<td class="am-growing-output">{"".join(_number(value) for value in read.output[-1])}</td>'
        for read in (view.cached, view.scratch)
    )
    return (
        '<table class="am-growing-readings"><thead><tr><td></td><th scope="col">with the cache</th>'
        f'<th scope="col">without</th></tr></thead><tbody>{lines}<tr><th scope="row">output for '
        f'“<span class="am-growing-last">{escape(last)}</span>”</th>{outputs}</tr></tbody></table>'
    )
