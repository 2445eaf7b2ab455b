"""Latent attention: one short vector a token from which the keys and values of all heads unfold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor, nn

from companion.contracts import contract
from companion.latent import absorbed_latent_attention, latent_attention
from companion.models.atlas.kept import Kept
from companion.models.atlas.mixers.indexed import Indexer, IndexerSpec
from companion.models.atlas.norms import (
    Norm,
    NormSpec,
    optional_linear,
    optional_zeros,
)
from companion.models.atlas.rotation import RotarySpec, positions_of

_RMS = NormSpec()


@contract(
    num_heads=">= 1", latent_dim=">= 1", head_dim=">= 1", rotary_dim=">= 0", value_dim=">= 1",
    query_dim=">= 1",
)  # fmt: skip
@dataclass(frozen=True)
class LatentSpec:
    """Multi-head latent attention (DeepSeek-AI, 2024), and what models have added to it.

    Attributes:
        num_heads: heads h.
        latent_dim: width c of the latent from which keys and values unfold.
        head_dim: width d of the part of a key that unfolds, and of what meets it in a query.
        rotary_dim: width r of the part of a key that all heads share; 0 means that there is none.
        value_dim: width v of a value.
        query_dim: width of a latent from which the queries of all heads unfold; None means that
            they come from the token itself.
        rotary: positions of the shared part; None means that nothing is rotated (NoPE).
        query_norm: norm of the latent of queries.
        latent_norm: norm of the latent of keys and values, which leaves the shared part alone.
        latent_scale: factor on that latent (LongCat).
        scale: factor on the scores; None means 1 / sqrt(d + r).
        length_scale: (size, step): queries at position i are multiplied by
            1 + size * log(1 + floor(i / step)) (Mistral 4).
        sinks: a learned logit a head that joins the denominator of the softmax.
        gate: multiply what is gathered by the sigmoid of a projection of the input, one number for
            each feature ("feature") or each head ("head").
        indexer: chooses the keys that a query attends to; None means that it attends to all.
        bias: whether the projections that read or write the residual stream have biases; the one
            that makes queries of the token itself has none.

    >>> spec = LatentSpec(num_heads=8, latent_dim=32, head_dim=16, rotary_dim=4, value_dim=16)
    >>> [(part.what, part.numbers, part.read) for part in spec.keeps()]
    [('latent', 32, 1024), ('rotary key', 4, 64)]
    """

    num_heads: int
    latent_dim: int
    head_dim: int
    rotary_dim: int
    value_dim: int
    query_dim: int | None = None
    rotary: RotarySpec | None = None
    query_norm: NormSpec = _RMS
    latent_norm: NormSpec = _RMS
    latent_scale: float = 1.0
    scale: float | None = None
    length_scale: tuple[float, int] | None = None
    sinks: bool = False
    gate: Literal["feature", "head"] | None = None
    indexer: IndexerSpec | None = None
    bias: bool = False

    def keeps(self) -> tuple[Kept, ...]:
        """Return the latents, the part of the keys that all heads share, and the indexer's keys.

        The next token reads latents twice, as keys and as values of all heads.
        """
        c, r, h = self.latent_dim, self.rotary_dim, self.num_heads
        parts = [Kept("latent", c, read=4 * h * c)]
        if r > 0:
            parts.append(Kept("rotary key", r, read=2 * h * r))
        if self.indexer is None:
            return tuple(parts)
        limit = self.indexer.count
        read = (replace(part, read_limit=limit) for part in parts)
        return (*read, *self.indexer.keeps())


class Latents(NamedTuple):
    """What a layer keeps of the tokens so far.

    Attributes:
        latent: (b, k, c) normalised latents.
        rotary: (b, k, r) the part of the keys that all heads share, rotated.
        indexed: (b, k, d) keys of the indexer, if the layer has one.
        choice: (b, n, k) which keys the last n tokens attended to, for layers that attend to the
            same; no later token needs it.
    """

    latent: Tensor
    rotary: Tensor
    indexed: Tensor | None = None
    choice: Tensor | None = None

    @property
    def length(self) -> int:
        """Number of tokens so far."""
        return self.latent.shape[-2]


class Latent(nn.Module):
    """Attend to keys and values that unfold from latents.

    A whole text unfolds them, and one token attends to the latents themselves. The numbers are
    equal, and each form is the cheaper one where it is used: unfolding costs as much as is kept,
    at every step again.

    Args:
        embed_dim: width e of input and output.
        spec: heads, widths, positions and the rest.
        shares: latents come from another layer, and this one has no weights for them.
        chosen: the choice of keys comes from another layer, and this one has no indexer.

    >>> spec = LatentSpec(num_heads=2, latent_dim=5, head_dim=3, rotary_dim=0, value_dim=4)
    >>> output, state = Latent(7, spec)(torch.ones(1, 11, 7))
    >>> output.shape, state.latent.shape
    (torch.Size([1, 11, 7]), torch.Size([1, 11, 5]))
    """

    def __init__(
        self,
        embed_dim: int,
        spec: LatentSpec,
        *,
        shares: bool = False,
        chosen: bool = False,
    ) -> None:
        super().__init__()
        self.spec = spec
        h, c, d = spec.num_heads, spec.latent_dim, spec.head_dim
        v = spec.value_dim
        self.query_down = self.query_norm = None
        if spec.query_dim is not None:
            self.query_down = nn.Linear(embed_dim, spec.query_dim, spec.bias)
            self.query_norm = Norm(spec.query_dim, spec.query_norm)
        width, r = spec.query_dim or embed_dim, spec.rotary_dim
        self.query_proj = nn.Linear(width, h * (d + r), bias=False)
        self.latent_proj = self.latent_norm = None
        if not shares:
            self.latent_proj = nn.Linear(embed_dim, c + r, spec.bias)
            self.latent_norm = Norm(c, spec.latent_norm)
        self.indexer = None
        if spec.indexer is not None and not chosen:
            self.indexer = Indexer(embed_dim, width, spec.indexer)
        self.key_weight = nn.Parameter(torch.randn(h, c, d) / c**0.5)
        self.value_weight = nn.Parameter(torch.randn(h, c, v) / c**0.5)
        self.sinks = optional_zeros(spec.sinks, h)
        gates = {"feature": h * v, "head": h, None: None}
        self.gate_proj = optional_linear(embed_dim, gates[spec.gate])
        self.output_proj = nn.Linear(h * v, embed_dim, spec.bias)

    def forward(
        self, x: Tensor, state: Latents | None = None, memory: Latents | None = None,
        choice: Tensor | None = None,
    ) -> tuple[Tensor, Latents]:  # fmt: skip
        """Let every token gather from those before it.

        Args:
            x: (b, n, e) tokens.
            state: what was kept of the tokens before; None means that the text begins here.
            memory: latents that another layer has made of the same tokens and those before; None
                means that this layer makes its own.
            choice: (b, n, k) which keys another layer has chosen; None means that an indexer
                chooses, or that there is no choice.

        Returns:
            (b, n, e), and the latents that were attended to.
        """
        memory = self.remember(x, state) if memory is None else memory
        read = x
        if self.query_down is not None and self.query_norm is not None:
            read = self.query_norm(self.query_down(x))
        if self.indexer is not None and memory.indexed is not None:
            choice = self.indexer(x, read, memory.indexed)
        q = x.shape[-2]
        positions = positions_of(x, memory.length - q)
        query, rotary = self._queries(read, positions)
        latent, key_rotary, mask = _seen(memory, choice)
        attend = absorbed_latent_attention if q == 1 else latent_attention
        gathered = attend(
            query, rotary, latent, key_rotary, self.key_weight, self.value_weight, mask,
            is_causal=True, offset=latent.shape[-2] - q, scale=self.spec.scale, sinks=self.sinks,
        )  # fmt: skip
        output = self.output_proj(self._gated(gathered.transpose(-2, -3), x))
        return output, memory._replace(choice=choice)

    def remember(self, x: Tensor, state: Latents | None = None) -> Latents:
        """Make latents of tokens (b, n, e), and put them behind those that were kept."""
        if self.latent_proj is None or self.latent_norm is None:
            raise ValueError(
                "memory: got None, wanted the latents that the layer shares"
            )
        start = 0 if state is None else state.length
        positions = positions_of(x, start)
        made = self.latent_proj(x)
        latent, shared = _parted(made, self.spec.latent_dim)
        latent = self.latent_norm(latent) * self.spec.latent_scale
        shared = self._turned(shared[:, None], positions)[:, 0]
        indexed = None
        if self.indexer is not None:
            indexed = self.indexer.remember(x, start)
        if state is not None:
            latent = torch.cat((state.latent, latent), -2)
            shared = torch.cat((state.rotary, shared), -2)
            if indexed is not None and state.indexed is not None:
                indexed = torch.cat((state.indexed, indexed), -2)
        return Latents(latent, shared, indexed)

    def trim(self, state: Latents) -> Latents:
        """Forget which keys were chosen: the next token chooses anew."""
        return state._replace(choice=None)

    def _queries(
        self, read: Tensor, positions: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return what meets the unfolded and the shared part of keys, (b, h, n, d) and (..., r)."""
        parts = (self.spec.num_heads, -1)
        heads = self.query_proj(read).unflatten(-1, parts).transpose(1, 2)
        if self.spec.length_scale is not None:
            size, step = self.spec.length_scale
            factor = 1 + size * torch.log1p(positions // step)
            heads = heads * factor[:, None]
        query, rotary = _parted(heads, self.spec.head_dim)
        return query, self._turned(rotary, positions)

    def _turned(self, heads: Tensor, positions: Tensor) -> Tensor:
        """Rotate (b, h, n, r) by its positions, where there are any."""
        if self.spec.rotary is None:
            return heads
        return self.spec.rotary.turn(heads, positions)

    def _gated(self, gathered: Tensor, x: Tensor) -> Tensor:
        """Join the heads of (b, n, h, v), multiplied by their gates."""
        if self.gate_proj is None:
            return gathered.flatten(-2)
        gate = torch.sigmoid(self.gate_proj(x))
        if self.spec.gate == "head":
            return (gathered * gate[..., None]).flatten(-2)
        return gathered.flatten(-2) * gate

    if TYPE_CHECKING:
        __call__ = forward


def _parted(joined: Tensor, width: int) -> tuple[Tensor, Tensor]:
    """Cut features into those that unfold and those that all heads share."""
    return joined[..., :width], joined[..., width:]


def _seen(
    memory: Latents, choice: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Return latents, rotary keys, and the mask of a choice; one token reads the chosen alone."""
    if choice is None:
        return memory.latent, memory.rotary, None
    if choice.shape[-2] > 1:
        return memory.latent, memory.rotary, choice[:, None]
    chosen = choice[:, 0]
    latent, rotary = (
        torch.unflatten(part[chosen], 0, (len(chosen), -1))
        for part in (memory.latent, memory.rotary)
    )
    return latent, rotary, None
