"""Multi-head attention against loops, torch's module and itself in steps."""

import functools
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from companion.cache import KVCache
from companion.layers import MultiHeadAttention, ProjectedMemory
from companion.positions import alibi_bias, rotary_frequencies, rotate
from tests import oracle, test_attention
from tests.oracle import as_numpy, assert_matches

B, H, G, D, E, Q, K = 2, 6, 3, 4, 10, 5, 7
KEY_DIM, VALUE_DIM = 11, 13
float64 = torch.float64


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.asarray(oracle.draw(*shape, seed=seed))


def keep(*shape: int) -> Tensor:
    return torch.asarray(test_attention.keep(*shape))


def make(**options: Any) -> MultiHeadAttention:
    """Make a layer whose every weight is random: ones and zeros would hide what they multiply."""
    torch.manual_seed(1)
    options = {"head_dim": D, **options}
    layer = MultiHeadAttention(E, H, **options).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    return layer


# The layer in loops


def project(layer: Any, x: Any) -> Any:
    return x @ as_numpy(layer.weight).T + (0.0 if layer.bias is None else as_numpy(layer.bias))


def heads(projected: Any, norm: Any, places: Any, width: int) -> Any:
    """(b, n, h * d) to (b, h, n, d): head h has the features from h * d on."""
    batch, length, features = projected.shape
    result = np.zeros((batch, features // width, length, width))
    for b, h, i in np.ndindex(*result.shape[:3]):
        head = projected[b, i, h * width : (h + 1) * width]
        if norm is not None:
            square = math.fsum(head**2) / width
            head = head / math.sqrt(square + 1e-6) * as_numpy(norm.weight)
        if places is not None:
            head = turn(head, places[b, i])
        result[b, h, i] = head
    return result


def turn(head: Any, place: float) -> Any:
    """Rotate feature i with feature i + d / 2, as numbers of the complex plane."""
    half = len(head) // 2
    result = np.zeros(len(head))
    for i in range(half):
        angle = place * 10_000 ** (-2 * i / len(head))
        turned = complex(head[i], head[i + half]) * complex(math.cos(angle), math.sin(angle))
        result[i], result[i + half] = turned.real, turned.imag
    return result


def loops(
    layer: MultiHeadAttention,
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    *,
    attn_mask: Tensor | None = None,
    is_causal: bool = False,
    positions: Tensor | None = None,
) -> tuple[Any, Any]:
    """What a layer gives, and its weights."""
    x = as_numpy(query)
    memory = x if key is None else as_numpy(key)
    values = memory if value is None else as_numpy(value)
    batch, q, k = x.shape[0], x.shape[1], memory.shape[1]
    places = key_places = None
    if layer.rotary is not None:
        places = np.broadcast_to(np.arange(q) if positions is None else positions, (batch, q))
        key_places = places if key is None else np.broadcast_to(np.arange(k), (batch, k))
    mask = oracle.mask(q, k, lambda i, j: True)
    if layer.window is not None:
        before, after = layer.window
        mask = oracle.mask(q, k, lambda i, j: i - before <= j <= i + after)
    if attn_mask is not None:
        given = as_numpy(attn_mask)
        mask = mask & given if given.dtype == bool else np.where(mask, given, -math.inf)
    found = oracle.attention(
        heads(project(layer.query_proj, x), layer.query_norm, places, layer.head_dim),
        heads(project(layer.key_proj, memory), layer.key_norm, key_places, layer.head_dim),
        heads(project(layer.value_proj, values), None, None, layer.head_dim),
        mask.reshape(q, k) if mask.size == 0 else mask,
        is_causal=is_causal,
        softcap=layer.softcap,
        sinks=None if layer.sinks is None else as_numpy(layer.sinks),
    )
    joined = np.concatenate([found.output[:, h] for h in range(layer.num_heads)], axis=-1)
    return project(layer.output_proj, joined), found.weights


def check(layer: MultiHeadAttention, *arrays: Tensor, **options: Any) -> None:
    expected, expected_weights = loops(layer, *arrays, **options)
    output, weights = layer(*arrays, **options, need_weights=True)
    assert_matches(output, expected, tolerance=1e-11)
    assert_matches(weights, expected_weights)
    assert_matches(layer(*arrays, **options), expected, tolerance=1e-11)


LAYERS: dict[str, dict[str, Any]] = {
    "plain": {},
    "bias": {"bias": True},
    "grouped": {"num_kv_heads": G},
    "one key head": {"num_kv_heads": 1},
    "norm": {"qk_norm": True},
    "rotary": {"rotary": True},
    "norm, then rotary": {"qk_norm": True, "rotary": True},
    "window": {"window": 3},
    "window of one": {"window": 1},
    "window on both sides": {"window": (1, 2)},
    "softcap": {"softcap": 1.5},
    "sinks": {"sinks": True},
    "all": {
        "bias": True, "num_kv_heads": G, "qk_norm": True, "rotary": True, "window": 4,
        "softcap": 1.5, "sinks": True,
    },
}  # fmt: skip
CALLS: dict[str, dict[str, Any]] = {
    "full": {},
    "causal": {"is_causal": True},
    "mask": {"attn_mask": keep(B, 1, Q, Q)},
    "bias": {"attn_mask": draw(H, Q, Q)},
    "mask and causal": {"attn_mask": keep(H, Q, Q), "is_causal": True},
}


@pytest.mark.parametrize("kind", LAYERS)
def test_attention_is_the_loops(kind: str) -> None:
    for call in CALLS.values():
        check(make(**LAYERS[kind]), draw(B, Q, E), **call)
    layer = make(**LAYERS[kind], key_dim=KEY_DIM, value_dim=VALUE_DIM)
    arrays = draw(B, Q, E), draw(B, K, KEY_DIM), draw(B, K, VALUE_DIM)
    check(layer, *arrays)
    check(layer, *arrays, attn_mask=keep(Q, K), is_causal=True)


def test_positions_turn_queries_and_keys() -> None:
    layer, x = make(rotary=True), draw(B, Q, E)
    for positions in (torch.tensor([3, 9, 1, 4, 4]), torch.tensor([[0, 2, 4, 6, 8], [5] * 5])):
        check(layer, x, positions=positions)
        check(layer, x, positions=positions, is_causal=True)
    shifted = layer(x, positions=torch.arange(Q) + 1000)
    torch.testing.assert_close(shifted, layer(x), rtol=1e-9, atol=1e-9)


def test_lengths() -> None:
    layer = make(num_kv_heads=G)
    for q, k in ((1, 1), (1, 5), (7, 1), (0, 5), (7, 0), (0, 0)):
        check(layer, draw(B, q, E), draw(B, k, E))
        check(layer, draw(B, q, E), is_causal=True)


def test_rotary_takes_what_turns_heads() -> None:
    """Frequencies that are doubled are positions that are doubled."""
    twice = functools.partial(rotate, frequencies=2 * rotary_frequencies(D))
    x, places = draw(B, Q, E), torch.tensor([3, 9, 1, 4, 4])
    expected = make(rotary=True)(x, positions=2 * places)
    torch.testing.assert_close(make(rotary=twice)(x, positions=places), expected)


# Decoding in steps


def test_a_memory_is_projected_once() -> None:
    layer = make(num_kv_heads=G, qk_norm=True, rotary=True, key_dim=KEY_DIM, value_dim=VALUE_DIM)
    query, key, value = draw(B, Q, E), draw(B, K, KEY_DIM), draw(B, K, VALUE_DIM)
    whole = layer(query, key, value)
    memory = layer.project_memory(key, value)
    assert memory.key.shape == memory.value.shape == (B, G, K, D)
    calls = []
    layer.key_proj.register_forward_hook(lambda *_: calls.append(1))
    steps = [layer(query[:, t : t + 1], memory, positions=torch.tensor([t])) for t in range(Q)]
    torch.testing.assert_close(torch.cat(steps, 1), whole)
    assert calls == []
    beams = ProjectedMemory(*(part[[1, 1, 0]] for part in memory))
    torch.testing.assert_close(layer(query[[1, 1, 0]], beams), whole[[1, 1, 0]])


def test_the_keys_of_a_memory_have_places_too() -> None:
    layer, x = make(rotary=True), draw(B, Q, E)
    places = torch.tensor([3, 9, 1, 4, 4])
    memory = layer.project_memory(x, positions=places)
    torch.testing.assert_close(layer(x, memory, positions=places), layer(x, positions=places))


CASES: list[tuple[str, int | None, int | None]] = [
    ("plain", None, K), ("grouped", None, 2 * K), ("rotary", None, K), ("window", 3, K),
    ("window", 5, None), ("window of one", 1, None), ("all", None, K), ("all", 4, None),
    ("all", 6, K),
]  # fmt: skip


def fresh(layer: MultiHeadAttention, window: int | None, max_len: int | None) -> KVCache:
    return KVCache(B, layer.num_kv_heads, max_len, layer.head_dim, window=window, dtype=float64)


@pytest.mark.parametrize(("kind", "window", "max_len"), CASES)
def test_cached_steps_are_one_pass_at_every_split(
    kind: str, window: int | None, max_len: int | None
) -> None:
    layer, x = make(**LAYERS[kind]), draw(B, K, E)
    bias = torch.where(keep(B, 1, K, K), alibi_bias(H, K, like=x), -math.inf)
    for attn_mask in (None, bias, keep(2, K)[0]):
        whole, weights = layer(x, is_causal=True, attn_mask=attn_mask, need_weights=True)
        for split in range(K + 1):
            for places in ([0, split, K], [0, *range(split, K + 1)]):
                cache = fresh(layer, window, max_len)
                for a, b in itertools.pairwise(places):
                    part = attn_mask if attn_mask is None else attn_mask[..., :b]
                    part = bias[..., a:b, :b] if attn_mask is bias else part
                    with torch.no_grad():
                        output, seen = layer(
                            x[:, a:b], is_causal=True, attn_mask=part, cache=cache,
                            need_weights=True,
                        )  # fmt: skip
                    row = torch.zeros(B, H, b - a, K, dtype=float64)
                    row[..., cache.key_positions] = seen
                    torch.testing.assert_close(output, whole[:, a:b], rtol=1e-12, atol=1e-12)
                    torch.testing.assert_close(row, weights[:, :, a:b], rtol=1e-12, atol=1e-12)


def by_counts(
    layer: MultiHeadAttention, cache: KVCache, counts: list[list[int]], **options: Any
) -> list[Tensor]:
    """What the tokens of each sequence get when so many of them come at a time, then padding."""
    x, done, found = draw(B, K, E), [0] * B, [list[Tensor]() for _ in range(B)]
    for count in counts:
        tokens = torch.full((B, max(count), E), 1e3, dtype=float64)
        for b, n in enumerate(count):
            tokens[b, :n] = x[b, done[b] : done[b] + n]
        lengths = None if min(count) == max(count) else torch.tensor(count)
        with torch.no_grad():
            output = layer(tokens, cache=cache, lengths=lengths, **options)
        for b, n in enumerate(count):
            found[b].append(output[b, :n])
            done[b] += n
    assert cache.lengths.tolist() == done
    return [torch.cat(rows) for rows in found]


@pytest.mark.parametrize(
    ("kind", "window", "max_len"), [("rotary", None, K), ("window", 3, K), ("all", 4, None)]
)
def test_sequences_of_unequal_length_go_on_and_finished_ones_stay(
    kind: str, window: int | None, max_len: int | None
) -> None:
    layer, cases = make(**LAYERS[kind]), ([[4, 2], [1, 1], [1, 0], [0, 1]], [[4, 4], [1, 0]])
    whole = layer(draw(B, K, E), is_causal=True)
    for counts in cases:
        found = by_counts(layer, fresh(layer, window, max_len), counts, is_causal=True)
        for b, rows in enumerate(found):
            torch.testing.assert_close(rows, whole[b, : len(rows)])


def test_a_prefix_may_look_both_ways_and_what_follows_back() -> None:
    layer, x = make(num_kv_heads=G, rotary=True), draw(B, K, E)
    prefix = torch.arange(K) < torch.tensor([4, 2])[:, None, None]
    mask = torch.ones(K, K, dtype=torch.bool).tril() | prefix
    whole = layer(x, attn_mask=mask[:, None])
    for b, rows in enumerate(by_counts(layer, fresh(layer, None, K), [[4, 2], *[[1, 1]] * 3])):
        torch.testing.assert_close(rows, whole[b, : len(rows)])


@pytest.mark.parametrize("window", [None, 4])
def test_gradients_through_a_cache_are_those_of_one_pass(window: int | None) -> None:
    layer, x = make(**LAYERS["all"]), draw(B, K, E).requires_grad_()
    leaves = [x, *layer.parameters()]
    expected = torch.autograd.grad(layer(x, is_causal=True).square().sum(), leaves)
    for places in ([0, 3, K], list(range(K + 1))):
        cache = fresh(layer, window, K)
        steps = [
            layer(x[:, a:b], is_causal=True, cache=cache) for a, b in itertools.pairwise(places)
        ]
        actual = torch.autograd.grad(torch.cat(steps, 1).square().sum(), leaves)
        torch.testing.assert_close(actual, expected)


def test_torchs_function_will_do() -> None:
    function = torch.nn.functional.scaled_dot_product_attention
    options = {"num_kv_heads": G, "rotary": True, "window": 3}
    ours, theirs = make(**options), make(**options, attention_fn=function)
    x = draw(B, Q, E)
    torch.testing.assert_close(theirs(x), ours(x))
    torch.testing.assert_close(theirs(x, x, is_causal=True), ours(x, x, is_causal=True))


def test_dropout_is_for_training_alone_and_weights_come_before_it() -> None:
    layer, x = make(dropout_p=0.5), draw(B, Q, E)
    without = make()(x, need_weights=True)
    torch.manual_seed(0)
    output, weights = layer(x, need_weights=True)
    torch.testing.assert_close(weights, without[1])
    assert not torch.allclose(output, without[0])
    assert not torch.equal(layer(x), layer(x))
    torch.testing.assert_close(layer.eval()(x, need_weights=True), without)


# Where it runs


def test_autocast_takes_the_attention_to_low_precision() -> None:
    layer, x = MultiHeadAttention(E, H, head_dim=D, **LAYERS["all"]), draw(B, Q, E).float()
    expected = layer(x, is_causal=True)
    seen = []
    layer.output_proj.register_forward_pre_hook(lambda _, given: seen.append(given[0].dtype))
    with torch.autocast("cpu", torch.bfloat16):
        actual = layer(x, is_causal=True)
        cache = KVCache(B, layer.num_kv_heads, K, D, dtype=torch.bfloat16)
        steps = [layer(x[:, t : t + 1], is_causal=True, cache=cache) for t in range(Q)]
    assert set(seen) == {actual.dtype} == {torch.bfloat16}
    for output in (actual, torch.cat(steps, 1)):
        torch.testing.assert_close(output.float(), expected, rtol=0.05, atol=0.02)


def test_torchs_module_agrees_and_low_precision_is_at_most_twice_as_wrong() -> None:
    torch.manual_seed(0)
    theirs = torch.nn.MultiheadAttention(12, 3, batch_first=True, dtype=float64)
    ours = MultiHeadAttention(12, 3, bias=True).double()
    torch.nn.init.normal_(theirs.in_proj_bias)
    torch.nn.init.normal_(theirs.out_proj.bias)
    parts = [ours.query_proj, ours.key_proj, ours.value_proj]
    stacked = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for part, weight, bias in zip(parts, *stacked, strict=True):
        part.load_state_dict({"weight": weight, "bias": bias})
    ours.output_proj.load_state_dict(theirs.out_proj.state_dict())
    x, memory = draw(B, 63, 12), draw(B, 61, 12)
    mask = keep(63, 61) | (torch.arange(63) == 62)[:, None]  # True there means: may not
    expected = theirs(x, memory, memory, attn_mask=~mask, average_attn_weights=False)
    torch.testing.assert_close(ours(x, memory, attn_mask=mask, need_weights=True), expected)
    for dtype in (torch.float16, torch.bfloat16):
        low = x.to(dtype), memory.to(dtype), memory.to(dtype)
        plain, _ = theirs.to(dtype)(*low)
        output = ours.to(dtype)(*low)
        assert output.dtype == dtype
        exact = ours.double()(*(array.double() for array in low))
        assert (output - exact).abs().max() <= 2 * (plain - exact).abs().max()


@pytest.mark.parametrize("kind", ["norm, then rotary", "softcap", "sinks", "all"])
def test_gradients(kind: str) -> None:
    layer = make(**LAYERS[kind], key_dim=KEY_DIM)
    arrays = [x.requires_grad_() for x in (draw(1, 3, E), draw(1, 5, KEY_DIM), draw(1, 5, E))]

    def call(*_: Tensor) -> Any:  # weights are changed in their places
        return layer(*arrays, is_causal=True, need_weights=True)

    assert torch.autograd.gradcheck(call, [*arrays, *layer.parameters()], fast_mode=True)


def test_what_would_give_a_wrong_answer_is_refused() -> None:
    x, memory, plain, near = draw(B, Q, E), draw(B, K, E), make(), make(window=3)
    few = ProjectedMemory(*(part[:, :3] for part in plain.project_memory(memory)))
    cache, ring = fresh(plain, None, K), fresh(near, 3, K)
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: make(num_kv_heads=4), "num_kv_heads: got 4, wanted a divisor of num_heads, 6"),
        (lambda: plain(x, few), "key: got shape (2, 3, 7, 4), wanted (..., g, k, d) (6, 7, 4)"),
        (lambda: plain(x, attn_mask=keep(Q, 4)),
            "attn_mask: got shape (5, 4), wanted (..., 5): a mask covers every key, cached ones"),
        (lambda: plain(x, memory, cache=cache), "cache: got one beside a key, wanted None"),
        (lambda: make(num_kv_heads=G)(x, cache=cache),
            "cache: got (2, 6, 4, 4) for (b, g, d, v), wanted (2, 3, 4, 4), the layer's"),
        (lambda: near(x, cache=fresh(near, 2, K)),
            "cache: got window 2, wanted None or at least 3, as the layer has"),
        (lambda: plain(x, cache=fresh(plain, 5, K)),
            "cache: got window 5, wanted None, as the layer has"),
        (lambda: make(window=(2, 1))(x, cache=cache), "is_causal: got False with a cache"),
        (lambda: plain(x, lengths=torch.ones(B, dtype=torch.int64)),
            "lengths: got some without a cache, wanted None and a padding mask"),
        (lambda: near(x, cache=ring, attn_mask=keep(Q, 3)), "attn_mask"),
    ]  # fmt: skip
    for call, message in cases:
        with pytest.raises(ValueError, match="^" + re.escape(message)):
            call()
    assert (ring.length, ring.key_positions.tolist()) == (0, []), "a refused call stores nothing"
