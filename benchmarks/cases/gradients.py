"""Attention forward and backward, full and causal, float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks.cases.forward import BESIDE_TORCH
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
from benchmarks.timing import Protocol

TITLE = "Attention forward and backward"
SETTINGS = ATTENTION
TEXTBOOK_UP_TO, SLOW = 4096, "left out: a call takes twenty seconds and more"


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time tiled attention with its gradients beside the fused one and the textbook."""
    results: list[Result] = []
    for result in hold_all(full_and_causal(prepare, BESIDE_TORCH, lengths(quick)), protocol):
        results.append(result)
        yield result
    for name in NAMES.values():
        yield from growth(results, "tiled", name, "s", None)


def prepare(n: int, is_causal: bool) -> Field:
    """Make the tensors and say who takes part."""
    *arrays, gradient = inputs(n, count=4)
    functions = attentions(n, is_causal)
    absent = {}
    too_much = SLOW if n > TEXTBOOK_UP_TO else lacking(matrix_bytes(n, 4))
    if too_much:
        absent["textbook"] = too_much
        del functions["textbook"]
    true = truth_of_last_head([*arrays, gradient], band(n, is_causal=is_causal))
    leaves = [array.requires_grad_() for array in arrays]
    entrants = {
        name: Entrant(partial(both_ways, function, leaves, gradient), true, last_head)
        for name, function in functions.items()
    }
    return Field(entrants, absent)


def both_ways(
    function: Callable[..., Tensor], leaves: list[Tensor], gradient: Tensor
) -> tuple[Tensor, ...]:
    """Return the output and the gradients of the leaves."""
    output = function(*leaves)
    return output.detach(), *torch.autograd.grad(output, leaves, gradient)
