"""Attention forward and backward, full and causal, float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.cases.tensors import (
    ATTENTION,
    band,
    inputs,
    last_head,
    lengths,
    matrix_bytes,
    truth_of_last_head,
)
from benchmarks.contest import Contest, Entrant, Field, Found, growth, hold, lacking
from benchmarks.peers.textbook import textbook
from benchmarks.records import Goal
from benchmarks.timing import Protocol
from companion.tiled import tiled_attention

TITLE = "Attention forward and backward"
SETTINGS = ATTENTION
GOALS = {False: Goal(0.93, aim=1.0), True: Goal(0.90, aim=1.0)}
NAMES = {False: "full", True: "causal"}


def run(quick: bool, protocol: Protocol) -> Iterator[Found]:
    """Time tiled attention with its gradients beside the fused one and the textbook."""
    found: list[Found] = []
    for is_causal, name in NAMES.items():
        for n in lengths(quick):
            contest = Contest(
                f"{name}, n = {n}",
                partial(prepare, n, is_causal),
                {"SDPA": GOALS[is_causal]},
                length=n,
            )
            for one in hold(contest, protocol):
                found.append(one)
                yield one
    for name in NAMES.values():
        yield from growth(found, "tiled", name, "s", None)


def prepare(n: int, is_causal: bool) -> Field:
    """Make the tensors and say who takes part."""
    *arrays, gradient = inputs(n, count=4)
    functions: dict[str, Callable[..., Tensor]] = {
        "tiled": tiled_attention,
        "SDPA": F.scaled_dot_product_attention,
        "textbook": textbook,
    }
    absent = {}
    if too_little := lacking(matrix_bytes(n, 4)):
        absent["textbook"] = too_little
        del functions["textbook"]
    true = truth_of_last_head([*arrays, gradient], band(n, is_causal=is_causal))
    leaves = [array.requires_grad_() for array in arrays]
    entrants = {
        name: Entrant(
            partial(both_ways, partial(function, is_causal=is_causal), leaves, gradient),
            true,
            last_head,
        )
        for name, function in functions.items()
    }
    return Field(entrants, absent)


def both_ways(
    function: Callable[..., Tensor], leaves: list[Tensor], gradient: Tensor
) -> tuple[Tensor, ...]:
    """Return the output and the gradients of the leaves."""
    output = function(*leaves)
    return output.detach(), *torch.autograd.grad(output, leaves, gradient)
