"""Attention in bfloat16, forward, full and causal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import torch

from benchmarks.cases.tensors import (
    ATTENTION,
    NAMES,
    attentions,
    band,
    inputs,
    last_head,
    truth_of_last_head,
)
from benchmarks.contest import WORSE_AT_MOST, Contest, Entrant, Field, Result, error, hold
from benchmarks.machine import has_bfloat16
from benchmarks.records import Row
from benchmarks.timing import Protocol

TITLE = "Attention in bfloat16"
SETTINGS = ATTENTION | {"dtype": "bfloat16"}
NO_GOAL = "only reported: the goal of 1.8 was set on a processor where torch was slow"
LENGTHS, QUICK_LENGTHS = (2048, 4096), (64,)


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time all sides in bfloat16; the kernels of processors differ too much for a goal."""
    able = "" if has_bfloat16() else "; this processor has no bfloat16 instructions"
    yield Row(setting="all lengths", ours="tiled", note=NO_GOAL + able)
    for n, is_causal in product(QUICK_LENGTHS if quick else LENGTHS, NAMES):
        setting = f"bfloat16, forward, {NAMES[is_causal]}, n = {n}"
        prepared = partial(prepare, n, is_causal)
        yield from hold(Contest(setting, prepared, length=n, tell_errors=True), protocol)


@torch.no_grad()
def prepare(n: int, is_causal: bool) -> Field:
    """Attend in bfloat16 on all sides; the plain computation says what error that brings."""
    arrays = inputs(n, dtype=torch.bfloat16)
    true = truth_of_last_head(arrays, band(n, is_causal=is_causal))
    calls = {
        name: partial(function, *arrays) for name, function in attentions(n, is_causal).items()
    }
    return Field(
        {name: Entrant(call, true, last_head) for name, call in calls.items()},
        allowed=WORSE_AT_MOST * error(last_head(calls["textbook"]()), true),
    )
