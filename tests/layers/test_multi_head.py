"""Multi-head attention against loops, torch's module and itself in steps."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from companion.cache import KVCache
from companion.layers import MultiHeadAttention, ProjectedMemory
from companion.positions import alibi_bias, rotary_frequencies, rotate
from tests import oracle
from tests.oracle import as_numpy, assert_matches

B, H, G, D, E, Q, K = 2, 6, 3, 4, 10, 5, 7
KEY_DIM, VALUE_DIM = 11, 13
float64 = torch.float64


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.asarray(np.random.default_rng([seed, *shape]).normal(size=shape))


def keep(*shape: int) -> Tensor:
    """A boolean mask whose last query may attend to nothing."""
    mask = np.random.default_rng(3).random(shape) < 0.6
    mask[..., 0] |= ~mask.any(-1)
    mask[..., -1, :] = False
    return torch.asarray(mask)


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
    """(b, n, e) through one projection, a place at a time."""
    weight = as_numpy(layer.weight)
    bias = 0.0 if layer.bias is None else as_numpy(layer.bias)
    result = np.zeros((*x.shape[:2], len(weight)))
    for b, i, c in np.ndindex(*result.shape):
        result[b, i, c] = math.fsum(weight[c] * x[b, i])
    return result + bias


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


def test_lengths() -> None:
    layer = make(num_kv_heads=G)
    for q, k in ((1, 1), (1, 5), (7, 1), (7, 5), (0, 5), (7, 0), (0, 0)):
        check(layer, draw(B, q, E), draw(B, k, E))
        check(layer, draw(B, q, E), is_causal=True)


def test_positions_turn_queries_and_keys() -> None:
    layer, x = make(rotary=True), draw(B, Q, E)
    for positions in (torch.tensor([3, 9, 1, 4, 4]), torch.tensor([[0, 2, 4, 6, 8], [5] * 5])):
        check(layer, x, positions=positions)
        check(layer, x, positions=positions, is_causal=True)
    shifted = layer(x, positions=torch.arange(Q) + 1000)
    torch.testing.assert_close(shifted, layer(x), rtol=1e-9, atol=1e-9)


def test_rotary_takes_what_turns_heads() -> None:
    for interleaved in (False, True):
        frequencies = rotary_frequencies(2, base=100.0)
        by_hand = make()
        layer = make(
            rotary=functools.partial(rotate, frequencies=frequencies, interleaved=interleaved)
        )
        x = draw(B, Q, E)
        query, key, value = (
            projection(x).unflatten(-1, (H, D)).transpose(1, 2)
            for projection in (by_hand.query_proj, by_hand.key_proj, by_hand.value_proj)
        )
        query, key = (
            rotate(part, torch.arange(Q), frequencies=frequencies, interleaved=interleaved)
            for part in (query, key)
        )
        weights = (query @ key.mT / math.sqrt(D)).softmax(-1)
        expected = by_hand.output_proj((weights @ value).transpose(1, 2).flatten(2))
        torch.testing.assert_close(layer(x), expected)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    sizes=st.tuples(*(st.integers(1, n) for n in (2, 5, 5, 3, 3))),
    options=st.fixed_dictionaries({
        "head_dim": st.sampled_from([2, 4, 6]), "bias": st.booleans(), "qk_norm": st.booleans(),
        "rotary": st.booleans(), "window": st.sampled_from([None, 1, 2, (1, 1), (0, 3)]),
        "softcap": st.sampled_from([None, 2.0]), "sinks": st.booleans(),
    }),
    own=st.booleans(), mask=st.sampled_from(["none", "rows", "padding", "bias"]),
    is_causal=st.booleans(),
)  # fmt: skip
def test_any_layer_is_the_loops(
    sizes: tuple[int, ...], options: dict[str, Any], own: bool, mask: str, is_causal: bool
) -> None:
    b, q, k, groups, repeats = sizes
    layer = MultiHeadAttention(3, groups * repeats, num_kv_heads=groups, **options).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter)
    k = q if own else k
    arrays = (draw(b, q, 3), *(() if own else (draw(b, k, 3, seed=1),)))
    masks = {
        "none": None, "rows": keep(q, k), "padding": keep(b, 1, 1, k),
        "bias": draw(groups * repeats, 1, k),
    }  # fmt: skip
    check(layer, *arrays, attn_mask=masks[mask], is_causal=is_causal)


# Torch's own module


def twins(bias: bool, **dims: Any) -> tuple[torch.nn.MultiheadAttention, MultiHeadAttention]:
    """Torch's module and ours with its weights."""
    torch.manual_seed(0)
    e, theirs = 12, {"kdim": dims.get("key_dim"), "vdim": dims.get("value_dim")}
    module = torch.nn.MultiheadAttention(e, 3, bias=bias, batch_first=True, dtype=float64, **theirs)
    layer = MultiHeadAttention(e, 3, bias=bias, **dims).double()
    weights: tuple[Tensor, ...]
    if dims:
        weights = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    else:
        weights = module.in_proj_weight.chunk(3)
    parts = [layer.query_proj, layer.key_proj, layer.value_proj]
    with torch.no_grad():
        for part, weight in zip(parts, weights, strict=True):
            part.weight.copy_(weight)
        layer.output_proj.weight.copy_(module.out_proj.weight)
        if bias:
            torch.nn.init.normal_(module.in_proj_bias)
            torch.nn.init.normal_(module.out_proj.bias)
            for part, values in zip(parts, module.in_proj_bias.chunk(3), strict=True):
                part.bias.copy_(values)
            layer.output_proj.bias.copy_(module.out_proj.bias)
    return module, layer


@pytest.mark.parametrize(
    ("kind", "dims", "bias"),
    [
        (None, {}, True),
        ("mask", {"key_dim": 5, "value_dim": 7}, False),
        ("float", {}, False),
        ("padding", {"key_dim": 5, "value_dim": 7}, True),
    ],
)
def test_torchs_module_agrees(kind: str | None, dims: dict[str, int], bias: bool) -> None:
    module, layer = twins(bias, **dims)
    query = draw(B, Q, 12).requires_grad_()
    key = draw(B, K, dims.get("key_dim", 12), seed=1).requires_grad_()
    value = draw(B, K, dims.get("value_dim", 12), seed=2).requires_grad_()
    allowed = keep(Q, K) | (torch.arange(Q) == Q - 1)[:, None]  # theirs would be NaN there
    padding = torch.arange(K) < torch.tensor([K, 3])[:, None]
    theirs: dict[str, Any] = {
        None: {},
        "mask": {"attn_mask": ~allowed},
        "float": {"attn_mask": draw(Q, K)},
        "padding": {"key_padding_mask": ~padding},
    }[kind]
    ours = {None: None, "mask": allowed, "float": draw(Q, K), "padding": padding[:, None, None]}[
        kind
    ]
    expected, weights = module(query, key, value, average_attn_weights=False, **theirs)
    actual = layer(query, key, value, attn_mask=ours, need_weights=True)
    torch.testing.assert_close(actual, (expected, weights), rtol=1e-12, atol=1e-12)
    leaves = [query, key, value]
    torch.testing.assert_close(
        torch.autograd.grad(actual[0].square().sum(), leaves),
        torch.autograd.grad(expected.square().sum(), leaves),
    )


# Properties


def test_leading_axes_are_free() -> None:
    for lead in ((), (3,), (2, 3)):
        layer = make(**LAYERS["all"])
        x, memory = draw(*lead, Q, E), draw(*lead, K, E)
        output, weights = layer(x, memory, is_causal=True, need_weights=True)
        assert (output.shape, weights.shape) == ((*lead, Q, E), (*lead, H, Q, K))
        for place in np.ndindex(*lead):
            expected = layer(x[place][None], memory[place][None], is_causal=True)[0]
            torch.testing.assert_close(output[place], expected)


def test_a_memory_broadcasts() -> None:
    layer = make()
    x, memory = draw(B, Q, E), draw(1, K, E)
    expected = layer(x, memory.expand(B, K, E))
    torch.testing.assert_close(layer(x, memory), expected)
    mask = keep(B, 1, Q, K)
    torch.testing.assert_close(
        layer(x, memory, attn_mask=mask), layer(x, memory.expand(B, K, E), attn_mask=mask)
    )


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


CACHES: dict[str, list[tuple[int | None, int | None]]] = {
    "plain": [(None, K)],
    "grouped": [(None, 2 * K)],
    "rotary": [(None, K)],
    "window": [(None, K), (3, K), (5, None)],
    "window of one": [(1, None)],
    "all": [(None, K), (4, None), (6, K), (K, None)],
}
CASES = [(kind, window, max_len) for kind, made in CACHES.items() for window, max_len in made]
SOME = [("rotary", None, K), ("window", 3, K), ("all", 4, None)]


def fresh(layer: MultiHeadAttention, window: int | None, max_len: int | None) -> KVCache:
    return KVCache(B, layer.num_kv_heads, max_len, layer.head_dim, window=window, dtype=float64)


def cuts(split: int) -> list[list[int]]:
    """Where to cut K places: in two, and in single steps after the first part."""
    return [[0, split, K], [0, *range(split, K + 1)]]


def in_steps(
    layer: MultiHeadAttention, cache: KVCache, places: list[int], attn_mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """The output of causal steps that end at the given places, and weights by key."""
    x, outputs, rows = draw(B, K, E), [], []
    for a, b in itertools.pairwise(places):
        part = attn_mask
        if attn_mask is not None:
            part = attn_mask[:b] if attn_mask.ndim == 1 else attn_mask[..., a:b, :b]
        output, weights = layer(
            x[:, a:b], is_causal=True, attn_mask=part, cache=cache, need_weights=True
        )
        row = torch.zeros(B, H, b - a, K, dtype=float64)
        row[..., cache.key_positions] = weights
        outputs.append(output)
        rows.append(row)
    return torch.cat(outputs, 1), torch.cat(rows, 2)


@pytest.mark.parametrize(("kind", "window", "max_len"), CASES)
def test_cached_steps_are_one_pass_at_every_split(
    kind: str, window: int | None, max_len: int | None
) -> None:
    layer, x = make(**LAYERS[kind]), draw(B, K, E)
    bias = torch.where(keep(B, 1, K, K), alibi_bias(H, K, like=x), -math.inf)
    with torch.no_grad():
        whole = layer(x, is_causal=True, need_weights=True)
        biased = layer(x, is_causal=True, attn_mask=bias, need_weights=True)
        for places in (places for split in range(K + 1) for places in cuts(split)):
            for attn_mask, expected in ((None, whole), (bias, biased)):
                cache = fresh(layer, window, max_len)
                found = in_steps(layer, cache, places, attn_mask)
                torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
            cache = fresh(layer, window, max_len)
            steps = [
                layer(x[:, a:b], is_causal=True, cache=cache) for a, b in itertools.pairwise(places)
            ]
            torch.testing.assert_close(torch.cat(steps, 1), whole[0], rtol=1e-12, atol=1e-12)
        for attn_mask in (keep(B, 1, K, K), keep(2, K)[0]):
            expected = layer(x, is_causal=True, attn_mask=attn_mask, need_weights=True)
            found = in_steps(layer, fresh(layer, window, max_len), [0, 2, 3, 5, 6, K], attn_mask)
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("kind", "window", "max_len"), SOME)
def test_padded_prompts_go_on_as_they_would_alone(
    kind: str, window: int | None, max_len: int | None
) -> None:
    for is_causal in (True, False):
        layer, x = make(**LAYERS[kind]), draw(B, K, E)
        prompts, more = [4, 2], 3
        alone = []
        for b, length in enumerate(prompts):
            cache = KVCache(1, layer.num_kv_heads, max_len, D, window=window, dtype=float64)
            places = [0, *range(length, length + more + 1)]
            steps = [
                layer(x[b : b + 1, i:j], is_causal=is_causal, cache=cache)
                for i, j in itertools.pairwise(places)
            ]
            alone.append(torch.cat(steps, 1)[0])

        cache = fresh(layer, window, max_len)
        padded = x[:, :4].clone()
        padded[1, 2:] = 1e3
        lengths = torch.tensor(prompts)
        with torch.no_grad():
            output = layer(padded, is_causal=is_causal, cache=cache, lengths=lengths)
        for b, length in enumerate(prompts):
            torch.testing.assert_close(output[b, :length], alone[b][:length])
        for step in range(more):
            tokens = torch.stack([x[b, length + step] for b, length in enumerate(prompts)])
            with torch.no_grad():
                output = layer(tokens[:, None], is_causal=is_causal, cache=cache)
            for b, length in enumerate(prompts):
                torch.testing.assert_close(output[b, 0], alone[b][length + step])


@pytest.mark.parametrize(("kind", "window", "max_len"), SOME)
def test_a_finished_sequence_stays_as_it_was(
    kind: str, window: int | None, max_len: int | None
) -> None:
    layer, x = make(**LAYERS[kind]), draw(B, K, E)
    whole = layer(x, is_causal=True)
    cache = fresh(layer, window, max_len)
    counts = [[4, 4], [1, 0], [1, 0], [0, 1], [1, 1]]
    done = [0, 0]
    for count in counts[: None if max_len is None or max_len > K + 1 else 4]:
        width = max(count)
        tokens = torch.full((B, width, E), 1e3, dtype=float64)
        for b in range(B):
            tokens[b, : count[b]] = x[b, done[b] : done[b] + count[b]]
        with torch.no_grad():
            output = layer(tokens, is_causal=True, cache=cache, lengths=torch.tensor(count))
        for b in range(B):
            expected = whole[b, done[b] : done[b] + count[b]]
            torch.testing.assert_close(output[b, : count[b]], expected)
            done[b] += count[b]
    assert cache.lengths.tolist() == done


def test_masks_over_unequal_lengths_go_by_the_places_of_each_sequence() -> None:
    layer, x = make(window=3), draw(B, K, E)
    bias = alibi_bias(H, K, like=x)
    whole = layer(x, is_causal=True, attn_mask=bias)
    for window in (None, 3):
        cache = fresh(layer, window, 2 * K)
        lengths = torch.tensor([4, 2])
        layer(x[:, :4], is_causal=True, cache=cache, lengths=lengths, attn_mask=bias[:, :4, :4])
        for step in range(3):
            places = lengths + step
            tokens = torch.stack([x[b, place] for b, place in enumerate(places)])[:, None]
            rows = alibi_bias(H, 1, cache.length + 1, offset=places, like=x)
            output = layer(tokens, is_causal=True, cache=cache, attn_mask=rows)
            expected = torch.stack([whole[b, place] for b, place in enumerate(places)])[:, None]
            torch.testing.assert_close(output, expected)


def test_a_prefix_may_look_both_ways_and_what_follows_back() -> None:
    layer, x = make(num_kv_heads=G, rotary=True), draw(B, K, E)
    mask = torch.ones(K, K, dtype=torch.bool).tril() | (torch.arange(K) < 4)
    whole = layer(x, attn_mask=mask)
    cache = fresh(layer, None, K)
    steps = [layer(x[:, a:b], cache=cache) for a, b in ((0, 4), (4, 5), (5, 6), (6, 7))]
    torch.testing.assert_close(torch.cat(steps, 1), whole)


@pytest.mark.parametrize(("kind", "window", "max_len"), SOME)
def test_beams_are_chosen_among(kind: str, window: int | None, max_len: int | None) -> None:
    for lengths in (None, [3, 1]):
        layer, x = make(**LAYERS[kind]), draw(B, K, E)
        prompt = x[:, :3]
        kept = lengths or [3, 3]
        for chosen in ([1, 0], [0, 0], [1, 1]):
            cache = fresh(layer, window, max_len)
            given = None if lengths is None else torch.tensor(lengths)
            with torch.no_grad():
                layer(prompt, is_causal=True, cache=cache, lengths=given)
                cache.reorder(torch.tensor(chosen))
                for step in (3, 4):
                    output = layer(x[:, step : step + 1], is_causal=True, cache=cache)
                    for b, source in enumerate(chosen):
                        history = torch.cat([prompt[source, : kept[source]], x[b, 3 : step + 1]])
                        expected = layer(history[None], is_causal=True)[0, -1]
                        torch.testing.assert_close(output[b, 0], expected)


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


# What attention is told


def test_the_attention_function_hears_only_what_is_in_use() -> None:
    told: list[dict[str, Any]] = []

    def attention(*arrays: Any, **options: Any) -> Any:
        told.append(options)
        output = torch.zeros(*arrays[0].shape[:-1], arrays[2].shape[-1], dtype=float64)
        return (output, output) if options.get("need_weights") else output

    x = draw(B, Q, E)
    layer = make(attention_fn=attention)
    layer(x)
    layer(x, is_causal=True, need_weights=True)
    cache = fresh(layer, None, 2 * K)
    for part in (x, x[:, :1], x):
        layer(part, is_causal=True, cache=cache)
    busy = make(attention_fn=attention, num_kv_heads=1, softcap=2.0, sinks=True, dropout_p=0.5)
    busy(x)
    busy.eval()(x)
    assert told == [
        {},
        {"is_causal": True, "need_weights": True},
        {"is_causal": True},
        {},
        {"is_causal": True, "offset": Q + 1},
        {"enable_gqa": True, "softcap": 2.0, "sinks": busy.sinks, "dropout_p": 0.5},
        {"enable_gqa": True, "softcap": 2.0, "sinks": busy.sinks},
    ]


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


@pytest.mark.parametrize("kind", ["norm, then rotary", "softcap", "sinks", "all"])
def test_gradients(kind: str) -> None:
    layer = make(**LAYERS[kind], key_dim=KEY_DIM)
    x, memory, value = draw(1, 3, E), draw(1, 5, KEY_DIM), draw(1, 5, E)
    names = [name for name, _ in layer.named_parameters()]

    def call(*leaves: Tensor) -> Any:
        weights = dict(zip(names, leaves[3:], strict=True))
        options = {"is_causal": True, "need_weights": True}
        return torch.func.functional_call(layer, weights, leaves[:3], options)

    leaves = [x, memory, value, *layer.parameters()]
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves]
    assert torch.autograd.gradcheck(call, leaves, fast_mode=True)


@pytest.mark.parametrize("kind", ["plain", "all"])
def test_meta_tensors_have_shapes(kind: str) -> None:
    with torch.device("meta"):
        layer = MultiHeadAttention(E, H, head_dim=D, **LAYERS[kind])
    x = torch.ones(B, Q, E, device="meta")
    cache = KVCache(B, layer.num_kv_heads, K, D, device="meta")
    lengths = torch.ones(B, dtype=torch.int64, device="meta")
    output, weights = layer(x, is_causal=True, cache=cache, lengths=lengths, need_weights=True)
    assert (output.shape, weights.shape) == ((B, Q, E), (B, H, Q, Q))
    output, weights = layer(x[:, :1], is_causal=True, cache=cache, need_weights=True)
    assert (output.shape, weights.shape) == ((B, 1, E), (B, H, 1, Q + 1))
    assert layer(x).shape == (B, Q, E)


@pytest.mark.parametrize("kind", ["plain", "all"])
def test_autocast(kind: str) -> None:
    layer, x = MultiHeadAttention(E, H, head_dim=D, **LAYERS[kind]), draw(B, Q, E).float()
    expected = layer(x, is_causal=True)
    seen = []
    layer.output_proj.register_forward_pre_hook(lambda _, given: seen.append(given[0].dtype))
    with torch.autocast("cpu", torch.bfloat16):
        actual = layer(x, is_causal=True)
        cache = KVCache(B, layer.num_kv_heads, K, D, dtype=torch.bfloat16)
        steps = [layer(x[:, t : t + 1], is_causal=True, cache=cache) for t in range(Q)]
    assert set(seen) == {torch.bfloat16}
    assert actual.dtype == torch.bfloat16
    torch.testing.assert_close(actual.float(), expected, rtol=0.05, atol=0.02)
    torch.testing.assert_close(torch.cat(steps, 1).float(), expected, rtol=0.05, atol=0.02)


def test_low_precision_is_at_most_twice_as_wrong_as_torchs_module() -> None:
    for dtype in (torch.float16, torch.bfloat16):
        theirs, ours = twins(bias=True)
        query, memory = draw(B, 63, 12), draw(B, 61, 12)
        low_query, low_memory = query.to(dtype), memory.to(dtype)
        theirs, ours = theirs.to(dtype), ours.to(dtype)
        plain, _ = theirs(low_query, low_memory, low_memory)
        output = ours(low_query, low_memory)
        assert output.dtype == dtype
        exact = ours.double()(low_query.double(), low_memory.double())
        assert (output - exact).abs().max() <= 2 * (plain - exact).abs().max()


@pytest.mark.filterwarnings("ignore")
def test_torch_compiles_it_in_one_piece() -> None:
    layer, x = make(**LAYERS["all"]), draw(B, Q, E)
    torch.compiler.reset()
    compiled = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x, is_causal=True), layer(x, is_causal=True))


def test_the_names_of_the_weights() -> None:
    expected = {f"{part}_proj.weight" for part in ("query", "key", "value", "output")}
    assert set(make().state_dict()) == expected
    expected |= {f"{part}_proj.bias" for part in ("query", "key", "value", "output")}
    expected |= {"query_norm.weight", "key_norm.weight", "sinks"}
    assert set(make(**LAYERS["all"]).state_dict()) == expected
    sinks = MultiHeadAttention(E, 5, sinks=True).sinks
    assert sinks is not None
    assert sinks.tolist() == [0.0] * 5


# Wrong calls that no term of a contract describes


x, memory = draw(B, Q, E), draw(B, K, E)
plain, near = make(), make(window=3)
mixed = make(key_dim=KEY_DIM, value_dim=VALUE_DIM)
projected = plain.project_memory(memory)


def cached(layer: MultiHeadAttention, *, window: int | None = None, **options: Any) -> Any:
    return layer(x, cache=fresh(layer, window, K), **options)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "heads": (lambda: MultiHeadAttention(10, 3), ValueError,
        "num_heads: got 3, wanted a divisor of embed_dim, 10, or a head_dim"),
    "groups": (lambda: make(num_kv_heads=4), ValueError,
        "num_kv_heads: got 4, wanted a divisor of num_heads, 6"),
    "window": (lambda: make(window=0), ValueError, "window: got 0, wanted at least 1"),
    "window pair": (lambda: make(window=(1, -1)), ValueError,
        "window: got (1, -1), wanted at least 1, or a pair from 0 on"),
    "odd rotary": (lambda: make(rotary=True, head_dim=5), ValueError,
        "head_dim: got 5, wanted an even number for rotary=True"),
    "value width": (lambda: mixed(x, draw(B, K, KEY_DIM)), ValueError,
        "value: got None, wanted values of value_dim, 13, where key has 11"),
    "no memory": (lambda: mixed(x), ValueError,
        "key: got None, wanted a memory: key_dim is 11 and value_dim 13, where query has "
        "embed_dim, 10"),
    "value alone": (lambda: plain(x, None, x), ValueError,
        "value: got one without a key, wanted None"),
    "value twice": (lambda: plain(x, projected, memory), ValueError,
        "value: got one beside a projected memory, wanted None"),
    "projected heads": (
        lambda: plain(x, ProjectedMemory(projected.key[:, :3], projected.value[:, :3])), ValueError,
        "key: got shape (2, 3, 7, 4), wanted (..., g, k, d) (6, 7, 4)"),
    "projected width": (
        lambda: plain(x, ProjectedMemory(projected.key, projected.value[..., :3])), ValueError,
        "value: got shape (2, 6, 7, 3), wanted (..., g, k, d) (6, 7, 4)"),
    "short mask": (lambda: plain(x, attn_mask=keep(Q, 4)), ValueError,
        "attn_mask: got shape (5, 4), wanted (..., 5): a mask covers every key, cached ones too"),
    "cache beside key": (lambda: plain(x, memory, cache=fresh(plain, None, K)), ValueError,
        "cache: got one beside a key, wanted None: a cache is for self-attention, a memory is "
        "projected once by `project_memory`"),
    "cache type": (lambda: plain(x, cache={}), TypeError, "cache: got dict, wanted a KVCache"),
    "cache rank": (lambda: plain(x[0], cache=fresh(plain, None, K)), ValueError,
        "query: got shape (5, 10), wanted (b, q, embed_dim) with a cache"),
    "cache heads": (lambda: make(num_kv_heads=G)(x, cache=fresh(plain, None, K)), ValueError,
        "cache: got (2, 6, 4, 4) for (b, g, d, v), wanted (2, 3, 4, 4), the layer's"),
    "cache dtype": (lambda: plain(x, cache=KVCache(B, H, K, D)), TypeError,
        "cache: got dtype torch.float32, wanted torch.float64, query's"),
    "small ring": (lambda: cached(near, window=2), ValueError,
        "cache: got window 2, wanted None or at least 3, as the layer has"),
    "ring": (lambda: cached(plain, window=5), ValueError,
        "cache: got window 5, wanted None, as the layer has"),
    "keys to come": (lambda: cached(make(window=(2, 1))), ValueError,
        "is_causal: got False with a cache, wanted True: the window of the layer wants 1 keys "
        "that are still to come"),
    "lengths": (lambda: plain(x, lengths=torch.ones(B, dtype=torch.int64)), ValueError,
        "lengths: got some without a cache, wanted None and a padding mask"),
}  # fmt: skip


def test_wrong_calls_say_what_is_wrong() -> None:
    for call, error, message in WRONG.values():
        with pytest.raises(error, match="^" + re.escape(message)):
            call()


def test_a_refused_call_leaves_the_cache_alone() -> None:
    cache = fresh(near, 3, K)
    with pytest.raises(ValueError, match=r"^attn_mask"):
        near(x, cache=cache, attn_mask=keep(Q, 3))
    with pytest.raises(TypeError, match=r"^lengths"):
        near(x, cache=cache, lengths=torch.ones(B))
    assert (cache.length, cache.key_positions.tolist()) == (0, [])
