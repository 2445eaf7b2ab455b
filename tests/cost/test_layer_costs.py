"""Formulas of layers against the products that the layers do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from companion.cache import KVCache
from companion.cost import (
    AttentionFlops,
    additive_flops,
    feed_forward_flops,
    linear_attention_flops,
    luong_flops,
    matmul_flops,
    measure_flops,
    multi_head_flops,
    recurrent_flops,
    training_flops,
)
from companion.layers import AdditiveAttention, FeedForward, LuongAttention, MultiHeadAttention
from companion.linear import elu_feature_map, linear_attention

ODD = (1, 3, 5, 7, 11, 13)


def drawn(count: int, *names: str) -> Iterator[dict[str, int]]:
    """Draw odd sizes, the same at every run."""
    generator = random.Random(7)
    for _ in range(count):
        yield {name: generator.choice(ODD) for name in names}


def zeros(*shape: int) -> Any:
    return torch.zeros(*shape, device="meta", requires_grad=True)


def counted(call: Any) -> int:
    """What torch's counter says by itself."""
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        call()
    return int(counter.get_total_flops())


def _both_passes(call: Any) -> None:
    call().sum().backward()


def _first(call: Any) -> Any:
    return call()[0]


def check(call: Any, forward: int, *, trains: bool = True) -> None:
    """Hold a formula against torch's counter and ours, forward and with the backward pass."""
    assert counted(call) == measure_flops(call) == forward
    if trains:
        assert counted(lambda: call().sum().backward()) == training_flops(forward)


def test_multi_head_attention_to_itself() -> None:
    for bias in (False, True):
        for need_weights in (False, True):
            for s in drawn(4, "b", "n", "e", "g", "r", "d"):
                b, n, e, h, d = s["b"], s["n"], s["e"], s["g"] * s["r"], s["d"]
                with torch.device("meta"):
                    layer = MultiHeadAttention(e, h, num_kv_heads=s["g"], head_dim=d, bias=bias)
                x = zeros(b, n, e)
                result = multi_head_flops(
                    e, h, q_len=n, num_kv_heads=s["g"], head_dim=d, batch_size=b
                )
                for is_causal in (False, True):
                    call = partial(layer, x, is_causal=is_causal, need_weights=need_weights)
                    check(partial(_first, call) if need_weights else call, result.total)


def test_multi_head_attention_to_a_memory() -> None:
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
        check(partial(layer, x, key, value), multi_head_flops(e, h, **sizes).total)
        memory = layer.project_memory(key, value)
        result = multi_head_flops(e, h, projected=True, **sizes)
        check(partial(layer, x, memory), result.total, trains=False)


def test_prefill_and_steps_with_a_cache() -> None:
    for h, g in [(6, 6), (6, 3), (6, 1)]:
        layer = MultiHeadAttention(12, h, num_kv_heads=g, head_dim=5).eval()
        cache, done = KVCache(3, g, 11, 5), 0
        for new in (7, 1, 3):  # the prompt, a step, several tokens at once
            x = torch.ones(3, new, 12)
            result = multi_head_flops(
                12, h, q_len=new, cached=done, num_kv_heads=g, head_dim=5, batch_size=3
            )
            with torch.no_grad():
                done_now = measure_flops(partial(layer, x, is_causal=True, cache=cache))
            assert done_now == result.total
            done += new


def test_a_cache_saves_projections_and_no_pair() -> None:
    whole = multi_head_flops(12, 3, q_len=7)
    steps = [multi_head_flops(12, 3, q_len=1, cached=n) for n in range(7)]
    assert sum(step.projections for step in steps) == whole.projections
    assert sum(step.scores for step in steps) * 2 == whole.scores + 7 * steps[0].scores


def test_additive_attention() -> None:
    for s in drawn(8, "b", "q", "k", "dq", "dk", "hidden"):
        with torch.device("meta"):
            layer = AdditiveAttention(s["dq"], s["dk"], s["hidden"])
        query, memory = zeros(s["b"], s["q"], s["dq"]), zeros(s["b"], s["k"], s["dk"])
        sizes: dict[str, Any] = {"q_len": s["q"], "k_len": s["k"], "batch_size": s["b"]}
        result = additive_flops(s["dq"], s["dk"], s["hidden"], **sizes)
        _check_with_vector(layer, query, memory, result, result.scores)
        keys = layer.project(memory)
        projected = additive_flops(s["dq"], s["dk"], s["hidden"], projected=True, **sizes)
        assert measure_flops(partial(layer, query, keys, memory)) == projected.total


def test_luongs_attention() -> None:
    for score in ("dot", "general", "concat"):
        for predictive in (False, True):
            for s in drawn(5, "b", "q", "k", "dq", "dk", "hidden"):
                key_dim = s["dq"] if score == "dot" else s["dk"]
                hidden = s["hidden"] if score == "concat" else None
                options: dict[str, Any] = {
                    "score": score,
                    "hidden_dim": hidden,
                    "predictive": predictive,
                }
                with torch.device("meta"):
                    layer = LuongAttention(
                        s["dq"], key_dim, window=2 if predictive else None, **options
                    )
                query, memory = zeros(s["b"], s["q"], s["dq"]), zeros(s["b"], s["k"], key_dim)
                sizes: dict[str, Any] = {"q_len": s["q"], "k_len": s["k"], "batch_size": s["b"]}
                result = luong_flops(s["dq"], key_dim, **options, **sizes)
                vectors = result.scores if score == "concat" else 0
                vectors += s["b"] * matmul_flops(s["q"], s["dq"], 1) if predictive else 0
                _check_with_vector(layer, query, memory, result, vectors)
                keys = layer.project(memory)
                projected = luong_flops(s["dq"], key_dim, projected=True, **options, **sizes)
                assert measure_flops(partial(layer, query, keys, memory)) == projected.total


def _check_with_vector(
    layer: Any, query: Tensor, memory: Tensor, result: AttentionFlops, vectors: int
) -> None:
    """Torch's counter misses products with a vector, and one of their gradients is no product."""

    def call() -> Any:
        return layer(query, layer.project(memory), memory)

    assert measure_flops(call) == result.total
    assert counted(call) == result.total - vectors
    assert measure_flops(lambda: call().sum().backward()) == 3 * result.total - vectors


def test_feed_forward() -> None:
    for bias in (False, True):
        for gated in (False, True):
            for s in drawn(6, "b", "n", "e", "f"):
                with torch.device("meta"):
                    layer = FeedForward(s["e"], s["f"], gated=gated, bias=bias)
                x = zeros(s["b"], s["n"], s["e"])
                result = feed_forward_flops(s["e"], s["f"], tokens=s["b"] * s["n"], gated=gated)
                check(partial(layer, x), result)


def gru(x: Tensor, weights: Any) -> Tensor:
    """A GRU over (b, n, e), one matrix product at a time."""
    inputs, hidden = weights.weight_ih_l0.T, weights.weight_hh_l0.T
    state = x.new_zeros(x.shape[0], hidden.shape[0])
    for step in x.unbind(1):
        reset, update, new = (step @ inputs + weights.bias_ih_l0).chunk(3, -1)
        reset_h, update_h, new_h = (state @ hidden + weights.bias_hh_l0).chunk(3, -1)
        reset, update = torch.sigmoid(reset + reset_h), torch.sigmoid(update + update_h)
        state = (1 - update) * torch.tanh(new + reset * new_h) + update * state
    return state


def lstm(x: Tensor, weights: Any) -> Tensor:
    """An LSTM over (b, n, e), one matrix product at a time."""
    inputs, hidden = weights.weight_ih_l0.T, weights.weight_hh_l0.T
    state = memory = x.new_zeros(x.shape[0], hidden.shape[0])
    for step in x.unbind(1):
        gates = step @ inputs + weights.bias_ih_l0 + state @ hidden + weights.bias_hh_l0
        enter, forget, new, leave = gates.chunk(4, -1)
        memory = torch.sigmoid(forget) * memory + torch.sigmoid(enter) * torch.tanh(new)
        state = torch.sigmoid(leave) * torch.tanh(memory)
    return state


CELLS: dict[Any, Any] = {"gru": (nn.GRU, gru), "lstm": (nn.LSTM, lstm)}


def test_a_recurrent_layer_does_what_its_cell_written_out_does() -> None:
    for cell in CELLS:
        make, written_out = CELLS[cell]
        for b, n, e, h in ((3, 5, 7, 11), (1, 1, 3, 5), (2, 7, 1, 1)):
            layer, x = make(e, h, batch_first=True), torch.randn(b, n, e)
            with FlopCounterMode(display=False) as counter:
                state = written_out(x, layer)
            last = layer(x)[1]
            torch.testing.assert_close(state, (last if cell == "gru" else last[0])[0])
            result = recurrent_flops(cell, e, h, tokens=b * n)
            assert counter.get_total_flops() == result
            assert measure_flops(partial(layer, x)) == result
            meta = make(e, h, batch_first=True, device="meta")
            assert measure_flops(partial(meta, x.to("meta"))) == result


def test_linear_attention() -> None:
    for is_causal in (False, True):
        for s in drawn(4, "h", "n", "d", "v"):
            query, key = zeros(s["h"], s["n"], s["d"]), zeros(s["h"], s["n"], s["d"])
            given = query, key, zeros(s["h"], s["n"], s["v"])
            sizes: dict[str, Any] = {
                "length": s["n"], "num_heads": s["h"], "is_causal": is_causal
            }  # fmt: skip
            call = partial(linear_attention, *given, is_causal=is_causal)
            result = linear_attention_flops(s["d"], s["v"], **sizes)
            assert measure_flops(call) == result
            assert measure_flops(partial(_both_passes, call)) == training_flops(result)
            mapped = linear_attention_flops(s["d"], s["v"], normalised=True, **sizes)
            assert measure_flops(partial(call, feature_map=elu_feature_map)) == mapped
        short, long = (
            linear_attention_flops(7, 5, length=n, is_causal=is_causal) for n in (64, 128)
        )
        assert long == (4 if is_causal else 2) * short


def test_norms_and_embeddings_have_no_products() -> None:
    for norm in (nn.LayerNorm(7), nn.RMSNorm(7)):
        assert counted(norm(torch.ones(3, 7)).sum().backward) == 0
        assert counted(partial(norm, torch.ones(3, 7))) == 0
    table, ids = nn.Embedding(11, 7), torch.tensor([[2, 3]])
    assert counted(lambda: table(ids).sum().backward()) == 0
    assert counted(lambda: nn.functional.linear(table(ids), table.weight)) == matmul_flops(2, 7, 11)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="q_len: got 0, wanted at least 1"):
        multi_head_flops(12, 3, q_len=0)
    with pytest.raises(TypeError, match="q_len: got float"):
        multi_head_flops(12, 3, q_len=2.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cached: got 2 beside k_len, wanted 0"):
        multi_head_flops(12, 3, q_len=1, k_len=5, cached=2)
    with pytest.raises(ValueError, match="projected: got True without k_len"):
        multi_head_flops(12, 3, q_len=1, projected=True)
    with pytest.raises(ValueError, match="num_heads: got 5, wanted a divisor of embed_dim, 12"):
        multi_head_flops(12, 5, q_len=1)
    with pytest.raises(ValueError, match="hidden_dim: got 0"):
        additive_flops(3, 5, 0, q_len=1, k_len=1)
    any_score: Any = "cosine"
    with pytest.raises(ValueError, match="score: got 'cosine', wanted one of"):
        luong_flops(3, 5, q_len=1, k_len=1, score=any_score)
    with pytest.raises(ValueError, match="tokens: got 0"):
        feed_forward_flops(3, 5, tokens=0)
