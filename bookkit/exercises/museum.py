"""The exercises of "Prod it"."""

import copy
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bookkit.exercises.answers import Answer, Flags, Sign, as_function, fail, named, refuse
from bookkit.exercises.exercise import Function, Judged, Verdict
from companion.attention import scaled_dot_product_attention
from companion.masks import causal_mask, document_mask, sliding_window_mask

HEADS, SIZE = 2, 3
FAULTS = ("none", "future", "window", "view", "batch", "scale")
"""What a suspect may have: it is sound, or has the fault of one exhibit."""


def _two() -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(6)
    x, other = torch.randn(2, 2, 7, 8, generator=draw, dtype=torch.float64)
    return x, other


class Reader(NamedTuple):
    """A function whose output i sums the positions that are allowed to i."""

    allowed: Flags  # (m, n) booleans
    # Which of its outputs are not 0: those in the last sequence, those in the last feature, or all
    where: str

    def __call__(self, x: Tensor) -> Tensor:
        """Sum, (b, n, e) to (b, m, e)."""
        output = torch.tensor(self.allowed, dtype=torch.float64) @ x
        if self.where == "in the last sequence":
            output[:-1] = 0
        if self.where == "in the last feature":
            output[..., :-1] = 0
        return output


def _flags(got: Any, *_: Any) -> Flags:
    if got is None:
        fail(f"got {named(got)}")
    try:
        return np.asarray(got, dtype=bool)
    except (TypeError, ValueError):
        refuse(got, "an array of booleans")


def _overlooked(where: str) -> Sign:
    """Return the mistake to see no change there."""
    return Sign(
        lambda flags, reader, *_: reader.where == where and not flags[reader.allowed].any(),
        lambda reader, *_: reader.allowed & (reader.where != where),
    )


ONE_LEAK = np.tri(7, dtype=bool)
ONE_LEAK[1, 6] = True

check_reads = Function(
    "`reads(function, x, other)`, what the outputs of another function depend on, with `function` "
    "from (b, n, e) tensors to (b, m, v), to an (m, n) array of booleans, True where output i "
    "depends on position j.",
    right=lambda reader, *_: reader.allowed, cases={
        f"{name}, to be seen {where}": (Reader(allowed, where), *_two())
        for name, allowed in (
            ("outputs that read their past", np.tri(7, dtype=bool)),
            ("outputs that read their future", ~np.tri(7, k=-1, dtype=bool)),
            ("an output that reads one place too many", ONE_LEAK),
            ("fewer outputs than places", np.tri(3, 7, dtype=bool)),
        )
        for where in ("everywhere", "in the last sequence", "in the last feature")
    }, mistakes={
        "rows are outputs, columns are the places that they depend on: yours are exchanged":
            lambda reader, *_: reader.allowed.T,
        "True where an output changes: yours is the opposite": lambda reader, *_: ~reader.allowed,
        "a change in the last sequence is a change, too: ask for any sequence and any feature":
            _overlooked("in the last sequence"),
        "a change in the last feature is a change, too: ask for any sequence and any feature":
            _overlooked("in the last feature"),
    }, examples={
        "outputs that read their past, to be seen everywhere: the shape is right, the entries are "
        "not": lambda reader, *_: np.ones_like(reader.allowed),
        "got shape (3, 7), wanted (m, n), (7, 7)": lambda reader, *_: reader.allowed[:3],
        "your function writes into x or other": lambda reader, x, other: x.zero_(),
    }, read=_flags,
    untouched="your function writes into x or other: change a copy, or the next place sees it, too",
    axes="(m, n)", why="Are the shapes (b, n, e)?",
    otherwise="{when}: the shape is right, the entries are not",
)  # fmt: skip


def _suspect(fault: str) -> Callable[[Tensor], Tensor]:
    def attend(x: Tensor) -> Tensor:
        if fault == "batch":
            x = x.transpose(0, 1)
        b, n, e = x.shape
        d = e // HEADS
        heads = x.unflatten(-1, (HEADS, d)).transpose(1, 2)  # type: ignore[no-untyped-call]
        if fault == "view":
            heads = x.reshape(b, HEADS, n, d)
        mask = sliding_window_mask(n, left=SIZE if fault == "window" else SIZE - 1, like=x)
        if fault == "future":
            mask = sliding_window_mask(n, left=SIZE - 2, right=1, like=x)
        scale = e**-0.5 if fault == "scale" else None
        output = scaled_dot_product_attention(heads, heads, heads, mask, scale=scale)
        joined: Tensor = output.transpose(1, 2).flatten(2)
        return joined.transpose(0, 1) if fault == "batch" else joined

    return attend


ORDER = {"A": "view", "B": "none", "C": "window", "D": "scale", "E": "future", "F": "batch"}


def suspects() -> dict[str, Callable[[Tensor], Tensor]]:
    """Return six attention functions by letter, from (b, n, e) tensors to the same shape.

    All attend with two heads, causally, in a window of three positions, the own one among them. At
    most one thing is wrong with each, one of `FAULTS`; no fault occurs twice.
    """
    return {letter: _suspect(fault) for letter, fault in ORDER.items()}


HINTS = {
    "none": "it passes every check: causality, window, batch, scale",
    "future": "change a later place: does an earlier output change?",
    "window": "count the places that the last output depends on",
    "view": "an output depends on part of its window only, or on pieces of other places",
    "batch": "give it one sequence alone",
    "scale": "who depends on whom is right; compare its numbers with the others'",
}


def _judge_diagnosis(diagnosis: Mapping[str, str]) -> None:
    if not isinstance(diagnosis, Mapping):
        refuse(diagnosis, "a dictionary from letters to faults")
    for letter, right in ORDER.items():
        got = diagnosis.get(letter)
        if got not in FAULTS:
            fail(f"{letter}: got {named(got)}, wanted one of {FAULTS}")
        if got != right:
            fail(f"{letter}: it is not {got!r}. Hint: {HINTS[right]}")


check_diagnosis = Judged(
    "Who among the `suspects` has which fault: one of `FAULTS` for every letter.",
    by=_judge_diagnosis, right=(ORDER,), mistakes={
        **{
            f"{letter}: it is not 'none'. Hint: {HINTS[fault]}": (ORDER | {letter: "none"},)
            for letter, fault in ORDER.items()
            if fault != "none"
        },
        f"B: it is not 'scale'. Hint: {HINTS['none']}": (ORDER | {"B": "scale"},),
        "C: got 'bad', wanted one of": (ORDER | {"C": "bad"},),
    },
)  # fmt: skip


def _attention(x: Tensor, h: int, fault: str = "") -> Tensor:
    """Attend causally in heads, one of the steps possibly wrong."""
    b, n, e = x.shape
    heads = x.reshape(b, n, h, e // h).transpose(1, 2)
    if fault in ("view", "views"):
        heads = x.reshape(b, h, n, e // h)
    scores = heads @ heads.mT / math.sqrt(e if fault == "scale" else e // h)
    causal = causal_mask(n, like=x)
    allowed = causal.mT if fault == "future" else causal
    weights = scores.masked_fill(~allowed, -math.inf).softmax(-2 if fault == "axis" else -1)
    output = weights @ heads
    as_it_is = fault in ("joined", "views")
    return (output if as_it_is else output.transpose(1, 2)).reshape(b, n, e)


LEFT_OVER = {
    "view": "the cut: a view to (b, h, n, d) cuts the sentence, not the width",
    "views": "the cut and the join: a view takes pieces of the sentence for heads",
    "joined": "the join: transpose the heads back before you flatten them",
    "scale": "the scale: a product has d terms, the width of one head",
    "future": "the mask: True means may attend, and a query may see what came before it",
    "axis": "the axis: the weights of a query sum to 1 over the keys, the last axis",
}


DRAW = torch.Generator().manual_seed(5)

check_repaired = Function(
    "`attention(x, num_heads)`, causal self-attention in heads, after its repair, from "
    "(b, n, h * d) to the same shape: queries, keys and values are x itself, cut into heads.",
    right=_attention, cases=[
        (torch.randn(b, n, h * d, generator=DRAW, dtype=torch.float64), h)
        for b, h, n, d in ((2, 3, 5, 4), (1, 4, 4, 4))
    ], mistakes={
        "NaN: the mask leaves a query nothing, or the softmax runs over the queries": Sign(
            lambda got, *_: np.isnan(got).any(), lambda x, h: x * math.nan
        ),
        **{
            f"one mistake is left in {hint}": partial(_attention, fault=fault)
            for fault, hint in LEFT_OVER.items()
        },
    }, axes="(b, n, h * d)", why="Are the heads (b, h, n, d)?",
    otherwise="more than one mistake is left: look at the cut, the scale, the mask, the axis",
)  # fmt: skip


def _blames(test: Answer, *given: Any) -> bool:
    as_function(test)
    try:
        got = test(*copy.deepcopy(given))
    except AssertionError:
        return True
    except Exception as error:
        raise AssertionError(f"your function stops with: {error}") from error
    if got is not None:
        fail(f"got {named(got)}: a check gives nothing, or raises an AssertionError")
    return False


def _blame(broken: bool) -> None:
    if broken:
        raise AssertionError


def _masked(mask: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda x: scaled_dot_product_attention(x, x, x, mask)


def _packed() -> list[tuple[tuple[Any, ...], bool, str]]:
    """Return functions with what they are given, whether they are broken, and what to say."""
    ids = torch.tensor([0, 0, 1, 1, 1, 2, 2])
    own, causal = document_mask(ids), causal_mask(len(ids), like=_two()[0])
    last, first = own.clone(), own & causal
    last[0, -1] = first[-1, 0] = True
    functions = {
        "documents that read themselves": (own, False),
        "documents that read themselves causally": (own & causal, False),
        "places that read only themselves": (torch.eye(len(ids), dtype=torch.bool), False),
        "a causal mask and nothing else": (causal, True),
        "no mask at all": (torch.ones_like(own), True),
        "one place that reads the last document": (last, True),
        "one place that reads the first document": (first, True),
        "documents that read only the others": (~own, True),
    }
    said = {
        False: "yours blames them, and they are sound",
        True: "yours lets them pass. Change every place, and look at all others",
    }
    return [
        ((_masked(mask), *_two(), ids), broken, f"{name}: {said[broken]}")
        for name, (mask, broken) in functions.items()
    ]


check_packed_test = Verdict(
    "`test(function, x, other, ids)`, whether documents that are packed into one sequence read one "
    "another, with `function` from (b, n, e) to (b, n, e), `other` different from x at every "
    "position and `ids` (n,) the document of each. It raises an `AssertionError` if an output "
    "depends on a position of another document, and gives nothing otherwise.",
    suspects=_packed(), ask=_blames, give=_blame,
)  # fmt: skip
