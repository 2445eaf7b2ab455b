"""A translator around `torch.nn.Transformer`, with the weights of ours."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.data.batching import Batch
from companion.layers import MultiHeadAttention
from companion.models.transformer import Block, Transformer
from companion.positions import sinusoidal_encoding


class TorchsTransformer(nn.Module):
    """Torch's encoder and decoder between the same embeddings and the same scores of words.

    Args:
        ours: gives sizes and weights: norms first, rectified units, biases everywhere, one
            probability for all dropout.
    """

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        config = ours.config
        words = ours.source_embedding.words, ours.target_embedding.words
        self.source_embedding, self.target_embedding = map(_trainable, words)
        self.dropout = nn.Dropout(config.dropout_p)
        self.stacks = nn.Transformer(
            config.embed_dim,
            config.num_heads,
            config.depth_of_encoder,
            config.num_layers,
            config.hidden_width,
            config.dropout_p,
            batch_first=True,
            norm_first=True,
        )
        self.stacks.load_state_dict(_weights(ours))

    def loss(self, batch: Batch) -> Tensor:
        """Average the cross-entropy over the target tokens; torch's masks say who may not look."""
        length = batch.target_in.shape[1]
        padding = torch.arange(batch.source.shape[1]) >= batch.source_lengths[:, None]
        hidden = self.stacks(
            self._embedded(self.source_embedding, batch.source),
            self._embedded(self.target_embedding, batch.target_in),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        logits = F.linear(hidden, self.target_embedding.weight)
        return F.cross_entropy(logits[batch.target_mask], batch.target_out[batch.target_mask])

    def _embedded(self, table: nn.Embedding, tokens: Tensor) -> Tensor:
        x: Tensor = table(tokens) * math.sqrt(table.embedding_dim)
        encoded: Tensor = x + sinusoidal_encoding(*x.shape[-2:], like=x)
        dropped: Tensor = self.dropout(encoded)
        return dropped


def _trainable(words: nn.Embedding) -> nn.Embedding:
    copied = nn.Embedding(words.num_embeddings, words.embedding_dim)
    copied.load_state_dict(words.state_dict())
    return copied


def _weights(ours: Transformer) -> dict[str, Tensor]:
    """Return our weights under torch's names."""
    weights: dict[str, Tensor] = {}
    for name, stack in (("encoder", ours.encoder), ("decoder", ours.decoder)):
        weights |= _named(stack.norm, f"{name}.norm")
        for number, block in enumerate(stack.blocks):
            assert isinstance(block, Block)
            weights |= _block(block, f"{name}.layers.{number}")
    return weights


def _block(block: Block, name: str) -> dict[str, Tensor]:
    parts = {
        "norm1": block.self_residual.norm,
        "linear1": block.feed_forward.up_proj,
        "linear2": block.feed_forward.down_proj,
        "norm3" if block.cross_attention else "norm2": block.feed_forward_residual.norm,
    }
    weights = _attention(block.self_attention, f"{name}.self_attn")
    if block.cross_attention is not None and block.cross_residual is not None:
        parts["norm2"] = block.cross_residual.norm
        weights |= _attention(block.cross_attention, f"{name}.multihead_attn")
    for part, module in parts.items():
        weights |= _named(module, f"{name}.{part}")
    return weights


def _attention(attention: MultiHeadAttention, name: str) -> dict[str, Tensor]:
    inputs = attention.query_proj, attention.key_proj, attention.value_proj
    weights = _named(attention.output_proj, f"{name}.out_proj")
    for part in ("weight", "bias"):
        rows = [layer.get_parameter(part).detach() for layer in inputs]
        weights[f"{name}.in_proj_{part}"] = torch.cat(rows)
    return weights


def _named(module: nn.Module | None, name: str) -> dict[str, Tensor]:
    assert module is not None
    return {f"{name}.{part}": weight.detach() for part, weight in module.named_parameters()}
