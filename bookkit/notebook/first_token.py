"""How much of a language model's attention the first token of a text has, and how much that adds.

Not imported with the rest of this package, because it needs PyTorch, which some pages do without.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from companion import attention_with_weights
from companion.layers import MultiHeadAttention
from companion.models.transformer import LanguageModel


class FirstToken(NamedTuple):
    """What the first token has in each of the l layers: means over heads and later queries."""

    weight: NDArray[np.float64]  # (l,) its share of the weights
    # (l,) its share of the lengths of what is added, weight times value times output matrix
    added: NDArray[np.float64]
    length: NDArray[np.float64]  # (l,) of its value through that matrix; 1 is the others' mean


@torch.no_grad()
def first_token(model: LanguageModel, ids: Sequence[int]) -> FirstToken:
    """Let a model read a text: what its first token gets and gives (Kobayashi et al., 2020).

    >>> from companion.models.transformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, embed_dim=12, num_heads=3, num_layers=2)
    >>> first_token(LanguageModel(config).eval(), [4, 5, 6]).weight.shape
    (2,)
    """
    layers = [part for part in model.modules() if isinstance(part, MultiHeadAttention)]
    matrices = [layer.output_proj.weight for layer in layers]
    rows: list[list[float]] = []

    def seen(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        output, weights = attention_with_weights(query, key, value, mask)
        matrix = matrices[len(rows)]
        by_head = matrix.reshape(len(matrix), value.shape[1], -1)
        lengths = torch.einsum("hkd,ehd->hke", value[0], by_head).norm(dim=-1)
        added = weights[0] * lengths[:, None]
        shares = weights[0], added / added.sum(-1, keepdim=True)
        ratio = lengths[:, 0] / lengths[:, 1:].mean(-1)
        rows.append([*(one[:, 1:, 0].mean().item() for one in shares), ratio.mean().item()])
        return output

    model.with_attention(seen)(torch.tensor([ids]))
    return FirstToken(*np.array(rows).T)
