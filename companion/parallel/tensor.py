"""Layers whose matrices are cut over ranks: by columns, then by rows, and one sum at the end."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from companion.contracts import contract
from companion.layers import FeedForward, MultiHeadAttention, ProjectedMemory
from companion.parallel.by_heads import rank_slices
from companion.parallel.ranks import Group, place_in, ranks_of
from companion.parallel.sums import entered, summed


@contract()
class TensorParallelAttention(MultiHeadAttention):
    """Some heads of a layer on each rank, and the sum of what they give (Shoeybi et al., 2019).

    Projections of queries, keys and values are cut by columns, that of the output by rows. Every
    rank keeps g / ranks of the key heads, in its cache as well. Call it as the layer itself, with
    the same arguments on every rank; its parameters are this rank's, and so are their gradients.

    Args:
        layer: whose weights are cut, the same on every rank.
        group: the ranks.

    Raises:
        ValueError: fewer key heads than ranks, or gains that all heads share (qk_norm).
    """

    def __init__(self, layer: MultiHeadAttention, group: Group = None) -> None:
        self.members = ranks_of(group)
        rank, size = place_in(self.members)
        heads, groups, d = layer.num_heads, layer.num_kv_heads, layer.head_dim
        if groups < size:
            raise ValueError(
                f"layer: got {groups} key heads, wanted at least {size}, one for every rank"
            )
        if layer.query_norm is not None:
            raise ValueError(
                "layer: got one with qk_norm, wanted one without: all heads share its gains"
            )
        self.heads = rank_slices(groups, size, heads // groups)[rank]
        kept = rank_slices(groups, size)[rank]
        super().__init__(
            layer.embed_dim, self.heads.stop - self.heads.start,
            num_kv_heads=kept.stop - kept.start, head_dim=d, key_dim=layer.key_dim,
            value_dim=layer.value_dim, dropout_p=layer.dropout_p, rotary=layer.rotary,
            window=layer.window, softcap=layer.softcap, attention_fn=layer.attention_fn,
        )  # fmt: skip
        columns, narrow = (
            slice(s.start * d, s.stop * d) for s in (self.heads, kept)
        )
        self.query_proj = _columns(layer.query_proj, columns)
        self.key_proj = _columns(layer.key_proj, narrow)
        self.value_proj = _columns(layer.value_proj, narrow)
        self.output_proj = _rows(layer.output_proj, columns, rank)
        if layer.sinks is not None:
            self.sinks = nn.Parameter(layer.sinks.detach()[self.heads].clone())
        self.train(layer.training)

    def forward(
        self, query: Tensor, key: Any = None, value: Tensor | None = None, *,
        attn_mask: Tensor | None = None, need_weights: bool = False, **others: Any,
    ) -> Tensor:  # fmt: skip
        """Attend with this rank's heads, and return the sum over all ranks, (b, q, e).

        Args:
            query: the same on every rank, as are the others.
            key: a memory, or what `project_memory` of this layer made of it.
            value: None means `key`.
            attn_mask: broadcast to (b, h, q, k), with the heads of all ranks.
            need_weights: no rank has those of all heads; wanted False.
            **others: as for `MultiHeadAttention`; a cache holds this rank's key heads.
        """
        if need_weights:
            raise ValueError(
                "need_weights: got True, wanted False: no rank has the weights of all heads"
            )
        if (
            attn_mask is not None
            and attn_mask.ndim > 2
            and attn_mask.shape[-3] > 1
        ):
            attn_mask = attn_mask[..., self.heads, :, :]
        query = entered(query, self.members)
        output = super().forward(
            query, key, value, attn_mask=attn_mask, **others
        )
        assert isinstance(output, Tensor)  # no weights are wanted
        return summed(output, self.members)

    def project_memory(
        self, key: Tensor, value: Tensor | None = None, **others: Any
    ) -> ProjectedMemory:
        """Project a memory to this rank's heads, as `MultiHeadAttention` does to all."""
        if value is not None:
            value = entered(value, self.members)
        key = entered(key, self.members)
        return super().project_memory(key, value, **others)


@contract()
class TensorParallelFeedForward(FeedForward):
    """A part of the hidden width on each rank, and the sum of what it gives (Shoeybi et al., 2019).

    Args:
        layer: whose weights are cut, the same on every rank.
        group: the ranks.

    Raises:
        ValueError: a hidden width below the number of ranks, or an activation that learns.
    """

    def __init__(self, layer: FeedForward, group: Group = None) -> None:
        self.members = ranks_of(group)
        rank, size = place_in(self.members)
        hidden = layer.up_proj.out_features
        if hidden < size or layer.activation == "xielu":
            raise ValueError(
                f"layer: got hidden_dim {hidden} and {layer.activation!r}, wanted at least {size}, "
                "one for every rank, and an activation that learns nothing"
            )
        part = rank_slices(hidden, size)[rank]
        gated = layer.gate_proj is not None
        super().__init__(
            layer.embed_dim, part.stop - part.start, activation=layer.activation, gated=gated,
            dropout_p=layer.dropout.p,
        )  # fmt: skip
        if layer.gate_proj is not None:
            self.gate_proj = _columns(layer.gate_proj, part)
        self.up_proj = _columns(layer.up_proj, part)
        self.down_proj = _rows(layer.down_proj, part, rank)
        self.train(layer.training)

    def forward(self, x: Tensor) -> Tensor:
        """Compute (..., e) from (..., e), both the same on every rank."""
        return summed(super().forward(entered(x, self.members)), self.members)


def tensor_parallel(module: nn.Module, group: Group = None) -> nn.Module:
    """Replace every `MultiHeadAttention` and `FeedForward` in a module by this rank's part of it.

    Args:
        module: the same on every rank; it is changed, and returned.
        group: the ranks.
    """
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if type(child) is MultiHeadAttention:
                setattr(parent, name, TensorParallelAttention(child, group))
            elif type(child) is FeedForward:
                setattr(parent, name, TensorParallelFeedForward(child, group))
    return module


def _columns(whole: nn.Linear, part: slice) -> nn.Linear:
    """Return the projection to some of the features."""
    bias = None if whole.bias is None else whole.bias[part]
    return _linear(whole.weight[part], bias)


def _rows(whole: nn.Linear, part: slice, rank: int) -> nn.Linear:
    """Return the projection of some of the features; the bias is added once, by rank 0."""
    return _linear(whole.weight[:, part], whole.bias if rank == 0 else None)


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    wide, narrow = weight.shape
    made = nn.Linear(narrow, wide, bias=bias is not None, device="meta")
    made.weight = nn.Parameter(weight.detach().clone())
    if bias is not None:
        made.bias = nn.Parameter(bias.detach().clone())
    return made
