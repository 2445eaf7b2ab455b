"""Weights, operations and what training keeps, by formula and as they are done and there."""

from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from companion import cost
from companion.layers import FeedForward
from companion.models.transformer import LanguageModel, MaskedLanguageModel, Transformer
from tests.batches import make_batch
from tests.transformers import VARIANTS, config_of, each_variant

MODELS: dict[Any, Any] = {
    "encoder_decoder": Transformer,
    "language_model": LanguageModel,
    "masked_language_model": MaskedLanguageModel,
}
CHANGES: list[dict[str, Any]] = [
    {},
    {"norm": "rms", "final_norm": True},
    {"attention_bias": True, "feed_forward_bias": True, "gated": True},
    {"source_vocab": 31, "tied": "none", "encoder_layers": 3},
    {"source_vocab": 31, "tied": "output", "num_types": 3, "positions": "learned"},
    {"final_norm": False, "embedding_norm": True, "hidden_dim": None, "num_kv_heads": 1},
]


PARTS = {
    "norm": "norm", "output.": "output", "transform": "output", "score_bias": "attention",
    "attention": "attention", "feed_forward": "feed_forward", "embedding": "embedding",
}  # fmt: skip
"""The part of which a parameter is, by the first of these that its name has."""


def test_parameters_are_those_of_the_module() -> None:
    for kind in MODELS:
        for changes in CHANGES:
            variant = (CHANGES.index(changes) + list(MODELS).index(kind)) % len(VARIANTS)
            config = config_of(list(VARIANTS)[variant], **changes)
            with torch.device("meta"):
                model = MODELS[kind](config)
            counts = cost.count_parameters(config, kind)
            assert counts.total == sum(parameter.numel() for parameter in model.parameters())
            result = dict.fromkeys(counts._fields, 0)
            for name, parameter in model.named_parameters():
                part = next(part for word, part in PARTS.items() if word in name)
                result[part] += parameter.numel()
            assert counts._asdict() == result


@each_variant
def test_operations_are_those_that_are_done(variant: str) -> None:
    config = config_of(variant, encoder_layers=3)
    ids, batch = torch.ones(2, 7, dtype=torch.int64), make_batch([0, 1, 2])
    model: Any = LanguageModel(config)
    expected = cost.count_flops(config, "language_model", length=7, batch_size=2).total
    assert cost.measure_flops(lambda: model(ids)) == expected
    assert cost.measure_flops(lambda: model(ids).sum().backward()) == 3 * expected

    masked = MaskedLanguageModel(config)
    expected = cost.count_flops(config, "masked_language_model", length=7, batch_size=2).total
    assert cost.measure_flops(lambda: masked(ids)) == expected

    both: Any = Transformer(config)
    sizes = {"length": 7, "source_length": 5, "batch_size": 3}
    expected = cost.count_flops(config, "encoder_decoder", **sizes).total
    assert cost.measure_flops(lambda: both(batch)) == expected
    assert cost.measure_flops(lambda: both(batch).sum().backward()) == 3 * expected


@each_variant
def test_operations_of_a_cached_step_are_those_that_are_done(variant: str) -> None:
    """That of a language model is counted where its bytes are."""
    config = config_of(variant)
    both, batch = Transformer(config).eval(), make_batch([0, 1, 2])
    begun = both.start(batch.source, batch.source_lengths, max_len=5)
    sizes = {"length": 1, "source_length": 5, "batch_size": 3}
    with torch.no_grad():
        begun = both.step(batch.target_in[:, 0], begun).state
        step = cost.measure_flops(lambda: both.step(batch.target_in[:, 1], begun))
    assert step == cost.count_flops(config, "encoder_decoder", cached=1, **sizes).total


def test_the_parts_are_where_the_operations_are() -> None:
    config = config_of("llama")
    short, long = (cost.count_flops(config, "language_model", length=n) for n in (8, 16))
    assert long.feed_forward == 2 * short.feed_forward
    assert long.output == 2 * short.output
    pairs = 4 * 6 * 4 * 2  # of one pair of places, in both blocks
    assert long.attention - 2 * short.attention == pairs * (16**2 - 2 * 8**2)
    assert short.embedding == short.norm == 0


def test_recomputing_costs_one_more_pass() -> None:
    layer: Any = FeedForward(5, 7)
    x = torch.ones(3, 5, requires_grad=True)
    forward = cost.feed_forward_flops(5, 7, tokens=3)
    kept = cost.measure_flops(lambda: layer(x).sum().backward())
    with set_checkpoint_early_stop(False):  # else the last product is left out
        again = cost.measure_flops(
            lambda: checkpoint(layer, x, use_reentrant=False).sum().backward()
        )
    assert kept == cost.training_flops(forward)
    assert again == cost.training_flops(forward, recomputed=True)


def test_what_adamw_keeps() -> None:
    for dtype in (torch.float32, torch.float64):
        config, ids = config_of("llama"), torch.ones(3, 8, dtype=torch.int64)
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with cost.LiveBytes() as count:
                model: Any = LanguageModel(config)
            parameters = cost.count_parameters(config, "language_model").total
            tensors = len(list(model.parameters()))
            result = cost.training_bytes(parameters, tensors=tensors, dtype=dtype)
            assert count.live == result.weights
            with torch.no_grad():
                model.loss(ids)  # from now on the angles of rotary are there, for all models
            with cost.LiveBytes() as count:
                model.loss(ids).backward()
            assert count.live == result.gradients
            optimizer = torch.optim.AdamW(model.parameters())
            with cost.LiveBytes() as count:
                optimizer.step()
            assert count.live == result.moments
        finally:
            torch.set_default_dtype(before)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="source_length: got None, wanted the number of source"):
        cost.count_flops(config_of("paper"), "encoder_decoder", length=3)
