"""Check functions of "The bug museum".

Each calls your function, compares with a computation of its own, and prints "Right." or raises an
`AssertionError` that hints at the cause.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bookkit.exercises import answers
from bookkit.exercises.answers import Answer, fail
from companion.attention import scaled_dot_product_attention
from companion.masks import causal_mask, document_mask, sliding_window_mask

Flags = NDArray[np.bool_]
HEADS, SIZE = 2, 3
FAULTS = ("none", "future", "window", "view", "batch", "scale")
"""What a suspect may have: it is sound, or has the fault of one exhibit."""


def check_reads(reads: Answer) -> None:
    """Check a function that finds what the outputs of another depend on.

    Args:
        reads: `reads(function, x, other)`, with `function` from (b, n, e) tensors to (b, m, v), to
            an (m, n) array of booleans, True where output i depends on position j.
    """
    x, other = _two()
    n = x.shape[1]
    one_leak = np.tri(n, dtype=bool)
    one_leak[1, n - 1] = True
    cases = {
        "outputs that read their past": np.tri(n, dtype=bool),
        "outputs that read their future": ~np.tri(n, k=-1, dtype=bool),
        "an output that reads one place too many": one_leak,
        "fewer outputs than places": np.tri(3, n, dtype=bool),
    }
    for name, allowed in cases.items():
        for where in ("everywhere", "in the last sequence", "in the last feature"):
            _compare_reads(reads, name, allowed, where, (x, other))
    print("Right.")


def _compare_reads(
    reads: Answer, name: str, allowed: Flags, where: str, inputs: tuple[Tensor, Tensor]
) -> None:
    given = [tensor.clone() for tensor in inputs]
    # It gets these very tensors, not copies, to see whether it writes into them.
    ask = partial(answers.as_function(reads), _reader(allowed, where), *given)
    got = answers.called(ask, why="Are the shapes (b, n, e)?")
    if not all(torch.equal(*pair) for pair in zip(given, inputs, strict=True)):
        fail("your function writes into x or other: change a copy, or the next place sees it, too")
    flags = _flags(got)
    if flags.shape != allowed.shape:
        fail(f"{name}: got shape {flags.shape}, wanted (m, n), {allowed.shape}")
    if np.array_equal(flags, allowed):
        return
    if np.array_equal(flags, allowed.T):
        fail("rows are outputs, columns are the places that they depend on: yours are exchanged")
    if np.array_equal(flags, ~allowed):
        fail("True where an output changes: yours is the opposite")
    if where != "everywhere" and not flags[allowed].any():
        fail(f"a change {where} is a change, too: ask for any sequence and any feature")
    fail(f"{name}, to be seen {where}: the shape is right, the entries are not")


def suspects() -> dict[str, Callable[[Tensor], Tensor]]:
    """Return six attention functions by letter, from (b, n, e) tensors to the same shape.

    All attend with two heads, causally, in a window of three positions, the own one among them. At
    most one thing is wrong with each, one of `FAULTS`; no fault occurs twice.
    """
    order = {"A": "view", "B": "none", "C": "window", "D": "scale", "E": "future", "F": "batch"}
    return {letter: _suspect(fault) for letter, fault in order.items()}


def check_diagnosis(diagnosis: Mapping[str, str]) -> None:
    """Check who among the `suspects` has which fault.

    Args:
        diagnosis: one of `FAULTS` for every letter.
    """
    if not isinstance(diagnosis, Mapping):
        answers.refuse(diagnosis, "a dictionary from letters to faults")
    hints = {
        "none": "it passes every check: causality, window, batch, scale",
        "future": "change a later place: does an earlier output change?",
        "window": "count the places that the last output depends on",
        "view": "an output depends on part of its window only, or on pieces of other places",
        "batch": "give it one sequence alone",
        "scale": "who depends on whom is right; compare its numbers with the others'",
    }
    for letter, suspect in suspects().items():
        got = diagnosis.get(letter)
        if got not in FAULTS:
            fail(f"{letter}: got {answers.named(got)}, wanted one of {FAULTS}")
        x, _ = _two()
        right = next(fault for fault in FAULTS if torch.equal(_suspect(fault)(x), suspect(x)))
        if got != right:
            fail(f"{letter}: it is not {got!r}. Hint: {hints[right]}")
    print("Right.")


def check_repaired(attention: Answer) -> None:
    """Check causal self-attention in heads, after its repair.

    Args:
        attention: `attention(x, num_heads)`, from (b, n, h * d) to the same shape: queries, keys
            and values are x itself, cut into heads.
    """
    draw = torch.Generator().manual_seed(5)
    for b, h, n, d in ((2, 3, 5, 4), (1, 4, 4, 4)):
        x = torch.randn(b, n, h * d, generator=draw, dtype=torch.float64)
        got = answers.called(attention, x, h, why="Are the heads (b, h, n, d)?")
        if isinstance(got, Tensor) and got.shape == x.shape and got.isnan().any():
            fail("NaN: the mask leaves a query nothing, or the softmax runs over the queries")
        mistakes = {
            f"one mistake is left in {hint}": _attention(x, h, fault)
            for fault, hint in LEFT_OVER.items()
        }
        otherwise = "more than one mistake is left: look at the cut, the scale, the mask, the axis"
        answers.compare(got, _attention(x, h), mistakes, axes="(b, n, h * d)", otherwise=otherwise)
    print("Right.")


LEFT_OVER = {
    "view": "the cut: a view to (b, h, n, d) cuts the sentence, not the width",
    "views": "the cut and the join: a view takes pieces of the sentence for heads",
    "joined": "the join: transpose the heads back before you flatten them",
    "scale": "the scale: a product has d terms, the width of one head",
    "future": "the mask: True means may attend, and a query may see what came before it",
    "axis": "the axis: the weights of a query sum to 1 over the keys, the last axis",
}


def check_packed_test(test: Answer) -> None:
    """Check a check: documents that are packed into one sequence must not read one another.

    Args:
        test: `test(function, x, other, ids)`, with `function` from (b, n, e) to (b, n, e), `other`
            different from x at every position and `ids` (n,) the document of each. It raises
            an `AssertionError` if an output depends on a position of another document, and gives
            nothing otherwise.
    """
    answers.as_function(test)
    x, other = _two()
    ids = torch.tensor([0, 0, 1, 1, 1, 2, 2])
    own = document_mask(ids)
    causal = causal_mask(len(ids), like=x)
    last, first = own.clone(), own & causal
    last[0, -1] = first[-1, 0] = True
    cases = {
        "documents that read themselves": (own, False),
        "documents that read themselves causally": (own & causal, False),
        "places that read only themselves": (torch.eye(len(ids), dtype=torch.bool), False),
        "a causal mask and nothing else": (causal, True),
        "no mask at all": (torch.ones_like(own), True),
        "one place that reads the last document": (last, True),
        "one place that reads the first document": (first, True),
        "documents that read only the others": (~own, True),
    }
    for name, (mask, broken) in cases.items():
        blamed = _blames(test, _masked(mask), x, other, ids)
        if blamed and not broken:
            fail(f"{name}: yours blames them, and they are sound")
        if broken and not blamed:
            fail(f"{name}: yours lets them pass. Change every place, and look at all others")
    print("Right.")


def _blames(test: Answer, *given: Any) -> bool:
    try:
        got = test(*copy.deepcopy(given))
    except AssertionError:
        return True
    except Exception as error:
        raise AssertionError(f"your function stops with: {error}") from error
    if got is not None:
        fail(f"got {answers.named(got)}: a check gives nothing, or raises an AssertionError")
    return False


def _two() -> tuple[Tensor, Tensor]:
    draw = torch.Generator().manual_seed(6)
    x, other = torch.randn(2, 2, 7, 8, generator=draw, dtype=torch.float64)
    return x, other


def _reader(allowed: Flags, where: str) -> Callable[[Tensor], Tensor]:
    """Make a function whose output i sums the positions that are allowed to i."""
    weights = torch.tensor(allowed, dtype=torch.float64)

    def function(x: Tensor) -> Tensor:
        output = weights @ x
        if where == "in the last sequence":
            output[:-1] = 0
        if where == "in the last feature":
            output[..., :-1] = 0
        return output

    return function


def _masked(mask: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda x: scaled_dot_product_attention(x, x, x, mask)


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


def _flags(got: Any) -> Flags:
    if got is None:
        fail(f"got {answers.named(got)}")
    try:
        return np.asarray(got, dtype=bool)
    except (TypeError, ValueError):
        answers.refuse(got, "an array of booleans")
