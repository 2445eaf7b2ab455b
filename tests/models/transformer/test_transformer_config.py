"""The configuration: what it derives, and what it refuses."""

from typing import Any

import pytest

from companion.models.transformer import TransformerConfig
from companion.positions import Linear
from tests.transformers import SIZES, config_of


def test_impossible_shapes_are_refused() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"num_kv_heads": 4}, "num_kv_heads: got 4, wanted a divisor of num_heads, 6"),
        ({"relative_buckets": 8, "relative_max_distance": 4}, "relative_max_distance: got 4"),
        ({"tied": "all", "source_vocab": 7}, "tied: got 'all' with 7 source and 19"),
        ({"rotary_scaling": Linear(2.0)}, "rotary_scaling: got one with positions='sinus"),
        ({"alignment_layer": -3}, "alignment_layer: got -3"),
    ]
    for changes, message in wrong:
        with pytest.raises(ValueError, match=message):
            TransformerConfig(**{**SIZES, **changes})


def test_what_is_not_said_follows_from_what_is() -> None:
    config = TransformerConfig(vocab_size=11, embed_dim=15, num_heads=5, num_layers=3)
    assert (config.source_size, config.groups, config.width_of_head) == (11, 5, 3)
    assert (config.hidden_width, config.depth_of_encoder) == (60, 3)
    said = config_of("llama", source_vocab=7, encoder_layers=5)
    assert (said.source_size, said.groups, said.width_of_head) == (7, 3, 4)
    assert (said.hidden_width, said.depth_of_encoder) == (17, 5)


def test_a_norm_ends_what_no_other_norm_would_end() -> None:
    assert TransformerConfig(vocab_size=2).ends_with_norm
    assert not TransformerConfig(vocab_size=2, norm_order="post").ends_with_norm
    assert TransformerConfig(vocab_size=2, norm_order="post", final_norm=True).ends_with_norm
    assert not TransformerConfig(vocab_size=2, final_norm=False).ends_with_norm
