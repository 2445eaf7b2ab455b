"""Multi-head attention as a module, forward and backward, with and without its weights."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.cases import Case
from benchmarks.contest import Contest, Entrant, Field, Result, Values, hold_all
from benchmarks.machine import installed
from benchmarks.timing import Protocol
from companion.layers import MultiHeadAttention

EMBED, HEADS, BATCH = 256, 4, 8
LENGTHS, QUICK_LENGTHS = (128, 512, 1024), (24,)
NAMES = {False: "without weights", True: "with weights"}

Side = tuple[nn.Module, Callable[[Tensor], Any]]
"""A module, and what calls it: the output, or a tuple that begins with it."""


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time the layer beside torch's, a bare function and x-transformers, all of one weight."""
    contests = (
        Contest(f"{name}, n = {n}", partial(prepare, n, need_weights), length=n)
        for need_weights, name in NAMES.items()
        for n in (QUICK_LENGTHS if quick else LENGTHS)
    )
    yield from hold_all(contests, protocol)


def prepare(n: int, need_weights: bool) -> Field:
    """Make the modules and say who takes part."""
    torch.manual_seed(n)
    ours = MultiHeadAttention(EMBED, HEADS)
    x, gradient = torch.randn(2, BATCH, n, EMBED)
    sides: dict[str, Side] = {
        "MultiHeadAttention": (ours, partial(ours, need_weights=need_weights)),
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
    entrants = {
        name: Entrant(partial(both_ways, *side, x, gradient), true, lambda values: values[:2])
        for name, side in sides.items()
    }
    return Field(entrants, absent)


def both_ways(
    module: nn.Module, forward: Callable[[Tensor], Any], x: Tensor, gradient: Tensor
) -> Values:
    """Return the output, the gradient of the input, and the gradients of the weights."""
    x = x.detach().requires_grad_()
    made = forward(x)
    output = made[0] if isinstance(made, tuple) else made
    return output.detach(), *torch.autograd.grad(output, [x, *module.parameters()], gradient)


def torchs(ours: MultiHeadAttention, need_weights: bool) -> Side:
    """Return torch's module with our weights."""
    module = nn.MultiheadAttention(EMBED, HEADS, bias=False, batch_first=True)
    state = {"in_proj_weight": joined(ours), "out_proj.weight": ours.output_proj.weight}
    module.load_state_dict(state)
    options = {"need_weights": need_weights, "average_attn_weights": False}
    return module, lambda x: module(x, x, x, **options)


def bare(ours: MultiHeadAttention) -> Side:
    """Return what no module can do without: one projection, fused attention, one projection."""
    weights = nn.ParameterList([joined(ours), ours.output_proj.weight.detach().clone()])

    def forward(x: Tensor) -> Tensor:
        query, key, value = split_heads(F.linear(x, weights[0]))
        attended = F.scaled_dot_product_attention(query, key, value)
        return F.linear(attended.transpose(1, 2).flatten(-2), weights[1])

    return weights, forward


def x_transformers(ours: MultiHeadAttention, flash: bool) -> Side:
    """Return the library's module with our weights."""
    from x_transformers.x_transformers import Attention

    module: Any = Attention(dim=EMBED, heads=HEADS, dim_head=EMBED // HEADS, flash=flash)
    for name, part in (("q", "query"), ("k", "key"), ("v", "value"), ("out", "output")):
        theirs, weights = getattr(module, f"to_{name}"), getattr(ours, f"{part}_proj")
        theirs.load_state_dict(weights.state_dict())
    return module, module


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


SETTINGS: dict[str, object] = {
    "batch": BATCH, "embed": EMBED, "heads": HEADS, "dtype": "float32", "bias": False,
}  # fmt: skip
CASES = {"modules": Case("Multi-head attention, forward and backward", SETTINGS, run)}
