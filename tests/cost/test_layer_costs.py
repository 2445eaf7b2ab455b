"""Formulas of layers against the products that the layers do."""

import itertools
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from companion import cost
from companion.layers import AdditiveAttention, LuongAttention, MultiHeadAttention
from companion.linear import elu_feature_map, linear_attention

ODD = (1, 3, 5, 7, 11, 13)


def drawn(count: int, *names: str) -> Iterator[dict[str, int]]:
    """Draw odd sizes, the same at every run."""
    generator = random.Random(7)
    for _ in range(count):
        yield {name: generator.choice(ODD) for name in names}


def zeros(*shape: int) -> Any:
    return torch.zeros(*shape, device="meta", requires_grad=True)


def _both_passes(call: Any) -> None:
    call().sum().backward()


def test_multi_head_attention_to_a_memory() -> None:
    """That of a text to itself is counted with whole Transformers."""
    for s in drawn(6, "b", "q", "k", "e", "ek", "ev", "g", "r", "d"):
        e, h, d = s["e"], s["g"] * s["r"], s["d"]
        with torch.device("meta"):
            layer = MultiHeadAttention(
                e, h, num_kv_heads=s["g"], head_dim=d, key_dim=s["ek"], value_dim=s["ev"]
            )
        x, key = zeros(s["b"], s["q"], e), zeros(s["b"], s["k"], s["ek"])
        value = zeros(s["b"], s["k"], s["ev"])
        sizes: dict[str, Any] = {
            "q_len": s["q"], "k_len": s["k"], "num_kv_heads": s["g"], "head_dim": d,
            "key_dim": s["ek"], "value_dim": s["ev"], "batch_size": s["b"],
        }  # fmt: skip
        call, total = partial(layer, x, key, value), cost.multi_head_flops(e, h, **sizes).total
        assert cost.measure_flops(call) == total
        assert cost.measure_flops(partial(_both_passes, call)) == cost.training_flops(total)
        memory = layer.project_memory(key, value)
        result = cost.multi_head_flops(e, h, projected=True, **sizes)
        assert cost.measure_flops(partial(layer, x, memory)) == result.total


def test_additive_and_luongs_attention() -> None:
    """Of the two gradients of a product with a vector one is no product."""
    scores: list[Any] = [None, "dot", "general", "concat"]
    kinds = [*itertools.product(scores[1:], (False, True)), (None, False)]
    for (score, predictive), s in itertools.product(kinds, drawn(5, *"bqkdeh")):
        key_dim = s["d"] if score == "dot" else s["e"]
        sizes: dict[str, Any] = {"q_len": s["q"], "k_len": s["k"], "batch_size": s["b"]}
        if score is None:
            made: Any = partial(AdditiveAttention, s["d"], key_dim, s["h"])
            flops = partial(cost.additive_flops, s["d"], key_dim, s["h"], **sizes)
        else:
            hidden = s["h"] if score == "concat" else None
            given: Any = {"score": score, "hidden_dim": hidden, "predictive": predictive}
            window = 2 if predictive else None
            made = partial(LuongAttention, s["d"], key_dim, window=window, **given)
            flops = partial(cost.luong_flops, s["d"], key_dim, **given, **sizes)
        with torch.device("meta"):
            layer: Any = made()
        query, memory = zeros(s["b"], s["q"], s["d"]), zeros(s["b"], s["k"], key_dim)
        result, keys = flops(), layer.project(memory)
        vectors = result.scores if score in (None, "concat") else 0
        vectors += s["b"] * cost.matmul_flops(s["q"], s["d"], 1) if predictive else 0

        def call(layer: Any = layer, query: Any = query, memory: Any = memory) -> Any:
            return layer(query, layer.project(memory), memory)

        assert cost.measure_flops(call) == result.total
        assert cost.measure_flops(partial(_both_passes, call)) == 3 * result.total - vectors
        assert (
            cost.measure_flops(partial(layer, query, keys, memory)) == flops(projected=True).total
        )


def test_a_recurrent_layer_does_what_its_cell_does_step_by_step() -> None:
    cells: dict[Any, Any] = {"gru": (nn.GRU, nn.GRUCell), "lstm": (nn.LSTM, nn.LSTMCell)}
    for name, (kind, cell) in cells.items():
        for b, n, e, h in ((3, 5, 7, 11), (1, 1, 3, 5), (2, 7, 1, 1)):
            one, state, x = cell(e, h), None, torch.randn(b, n, e)
            with FlopCounterMode(display=False) as counter:
                for step in x.unbind(1):
                    state = one(step, state)
            result = cost.recurrent_flops(name, e, h, tokens=b * n)
            assert counter.get_total_flops() == result
            assert cost.measure_flops(partial(kind(e, h, batch_first=True), x)) == result
            meta = kind(e, h, batch_first=True, device="meta")
            assert cost.measure_flops(partial(meta, x.to("meta"))) == result


def test_linear_attention() -> None:
    for is_causal in (False, True):
        for s in drawn(4, "h", "n", "d", "v"):
            query, key = zeros(s["h"], s["n"], s["d"]), zeros(s["h"], s["n"], s["d"])
            given = query, key, zeros(s["h"], s["n"], s["v"])
            sizes: dict[str, Any] = {
                "length": s["n"], "num_heads": s["h"], "is_causal": is_causal
            }  # fmt: skip
            call = partial(linear_attention, *given, is_causal=is_causal)
            result = cost.linear_attention_flops(s["d"], s["v"], **sizes)
            assert cost.measure_flops(call) == result
            assert cost.measure_flops(partial(_both_passes, call)) == cost.training_flops(result)
            mapped = cost.linear_attention_flops(s["d"], s["v"], normalised=True, **sizes)
            assert cost.measure_flops(partial(call, feature_map=elu_feature_map)) == mapped


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="cached: got 2 beside k_len, wanted 0"):
        cost.multi_head_flops(12, 3, q_len=1, k_len=5, cached=2)
