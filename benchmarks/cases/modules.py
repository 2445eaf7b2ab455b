"""Multi-head attention as a module, forward and backward, with and without its weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.contest import Contest, Entrant, Field, Result, Values, hold
from benchmarks.machine import installed
from benchmarks.timing import Protocol
from companion.layers import MultiHeadAttention

TITLE = "Multi-head attention, forward and backward"
EMBED, HEADS, BATCH = 256, 4, 8
SETTINGS: dict[str, object] = {
    "batch": BATCH, "embed": EMBED, "heads": HEADS, "dtype": "float32", "bias": False,
}  # fmt: skip
LENGTHS, QUICK_LENGTHS = (128, 512, 1024), (24,)

Forward = Callable[[Tensor], Tensor]


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time the layer beside torch's, a bare function and x-transformers, all of one weight."""
    for need_weights in (False, True):
        for n in QUICK_LENGTHS if quick else LENGTHS:
            name = "with weights" if need_weights else "without weights"
            prepared = partial(prepare, n, need_weights)
            yield from hold(Contest(f"{name}, n = {n}", prepared, length=n), protocol)


def prepare(n: int, need_weights: bool) -> Field:
    """Make the modules and say who takes part."""
    torch.manual_seed(n)
    ours = MultiHeadAttention(EMBED, HEADS)
    x, gradient = torch.randn(2, BATCH, n, EMBED)
    sides = {
        "MultiHeadAttention": (ours, ours_forward(ours, need_weights)),
        "nn.MultiheadAttention": torchs(ours, need_weights),
    }
    absent = {}
    if not need_weights:
        sides["projection and SDPA"] = bare(ours)
        for name, flash in {"x-transformers": False, "x-transformers, flash": True}.items():
            if installed("x-transformers"):
                sides[name] = x_transformers(ours, flash)
            else:
                absent[name] = "not installed"
    true = truth(ours, x, gradient)
    return Field(
        {
            name: Entrant(partial(both_ways, *side, x, gradient), true, lambda values: values[:2])
            for name, side in sides.items()
        },
        absent,
    )


def both_ways(module: nn.Module, forward: Forward, x: Tensor, gradient: Tensor) -> Values:
    """Return the output, the gradient of the input, and the gradients of the weights."""
    x = x.detach().requires_grad_()
    output = forward(x)
    return output.detach(), *torch.autograd.grad(output, [x, *module.parameters()], gradient)


def ours_forward(module: MultiHeadAttention, need_weights: bool) -> Forward:
    """Return the layer's call."""

    def forward(x: Tensor) -> Tensor:
        output: Tensor = module(x, need_weights=True)[0] if need_weights else module(x)
        return output

    return forward


def torchs(ours: MultiHeadAttention, need_weights: bool) -> tuple[nn.Module, Forward]:
    """Return torch's module with our weights."""
    module = nn.MultiheadAttention(EMBED, HEADS, bias=False, batch_first=True)
    state = {"in_proj_weight": joined(ours), "out_proj.weight": ours.output_proj.weight}
    module.load_state_dict(state)
    options = {"need_weights": need_weights, "average_attn_weights": False}

    def forward(x: Tensor) -> Tensor:
        output: Tensor = module(x, x, x, **options)[0]
        return output

    return module, forward


def bare(ours: MultiHeadAttention) -> tuple[nn.Module, Forward]:
    """Return what no module can do without: one projection, fused attention, one projection."""
    weights = nn.ParameterList([joined(ours), ours.output_proj.weight.detach().clone()])

    def forward(x: Tensor) -> Tensor:
        query, key, value = split_heads(F.linear(x, weights[0]))
        attended = F.scaled_dot_product_attention(query, key, value)
        return F.linear(attended.transpose(1, 2).flatten(-2), weights[1])

    return weights, forward


def x_transformers(ours: MultiHeadAttention, flash: bool) -> tuple[nn.Module, Forward]:
    """Return the library's module with our weights."""
    from x_transformers.x_transformers import Attention

    module: Any = Attention(dim=EMBED, heads=HEADS, dim_head=EMBED // HEADS, flash=flash)
    names = {
        "query_proj": "to_q",
        "key_proj": "to_k",
        "value_proj": "to_v",
        "output_proj": "to_out",
    }
    for name, theirs in names.items():
        getattr(module, theirs).load_state_dict(getattr(ours, name).state_dict())

    def forward(x: Tensor) -> Tensor:
        output = module(x)
        attended: Tensor = output[0] if isinstance(output, tuple) else output
        return attended

    return module, forward


def joined(ours: MultiHeadAttention) -> Tensor:
    """Return the weights of queries, keys and values one below the other."""
    projections = (ours.query_proj, ours.key_proj, ours.value_proj)
    return torch.cat([projection.weight.detach() for projection in projections])


def split_heads(projected: Tensor) -> Tensor:
    """Return (b, n, 3 h d) as (3, b, h, n, d)."""
    return torch.unflatten(projected, -1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)


def truth(ours: MultiHeadAttention, x: Tensor, gradient: Tensor) -> Values:
    """Return output and gradient of the input in float64, written out."""
    x = x.double().requires_grad_()
    query, key, value = split_heads(F.linear(x, joined(ours).double()))
    weights = torch.softmax(query @ key.mT / (EMBED // HEADS) ** 0.5, -1)
    joint = (weights @ value).transpose(1, 2).flatten(-2)
    output = F.linear(joint, ours.output_proj.weight.detach().double())
    return output.detach(), *torch.autograd.grad(output, x, gradient.double())
