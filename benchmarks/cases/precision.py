"""Attention in less precision: bfloat16, and float32 on the processor's faster path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.cases.gradients import both_ways
from benchmarks.cases.tensors import ATTENTION, NAMES, band, inputs, last_head, truth_of_last_head
from benchmarks.contest import WORSE_AT_MOST, Contest, Entrant, Field, Found, error, hold
from benchmarks.machine import has_bfloat16
from benchmarks.peers.textbook import textbook
from benchmarks.records import Goal, Row
from benchmarks.timing import Protocol
from companion.cost.timing import Call
from companion.kernels.cpu import fast_float32
from companion.tiled import tiled_attention

TITLE = "Attention in less precision"
SETTINGS = ATTENTION | {"dtype": "bfloat16, and float32 on the faster path"}
BFLOAT16 = Goal(1.8, aim=2.5)
FAST = Goal(1.35, aim=1.6)
LENGTHS, QUICK_LENGTHS = (2048, 4096), (64,)

Function = Callable[..., Tensor]


def run(quick: bool, protocol: Protocol) -> Iterator[Found]:
    """Time both beside the fused attention; nothing is asked of a processor that cannot."""
    able = has_bfloat16()
    if not able:
        yield Row(setting="all", ours="tiled", note="the processor has no bfloat16 instructions")
    kinds: tuple[tuple[str, Callable[[int, bool], Field], Goal], ...] = (
        ("bfloat16, forward", prepare_bfloat16, BFLOAT16),
        ("faster float32, forward", partial(prepare_fast, with_gradients=False), FAST),
        ("faster float32, forward and backward", partial(prepare_fast, with_gradients=True), FAST),
    )
    lengths = QUICK_LENGTHS if quick else LENGTHS
    for (what, prepare, goal), n, is_causal in product(kinds, lengths, NAMES):
        contest = Contest(
            f"{what}, {NAMES[is_causal]}, n = {n}",
            partial(prepare, n, is_causal),
            {"SDPA": goal} if able else {},
            length=n,
            tell_errors=True,
        )
        yield from hold(contest, protocol)


@torch.no_grad()
def prepare_bfloat16(n: int, is_causal: bool) -> Field:
    """Attend in bfloat16 on all sides; the plain computation says what error that brings."""
    arrays = inputs(n, dtype=torch.bfloat16)
    true = truth_of_last_head(arrays, band(n, is_causal=is_causal))
    functions: dict[str, Function] = {
        "tiled": tiled_attention,
        "SDPA": F.scaled_dot_product_attention,
        "textbook": textbook,
    }
    calls = {
        name: partial(function, *arrays, is_causal=is_causal)
        for name, function in functions.items()
    }
    return Field(
        {name: Entrant(call, true, last_head) for name, call in calls.items()},
        allowed=WORSE_AT_MOST * error(last_head(calls["textbook"]()), true),
    )


def prepare_fast(n: int, is_causal: bool, *, with_gradients: bool) -> Field:
    """Attend in float32: ours on the faster path, the fused one as it is by default.

    The faster path may round to bfloat16, so that ours may be as wrong as the plain computation is
    in bfloat16, times the usual factor.
    """
    arrays = inputs(n, count=4 if with_gradients else 3)
    true = truth_of_last_head(arrays, band(n, is_causal=is_causal))

    def call(function: Function, arrays: list[Tensor]) -> Call:
        function = partial(function, is_causal=is_causal)
        if not with_gradients:
            return partial(torch.no_grad()(function), *arrays)
        *leaves, gradient = arrays
        return partial(both_ways, function, [x.requires_grad_() for x in leaves], gradient)

    def on_faster_path(ours: Call) -> object:
        with fast_float32():
            return ours()

    rounded = call(textbook, [x.bfloat16() for x in arrays])
    calls: dict[str, Call] = {
        "tiled, faster path": partial(on_faster_path, call(tiled_attention, arrays)),
        "SDPA": call(F.scaled_dot_product_attention, arrays),
    }
    return Field(
        {name: Entrant(made, true, last_head) for name, made in calls.items()},
        allowed=WORSE_AT_MOST * error(last_head(rounded()), true),
    )
