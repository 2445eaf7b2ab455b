"""A language model and its pattern of layers are one model."""

from typing import Any

import pytest
import torch

from companion.models.pattern import as_pattern, pattern_of
from companion.models.transformer import LanguageModel, TransformerConfig
from companion.positions import Yarn

TOKENS = torch.randint(0, 23, (3, 13), generator=torch.Generator().manual_seed(1))
PLAIN: dict[str, Any] = {"vocab_size": 23, "embed_dim": 20, "num_heads": 5, "num_layers": 3}


def test_both_give_the_same_logits() -> None:
    rows: list[dict[str, Any]] = [
        {"positions": "none"},
        {"positions": "rotary"},
        {"positions": "rotary", "num_kv_heads": 1, "head_dim": 6, "attention_bias": True},
        {
            "positions": "rotary", "norm": "rms", "activation": "silu", "gated": True,
            "feed_forward_bias": False, "embedding_scale": False, "tied": "none",
        },
        {"positions": "rotary", "rotary_scaling": Yarn(4.0, 8), "rotary_base": 500.0},
        {"positions": "rotary", "embedding_norm": True, "final_norm": False, "hidden_dim": 31},
    ]  # fmt: skip
    for options in rows:
        torch.manual_seed(0)
        model = LanguageModel(TransformerConfig(**PLAIN, **options)).double().eval()
        for weight in model.parameters():
            weight.data += 0.1 * torch.randn_like(weight)
        with torch.no_grad():
            torch.testing.assert_close(as_pattern(model)(TOKENS)[0], model(TOKENS))


def test_what_a_pattern_cannot_say_is_refused() -> None:
    with pytest.raises(ValueError, match="got positions='alibi', wanted rotary or none"):
        pattern_of(TransformerConfig(**PLAIN, positions="alibi"))
