"""Attention forward, full and causal, float32."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases.tensors import (
    ATTENTION,
    NAMES,
    attentions,
    band,
    full_and_causal,
    inputs,
    last_head,
    lengths,
    matrix_bytes,
    truth_of_last_head,
)
from benchmarks.contest import Entrant, Field, Result, growth, hold_all, lacking
from benchmarks.peers import flex
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.cost.timing import Call

TITLE = "Attention forward"
SETTINGS = ATTENTION
BESIDE_TORCH = Goal(0.9, aim=1.0)
"""`tiled_attention` runs torch's operator, and may add a tenth to it."""
GROWTH = Goal(2.05, side="at most")
FLEX_LENGTH = 4096
"""Compiling takes most of a minute for each length: one must do."""


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time tiled attention beside the fused one, the textbook and FlexAttention."""
    results: list[Result] = []
    for result in hold_all(full_and_causal(prepare, BESIDE_TORCH, lengths(quick)), protocol):
        results.append(result)
        yield result
    for name in NAMES.values():
        for entrant in ("tiled", "SDPA", "textbook"):
            goal = GROWTH if (name, entrant) == ("full", "tiled") else None
            yield from growth(results, entrant, name, "s", goal)


@torch.no_grad()
def prepare(n: int, is_causal: bool) -> Field:
    """Make the tensors and say who takes part."""
    query, key, value = arrays = inputs(n)
    calls: dict[str, Call] = {
        name: partial(function, *arrays) for name, function in attentions(n, is_causal).items()
    }
    absent = {}
    if too_little := lacking(matrix_bytes(n, 2.2)):
        absent["textbook"] = too_little
        del calls["textbook"]
    if n == FLEX_LENGTH:
        made = flex.compiled(query, key, value, flex.causal if is_causal else None)
        if isinstance(made, str):
            absent["FlexAttention"] = made
        else:
            calls["FlexAttention"] = made
    true = truth_of_last_head(arrays, band(n, is_causal=is_causal))
    entrants = {name: Entrant(call, true, last_head) for name, call in calls.items()}
    return Field(entrants, absent)
