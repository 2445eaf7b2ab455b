"""A small language model that has learned nothing, for the smoke runs of studies of a real one."""

import torch
from torch import Tensor

from companion.models.transformer import LanguageModel, TransformerConfig

TOKENS = 53


def untrained(layers: int = 2, heads: int = 6) -> tuple[LanguageModel, Tensor]:
    """Return a model with random weights, two heads to each head of keys, and 96 random tokens.

    Both are the same at every call, and torch's random numbers are afterwards what they were.
    """
    config = TransformerConfig(
        vocab_size=TOKENS, embed_dim=24, num_heads=heads, num_kv_heads=heads // 2,
        num_layers=layers, positions="rotary", norm="rms", activation="silu", gated=True,
        embedding_scale=False,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        return LanguageModel(config).eval(), torch.randint(TOKENS, (96,))
