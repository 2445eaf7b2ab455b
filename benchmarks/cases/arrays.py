"""Attention of NumPy arrays: tiled beside the textbook."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.cases.tensors import ATTENTION, NAMES, band, inputs, last_head, truth_of_last_head
from benchmarks.contest import Contest, Entrant, Field, Result, hold
from benchmarks.peers.textbook import numpy_textbook
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.tiled import tiled_attention

TITLE = "Attention of NumPy arrays"
SETTINGS = ATTENTION | {"library": "NumPy"}
GOALS = {False: Goal(1.8), True: Goal(4.0)}
LENGTHS, QUICK_LENGTHS = (1024, 4096), (64,)
GOAL_LENGTH = 4096


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time both forms."""
    for is_causal, name in NAMES.items():
        for n in QUICK_LENGTHS if quick else LENGTHS:
            contest = Contest(
                f"NumPy, {name}, n = {n}",
                partial(prepare, n, is_causal),
                {"NumPy textbook": GOALS[is_causal]} if n == GOAL_LENGTH else {},
                length=n,
            )
            yield from hold(contest, protocol)


@torch.no_grad()
def prepare(n: int, is_causal: bool) -> Field:
    """Make the arrays; torch makes the truth alone."""
    tensors = inputs(n)
    arrays = [tensor.numpy() for tensor in tensors]
    mask = band(n, is_causal=is_causal)
    true = truth_of_last_head(tensors, mask)
    forbidden = ~mask.numpy() if is_causal else None
    query, key, value = arrays
    calls = {
        "tiled": partial(tiled_attention, query, key, value, is_causal=is_causal),
        "NumPy textbook": partial(numpy_textbook, *arrays, forbidden=forbidden),
    }
    return Field({name: Entrant(call, true, last_head) for name, call in calls.items()})
