"""Feed-forward layers of which every token uses a few: as far as whole models need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.contracts import contract
from companion.layers.feed_forward import ACTIVATIONS, Activation
from companion.models.atlas.feed_forward import (
    FeedForwardSpec,
    bounded,
    feed_forward,
)
from companion.models.atlas.norms import (
    NormSpec,
    optional_linear,
    optional_norm,
    optional_zeros,
)

Scores = Literal[
    "softmax", "sigmoid", "sqrt_softplus", "softmax_of_chosen", "sigmoid_of_chosen"
]  # fmt: skip


@contract(
    num_experts=">= 1", experts_per_token=">= 1", hidden_dim=">= 1", groups=">= 1",
    groups_per_token=">= 1", group_best=">= 1", sum_eps=">= 0",
)  # fmt: skip
@dataclass(frozen=True)
class ExpertsSpec:
    """A router, and the experts among which it chooses.

    Attributes:
        num_experts: how many experts there are.
        experts_per_token: how many of them a token uses.
        hidden_dim: width between the projections of an expert.
        gated: multiply by a second projection, in the shared expert, too.
        activation: of an expert.
        scores: how logits become the weights of experts: a softmax or a sigmoid over all of them,
            or over the chosen ones, or the root of a softplus (DeepSeek-V4).
        looked_up: number of ids in a table of experts by token, which replaces their choice
            (DeepSeek-V4); None means that there is none.
        normalised: divide the weights of the chosen experts by their sum.
        sum_eps: number that is added to that sum.
        scale: factor on the weights, after that.
        softcap: bound on the logits.
        logit_scale: factor on the logits.
        corrected: add a stored number for each expert to its score before the choice, and not to
            its weight (DeepSeek-V3's balancing without a loss).
        groups: number of equal groups of experts, of which some are chosen first.
        groups_per_token: how many groups are chosen, by the sum of their best scores.
        group_best: how many best scores of a group are summed for that.
        shared_dim: width of an expert that every token uses; None means that there is none.
        shared_gate: multiply what the shared expert gives by the sigmoid of a projection.
        output_norm: norm of what the chosen experts and the shared one give together.
        averaged: halve the sum of what the chosen experts and the shared one give.
        bias: whether the router and the experts have biases.
        limit: bound on what enters the gate and the product of an expert (gpt-oss).
        shifted: add 1 to what the gate of an expert multiplies (gpt-oss).
        shared_alike: the shared expert has this bound and this shift, too.
        inner_dim: width of what experts read and give, between two projections; None means that
            of the model (Muse Spark).
        inner_norm: norm of what is projected to them.
        post_norm: norm of what an expert gives.
        weigh_input: multiply the weight to what an expert reads, not to what it gives (Llama 4).

    >>> ExpertsSpec(num_experts=4, experts_per_token=2, hidden_dim=8).scores
    'softmax'
    """

    num_experts: int
    experts_per_token: int
    hidden_dim: int
    activation: Activation = "silu"
    gated: bool = True
    scores: Scores = "softmax"
    looked_up: int | None = None
    normalised: bool = True
    sum_eps: float = 0.0
    scale: float = 1.0
    softcap: float | None = None
    logit_scale: float = 1.0
    corrected: bool = False
    groups: int = 1
    groups_per_token: int = 1
    group_best: int = 2
    shared_dim: int | None = None
    shared_gate: bool = False
    output_norm: NormSpec | None = None
    averaged: bool = False
    bias: bool = False
    limit: float | None = None
    inner_dim: int | None = None
    inner_norm: NormSpec | None = None
    post_norm: NormSpec | None = None
    shifted: bool = False
    shared_alike: bool = False
    weigh_input: bool = False


class Router(nn.Module):
    """Choose experts for every token, and weigh them.

    Args:
        embed_dim: width e of what it reads.
        spec: how many experts there are, and how they are chosen.
    """

    correction: Tensor | None
    table: Tensor | None

    def __init__(self, embed_dim: int, spec: ExpertsSpec) -> None:
        super().__init__()
        self.spec = spec
        self.proj = nn.Linear(embed_dim, spec.num_experts, spec.bias)
        correction = torch.zeros(spec.num_experts) if spec.corrected else None
        self.register_buffer("correction", correction)
        table = None
        if spec.looked_up is not None:
            rows = spec.looked_up, spec.experts_per_token
            table = torch.zeros(rows, dtype=torch.long)
        self.register_buffer("table", table)

    def forward(
        self, x: Tensor, tokens: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return, of tokens (n, e), the weights and the numbers of their experts, (n, chosen)."""
        spec, logits = self.spec, self.proj(x).float() * self.spec.logit_scale
        if spec.softcap is not None:
            logits = spec.softcap * (logits / spec.softcap).tanh()
        weigh = WEIGHTS[spec.scores.removesuffix("_of_chosen")]
        late = spec.scores.endswith("_of_chosen")
        scores = logits if late else weigh(logits)
        looked_up = None if self.table is None else self.table[tokens]
        chosen = self._chosen(scores) if looked_up is None else looked_up
        weights = scores.gather(-1, chosen)
        weights = weigh(weights) if late else weights
        if spec.normalised:
            weights = weights / (weights.sum(-1, keepdim=True) + spec.sum_eps)
        return weights * spec.scale, chosen

    def _chosen(self, scores: Tensor) -> Tensor:
        """Choose experts by their scores (n, experts)."""
        if self.correction is not None:
            scores = scores + self.correction
        best = self._within_groups(scores).topk(self.spec.experts_per_token)
        return best.indices

    def _within_groups(self, scores: Tensor) -> Tensor:
        """Give the experts of groups that are not chosen a score below all others."""
        spec = self.spec
        if spec.groups_per_token == spec.groups:
            return scores
        grouped = torch.unflatten(scores, -1, (spec.groups, -1))
        best = grouped.topk(spec.group_best).values.sum(-1)
        chosen = best.topk(spec.groups_per_token).indices
        outside = torch.ones_like(best, dtype=torch.bool)
        outside = outside.scatter(-1, chosen, value=False)
        inside: Tensor = grouped.masked_fill(outside[..., None], float("-inf"))
        return inside.flatten(-2)

    if TYPE_CHECKING:
        __call__ = forward


class Experts(nn.Module):
    """Let every token pass through the experts that a router chooses for it.

    Args:
        embed_dim: width e of input and output.
        spec: the experts and their router.
    """

    def __init__(self, embed_dim: int, spec: ExpertsSpec) -> None:
        super().__init__()
        self.spec, self.activate = spec, ACTIVATIONS[spec.activation]
        count, hidden = spec.num_experts, spec.hidden_dim
        self.router = Router(embed_dim, spec)
        inner = spec.inner_dim or embed_dim
        rows = 2 * hidden if spec.gated else hidden
        gate_up = torch.randn(count, rows, inner) / inner**0.5
        down = torch.randn(count, inner, hidden) / hidden**0.5
        self.gate_up, self.down = nn.Parameter(gate_up), nn.Parameter(down)
        self.gate_up_bias = optional_zeros(spec.bias, count, rows)
        self.down_bias = optional_zeros(spec.bias, count, inner)
        self.inner_proj = optional_linear(embed_dim, spec.inner_dim)
        self.outer_proj = None
        if spec.inner_dim:
            self.outer_proj = nn.Linear(inner, embed_dim, bias=False)
        self.inner_norm = optional_norm(inner, spec.inner_norm)
        self.post_norm = optional_norm(inner, spec.post_norm)
        self.shared = self.shared_gate = None
        if spec.shared_dim is not None:
            alike = (spec.limit, spec.shifted) if spec.shared_alike else ()
            shared = FeedForwardSpec(
                spec.shared_dim, spec.activation, spec.gated, False, *alike
            )
            self.shared = feed_forward(embed_dim, shared)
            gates = int(spec.shared_gate)
            self.shared_gate = optional_linear(embed_dim, gates)
        self.output_norm = optional_norm(embed_dim, spec.output_norm)

    def forward(self, x: Tensor, ids: Tensor | None = None) -> Tensor:
        """Compute (..., e) from (..., e), with the ids (...) where experts are looked up."""
        tokens = x.flatten(0, -2)
        inner = tokens if self.inner_proj is None else self.inner_proj(tokens)
        inner = inner if self.inner_norm is None else self.inner_norm(inner)
        ids = None if ids is None else ids.flatten()
        output = self._routed(inner, *self.router(tokens, ids))
        output = output if self.outer_proj is None else self.outer_proj(output)
        output = (output + self._shared(tokens)).reshape(x.shape)
        output = output / 2 if self.spec.averaged else output
        return output if self.output_norm is None else self.output_norm(output)

    def _routed(
        self, tokens: Tensor, weights: Tensor, chosen: Tensor
    ) -> Tensor:
        """Sum what the chosen experts give for tokens (n, e), each times its weight."""
        output = torch.zeros_like(tokens)
        for expert in torch.unique(chosen).tolist():
            rows, places = (chosen == expert).nonzero(as_tuple=True)
            weight = weights[rows, places, None].to(tokens.dtype)
            if self.spec.weigh_input:
                given = self._expert(expert, tokens[rows] * weight)
            else:
                given = self._expert(expert, tokens[rows]) * weight
            output = output.index_add(0, rows, given)
        return output

    def _expert(self, expert: int, x: Tensor) -> Tensor:
        """Compute what one expert gives for tokens (n, e)."""
        hidden = x @ self.gate_up[expert].T
        if self.gate_up_bias is not None:
            hidden = hidden + self.gate_up_bias[expert]
        output = self._activated(hidden) @ self.down[expert].T
        if self.down_bias is not None:
            output = output + self.down_bias[expert]
        return output if self.post_norm is None else self.post_norm(output)

    def _activated(self, hidden: Tensor) -> Tensor:
        """Compute what lies between the projections of an expert."""
        if not self.spec.gated:
            return self.activate(hidden)
        gate, up = hidden.chunk(2, -1)
        gate, up = bounded(gate, up, self.spec.limit)
        return self.activate(gate) * (up + 1 if self.spec.shifted else up)

    def _shared(self, tokens: Tensor) -> Tensor | float:
        """Compute what the shared expert gives, 0 where there is none."""
        if self.shared is None:
            return 0.0
        output: Tensor = self.shared(tokens)
        if self.shared_gate is not None:
            output = output * self.shared_gate(tokens).sigmoid()
        return output

    if TYPE_CHECKING:
        __call__ = forward


WEIGHTS: dict[str, Callable[[Tensor], Tensor]] = {
    "softmax": lambda logits: logits.softmax(-1),
    "sigmoid": torch.sigmoid,
    "sqrt_softplus": lambda logits: F.softplus(logits).sqrt(),
}
"""What makes weights of logits, by name."""
