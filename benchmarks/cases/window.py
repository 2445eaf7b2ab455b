"""Attention to a window of 256 keys before the query's own position."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
import torch.nn.functional as F

from benchmarks.cases.tensors import ATTENTION, band, inputs, last_head, lengths, truth_of_last_head
from benchmarks.contest import Contest, Entrant, Field, Result, growth, hold, lacking
from benchmarks.machine import installed
from benchmarks.peers import flex
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.cost.timing import Call
from companion.tiled import window_attention

TITLE = "Sliding window"
WINDOW, QUICK_WINDOW = 256, 16
SETTINGS = ATTENTION | {"left": WINDOW, "right": 0}
GOAL_LENGTH = 4096
GOALS = {"local-attention": Goal(4.0), "SDPA, dense mask": Goal(10.0)}
GROWTH = Goal(1.05, side="at most")


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time window attention beside a library for it, a dense mask, and FlexAttention."""
    results: list[Result] = []
    left = QUICK_WINDOW if quick else WINDOW
    for n in lengths(quick, shortest=2048):
        contest = Contest(
            f"window {left}, n = {n}",
            partial(prepare, n, left),
            GOALS if n == GOAL_LENGTH else {},
            length=n,
        )
        for result in hold(contest, protocol):
            results.append(result)
            yield result
    yield from growth(results, "window", f"window {left}", "s", GROWTH)


@torch.no_grad()
def prepare(n: int, left: int) -> Field:
    """Make the tensors and say who takes part."""
    query, key, value = arrays = inputs(n)
    mask = band(n, left=left)
    calls: dict[str, Call] = {"window": partial(window_attention, *arrays, left=left)}
    absent = {}
    if too_little := lacking(2 * mask.numel() * 4):  # torch makes floats of it
        absent["SDPA, dense mask"] = too_little
    else:
        fused = F.scaled_dot_product_attention
        calls["SDPA, dense mask"] = partial(fused, query, key, value, attn_mask=mask)
    if installed("local-attention"):
        calls["local-attention"] = partial(local_attention(left), *arrays)
    else:
        absent["local-attention"] = "not installed"
    if n == GOAL_LENGTH:
        made = flex.compiled(query, key, value, flex.window(left))
        if isinstance(made, str):
            absent["FlexAttention"] = made
        else:
            calls["FlexAttention"] = made
    true = truth_of_last_head(arrays, mask)
    return Field({name: Entrant(call, true, last_head) for name, call in calls.items()}, absent)


def local_attention(left: int) -> torch.nn.Module:
    """Return the library's module: it too counts its window without the query's own position."""
    from local_attention import LocalAttention

    module: torch.nn.Module = LocalAttention(
        window_size=left, causal=True, look_backward=1, exact_windowsize=True, autopad=True
    )
    return module.eval()
