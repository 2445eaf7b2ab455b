"""A translator around `torch.nn.Transformer`, with the weights of ours."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from companion.data.batching import Batch
from companion.models.transformer import Transformer
from companion.positions import sinusoidal_encoding

NAMES = {
    "blocks": "layers",
    "self_attention": "self_attn",
    "cross_attention": "multihead_attn",
    "query_proj.": "in_proj_",
    "output_proj": "out_proj",
    "self_residual.norm": "norm1",
    "cross_residual.norm": "norm2",
    "feed_forward.up_proj": "linear1",
    "feed_forward.down_proj": "linear2",
}
"""Of parts of a block: ours, and torch's."""


class TorchsTransformer(nn.Module):
    """Torch's encoder and decoder between the same embeddings and the same scores of words.

    Ours has norms first, rectified units, biases everywhere, one probability for all dropout.
    """

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        config = ours.config
        words = ours.source_embedding.words, ours.target_embedding.words
        self.source_embedding, self.target_embedding = map(_trainable, words)
        self.dropout = nn.Dropout(config.dropout_p)
        depths = config.depth_of_encoder, config.num_layers
        sizes = config.embed_dim, config.num_heads, *depths, config.hidden_width
        self.stacks = nn.Transformer(*sizes, config.dropout_p, batch_first=True, norm_first=True)
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
    """Return our weights under torch's names; those of query, key and value are joined."""
    state = {n: w for n, w in ours.state_dict().items() if n.startswith(("encoder.", "decoder."))}
    weights = {}
    for name, weight in state.items():
        if "query_proj" in name:
            parts = [state[name.replace("query", part)] for part in ("query", "key", "value")]
            weights[_renamed(name)] = torch.cat(parts)
        elif "key_proj" not in name and "value_proj" not in name:
            weights[_renamed(name)] = weight
    return weights


def _renamed(name: str) -> str:
    last = "norm3" if name.startswith("decoder") else "norm2"
    for ours, torchs in (NAMES | {"feed_forward_residual.norm": last}).items():
        name = name.replace(ours, torchs)
    return name
