"""Attention itself: forward, with gradients, in bfloat16, to a window, and of NumPy arrays."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.cases import Case
from benchmarks.contest import (
    WORSE_AT_MOST,
    Contest,
    Entrant,
    Field,
    Result,
    Values,
    error,
    hold_all,
    lacking,
)
from benchmarks.machine import has_bfloat16, installed
from benchmarks.peers import flex
from benchmarks.peers.textbook import numpy_textbook, textbook, truth
from benchmarks.records import Goal, Row
from benchmarks.timing import Protocol
from companion.cost.timing import Call
from companion.tiled import tiled_attention, window_attention

HEADS, WIDTH = 8, 64
LENGTHS, QUICK_LENGTHS = (1024, 2048, 4096, 8192, 16384), (48, 64, 96)
NAMES = {False: "full", True: "causal"}
"""What a setting is called, by whether it is causal."""
SHAPE: dict[str, object] = {"batch": 1, "heads": HEADS, "width": WIDTH, "dtype": "float32"}
GOAL_LENGTH = 4096
"""Also the one at which FlexAttention takes part: compiling takes most of a minute a length."""

BESIDE_TORCH = Goal(0.9, aim=1.0)
"""`tiled_attention` runs torch's operator, and may add a tenth to it."""
GROWTH = Goal(2.05, side="at most")
TEXTBOOK_UP_TO, SLOW = 4096, "left out: a call takes twenty seconds and more"

NO_GOAL = "only reported: the goal of 1.8 was set on a processor where torch was slow"
NARROW_LENGTHS, NARROW_QUICK = (2048, 4096), (64,)

WINDOW, QUICK_WINDOW = 256, 16
WINDOW_GOALS = {"local-attention": Goal(4.0), "SDPA, dense mask": Goal(10.0)}
WINDOW_GROWTH = Goal(1.05, side="at most")

ARRAY_GOALS = {False: Goal(1.8), True: Goal(4.0)}
ARRAY_LENGTHS, ARRAY_QUICK = (1024, 4096), (64,)


def forward(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time tiled attention beside the fused one, the textbook and FlexAttention."""
    grown = [
        (entrant, name, GROWTH if (name, entrant) == ("full", "tiled") else None)
        for name in NAMES.values()
        for entrant in ("tiled", "SDPA", "textbook")
    ]
    yield from hold_all(full_and_causal(forward_field, quick), protocol, grown)


def gradients(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time tiled attention with its gradients beside the fused one and the textbook."""
    grown = [("tiled", name, None) for name in NAMES.values()]
    yield from hold_all(full_and_causal(gradients_field, quick), protocol, grown)


def precision(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time all sides in bfloat16; the kernels of processors differ too much for a goal."""
    able = "" if has_bfloat16() else "; this processor has no bfloat16 instructions"
    yield Row(setting="all lengths", ours="tiled", note=NO_GOAL + able)
    contests = (
        Contest(
            f"bfloat16, forward, {NAMES[is_causal]}, n = {n}",
            partial(narrow_field, n, is_causal),
            length=n,
            tell_errors=True,
        )
        for n, is_causal in product(NARROW_QUICK if quick else NARROW_LENGTHS, NAMES)
    )
    yield from hold_all(contests, protocol)


def window(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time window attention beside a library for it, a dense mask, and FlexAttention."""
    left = QUICK_WINDOW if quick else WINDOW
    contests = (
        Contest(
            f"window {left}, n = {n}",
            partial(window_field, n, left),
            WINDOW_GOALS if n == GOAL_LENGTH else {},
            length=n,
        )
        for n in (QUICK_LENGTHS if quick else LENGTHS[1:])
    )
    yield from hold_all(contests, protocol, [("window", f"window {left}", WINDOW_GROWTH)])


def arrays(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time tiled attention of NumPy arrays beside the textbook."""
    contests = (
        Contest(
            f"NumPy, {NAMES[is_causal]}, n = {n}",
            partial(arrays_field, n, is_causal),
            {"NumPy textbook": ARRAY_GOALS[is_causal]} if n == GOAL_LENGTH else {},
            length=n,
        )
        for is_causal, n in product(NAMES, ARRAY_QUICK if quick else ARRAY_LENGTHS)
    )
    yield from hold_all(contests, protocol)


CASES = {
    "forward": Case("Attention forward", SHAPE, forward),
    "gradients": Case("Attention forward and backward", SHAPE, gradients),
    "precision": Case("Attention in bfloat16", SHAPE | {"dtype": "bfloat16"}, precision),
    "window": Case("Sliding window", SHAPE | {"left": WINDOW, "right": 0}, window),
    "arrays": Case("Attention of NumPy arrays", SHAPE | {"library": "NumPy"}, arrays),
}


def full_and_causal(prepare: Callable[[int, bool], Field], quick: bool) -> Iterator[Contest]:
    """Make the contests of every length, full and then causal; the goal is beside SDPA."""
    for is_causal, n in product(NAMES, QUICK_LENGTHS if quick else LENGTHS):
        setting, prepared = f"{NAMES[is_causal]}, n = {n}", partial(prepare, n, is_causal)
        yield Contest(setting, prepared, {"SDPA": BESIDE_TORCH}, length=n)


@torch.no_grad()
def forward_field(n: int, is_causal: bool) -> Field:
    """Say who takes part: the textbook where its matrices fit."""
    tensors = inputs(n)
    calls, absent = called(attentions(n, is_causal), tensors), {}
    if too_little := lacking(matrix_bytes(n, 2.2)):
        absent["textbook"] = too_little
        del calls["textbook"]
    if n == GOAL_LENGTH:
        add_flex(calls, absent, tensors, flex.causal if is_causal else None)
    return entered(calls, truth_of_last_head(tensors, band(n, is_causal=is_causal)), absent)


def gradients_field(n: int, is_causal: bool) -> Field:
    """Say who takes part: the textbook where its matrices fit and it ends in time."""
    *tensors, gradient = inputs(n, count=4)
    true = truth_of_last_head([*tensors, gradient], band(n, is_causal=is_causal))
    leaves = [tensor.requires_grad_() for tensor in tensors]
    calls: dict[str, Call] = {
        name: partial(both_ways, function, leaves, gradient)
        for name, function in attentions(n, is_causal).items()
    }
    absent = {}
    if too_much := SLOW if n > TEXTBOOK_UP_TO else lacking(matrix_bytes(n, 4)):
        absent["textbook"] = too_much
        del calls["textbook"]
    return entered(calls, true, absent)


@torch.no_grad()
def narrow_field(n: int, is_causal: bool) -> Field:
    """Attend in bfloat16 on all sides; the plain computation says what error that brings."""
    tensors = inputs(n, dtype=torch.bfloat16)
    true = truth_of_last_head(tensors, band(n, is_causal=is_causal))
    calls = called(attentions(n, is_causal), tensors)
    allowed = WORSE_AT_MOST * error(last_head(calls["textbook"]()), true)
    return entered(calls, true, allowed=allowed)


@torch.no_grad()
def window_field(n: int, left: int) -> Field:
    """Say who takes part: the dense mask where it fits, the library where it is installed."""
    tensors, mask = inputs(n), band(n, left=left)
    fused = partial(F.scaled_dot_product_attention, attn_mask=mask)
    functions: dict[str, Callable[..., Tensor]] = {
        "window": partial(window_attention, left=left),
        "SDPA, dense mask": fused,
    }
    absent = {}
    if too_little := lacking(2 * mask.numel() * 4):  # torch makes floats of it
        absent["SDPA, dense mask"] = too_little
        del functions["SDPA, dense mask"]
    if installed("local-attention"):
        functions["local-attention"] = local_attention(left)
    else:
        absent["local-attention"] = "not installed"
    calls = called(functions, tensors)
    if n == GOAL_LENGTH:
        add_flex(calls, absent, tensors, flex.window(left))
    return entered(calls, truth_of_last_head(tensors, mask), absent)


@torch.no_grad()
def arrays_field(n: int, is_causal: bool) -> Field:
    """Make the arrays; torch makes the truth alone."""
    tensors, mask = inputs(n), band(n, is_causal=is_causal)
    functions = {
        "tiled": partial(tiled_attention, is_causal=is_causal),
        "NumPy textbook": partial(numpy_textbook, forbidden=~mask.numpy() if is_causal else None),
    }
    calls = called(functions, [tensor.numpy() for tensor in tensors])
    return entered(calls, truth_of_last_head(tensors, mask))


def called(functions: Mapping[str, Callable[..., object]], given: list[Any]) -> dict[str, Call]:
    """Return the calls of functions on query, key and value."""
    return {name: partial(function, *given) for name, function in functions.items()}


def entered(
    calls: Mapping[str, Call],
    true: Values,
    absent: dict[str, str] | None = None,
    allowed: float | None = None,
) -> Field:
    """Return the field of calls, of whose results the last head is held against the truth."""
    entrants = {name: Entrant(call, true, last_head) for name, call in calls.items()}
    return Field(entrants, absent or {}, allowed)


def add_flex(
    calls: dict[str, Call],
    absent: dict[str, str],
    given: list[Tensor],
    allowed: flex.Allowed | None,
) -> None:
    """Let FlexAttention take part, or say why it does not."""
    made = flex.compiled(given, allowed)
    if isinstance(made, str):
        absent["FlexAttention"] = made
    else:
        calls["FlexAttention"] = made


def local_attention(left: int) -> torch.nn.Module:
    """Return the library's module: it too counts its window without the query's own position."""
    from local_attention import LocalAttention

    module: torch.nn.Module = LocalAttention(
        window_size=left, causal=True, look_backward=1, exact_windowsize=True, autopad=True
    )
    return module.eval()


def both_ways(
    function: Callable[..., Tensor], leaves: list[Tensor], gradient: Tensor
) -> tuple[Tensor, ...]:
    """Return the output and the gradients of the leaves."""
    output = function(*leaves)
    return output.detach(), *torch.autograd.grad(output, leaves, gradient)


def inputs(
    n: int, *, dtype: torch.dtype = torch.float32, count: int = 3, width: int = WIDTH
) -> list[Tensor]:
    """Return query, key, value and, of four, the gradient of the output: (1, h, n, d)."""
    generator = torch.Generator().manual_seed(n)
    return [torch.randn(1, HEADS, n, width, generator=generator).to(dtype) for _ in range(count)]


def attentions(n: int, is_causal: bool) -> dict[str, Callable[..., Tensor]]:
    """Return who attends, full or causal; the textbook's mask is there before the clock runs."""
    forbidden = ~band(n) if is_causal else None
    return {
        "tiled": partial(tiled_attention, is_causal=is_causal),
        "SDPA": partial(F.scaled_dot_product_attention, is_causal=is_causal),
        "textbook": partial(textbook, forbidden=forbidden),
    }


def band(n: int, *, left: int | None = None, is_causal: bool = True) -> Tensor:
    """Return an (n, n) mask, made without what is to be tested."""
    mask = torch.ones(n, n, dtype=torch.bool)
    if is_causal:
        mask.tril_()
    return mask if left is None else mask.triu_(-left)


def last_head(tensors: Any) -> Values:
    """Return the part of (1, h, n, d) tensors that is held against the truth."""
    tensors = tensors if isinstance(tensors, tuple) else (tensors,)
    return tuple(tensor[:, -1] for tensor in tensors)


def truth_of_last_head(tensors: list[Tensor], mask: Tensor) -> Values:
    """Return output, and with four tensors gradients, of one head in float64: (1, n, d) each."""
    query, key, value, *gradient = last_head(tuple(tensors))
    return truth(query, key, value, mask, *gradient)


def matrix_bytes(n: int, matrices: float) -> float:
    """Return the size of so many (h, n, n) matrices of float32."""
    return matrices * 4 * HEADS * n * n
