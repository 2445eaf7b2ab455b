"""Latent attention, plain and absorbed, against loops in float64; the atlas has DeepSeek."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from companion.latent import (
    absorbed_latent_attention,
    latent_attention,
    latent_attention_with_weights,
)
from tests import oracle
from tests.oracle import Float, as_numpy, assert_matches

FORMS: list[Callable[..., Any]] = [latent_attention, absorbed_latent_attention]
B, H, D, R, C, V = 2, 3, 5, 4, 7, 11  # batch, heads, widths: plain, rotary, latent, value
LENGTHS = [(1, 1), (1, 13), (13, 13), (6, 17), (17, 6)]


class Arrays(NamedTuple):
    query: Any
    query_rotary: Any
    latent: Any
    key_rotary: Any
    key_weight: Any
    value_weight: Any


def draw(q: int, k: int, *, seed: int = 0) -> Arrays:
    random = np.random.default_rng([seed, q, k])
    shapes = (B, H, q, D), (B, H, q, R), (B, k, C), (B, k, R), (H, C, D), (H, C, V)
    return Arrays(*(random.normal(size=shape) for shape in shapes))


def of(xp: Any, arrays: Arrays) -> Arrays:
    return Arrays(*(xp.asarray(x) for x in arrays))


def by_loops(arrays: Arrays, mask: Any = True, **options: Any) -> oracle.Attention:
    """Unfold keys and values one number at a time, and attend by loops over numbers."""
    query, query_rotary, latent, key_rotary, key_weight, value_weight = arrays

    def unfolded(weight: Float) -> Float:
        result = np.zeros((len(latent), len(weight), latent.shape[1], weight.shape[-1]))
        for b, h, j, n in np.ndindex(*result.shape):
            result[b, h, j, n] = math.fsum(latent[b, j] * weight[h, :, n])
        return result

    rotary = np.repeat(key_rotary[:, None], len(key_weight), 1)
    queries, keys = (query, query_rotary), (unfolded(key_weight), rotary)
    both = np.concatenate(queries, -1), np.concatenate(keys, -1)
    return oracle.attention(*both, unfolded(value_weight), mask, **options)


def test_both_forms_are_the_loops() -> None:
    for q, k in LENGTHS:
        arrays = draw(q, k)
        for is_causal in (False, True):
            expected = by_loops(arrays, is_causal=is_causal)
            for form in FORMS:
                assert_matches(form(*arrays, is_causal=is_causal), expected.output)
            output, weights = latent_attention_with_weights(*arrays, is_causal=is_causal)
            assert_matches(output, expected.output)
            assert_matches(weights, expected.weights)


def test_offset_sinks_scale_and_masks(libraries: list[Any]) -> None:
    for xp in libraries:
        arrays, random = draw(6, 11), np.random.default_rng(1)
        sinks = random.normal(size=H)
        for mask, offset in (
            (random.random((6, 11)) < 0.5, 5),
            (random.random((H, 6, 11)) < 0.5, -3),
            (random.random((B, 1, 6, 11)) < 0.5, np.array([2, 6])),
            (random.normal(size=(B, H, 6, 11)), 0),
        ):
            expected = by_loops(arrays, mask, is_causal=True, offset=offset, scale=0.3, sinks=sinks)
            options: dict[str, Any] = {
                "offset": offset if isinstance(offset, int) else xp.asarray(offset),
                "scale": 0.3,
                "sinks": xp.asarray(sinks),
            }
            for form in FORMS:
                assert_matches(
                    form(*of(xp, arrays), xp.asarray(mask), True, **options), expected.output
                )
            _, weights = latent_attention_with_weights(
                *of(xp, arrays), xp.asarray(mask), True, **options
            )
            assert_matches(weights, expected.weights)


def test_a_query_without_a_key_gets_zeros() -> None:
    for form in FORMS:
        arrays = of(np, draw(5, 3))
        output = as_numpy(form(*arrays, is_causal=True, offset=-2))
        assert not output[:, :, :2].any()
        assert output[:, :, 2:].all()


def test_without_rotary_part_and_one_memory_for_a_whole_batch() -> None:
    for form in FORMS:
        query, rotary, latent, key_rotary, *weights = draw(5, 7)
        plain = by_loops(Arrays(query, rotary[..., :0], latent, key_rotary[..., :0], *weights))
        found = form(query[0], rotary[0, ..., :0], latent[0], key_rotary[0, :, :0], *weights)
        assert_matches(found, plain.output[0])
        memory, keys = (np.repeat(x[:1], B, 0) for x in (latent, key_rotary))
        whole = by_loops(Arrays(query, rotary, memory, keys, *weights))
        assert_matches(form(query, rotary, latent[:1], key_rotary[0], *weights), whole.output)


def test_half_precision_accumulates_in_float32(torch: Any) -> None:
    arrays = [torch.tensor(x, dtype=torch.bfloat16) for x in draw(7, 13)]
    exact = latent_attention(*(x.double() for x in arrays))
    for output in (*(form(*arrays) for form in FORMS), latent_attention_with_weights(*arrays)[0]):
        assert output.dtype == torch.bfloat16
        assert_matches(output.double(), as_numpy(exact), 2**-8)


def test_both_forms_have_the_same_gradients(torch: Any) -> None:
    gradients = []
    for form in FORMS:
        arrays = [torch.tensor(x, requires_grad=True) for x in draw(7, 13)]
        sinks = torch.tensor([0.5, -0.3, 0.1], dtype=torch.float64, requires_grad=True)
        output = form(*arrays, is_causal=True, offset=4, sinks=sinks)
        output.backward(torch.linspace(-1, 1, output.numel(), dtype=torch.float64).view_as(output))
        gradients.append([x.grad for x in (*arrays, sinks)])
    for plain, absorbed in zip(*gradients, strict=True):
        assert plain.abs().max() > 1e-3
        assert_matches(absorbed, as_numpy(plain))


def test_the_plain_form_passes_gradcheck(torch: Any) -> None:
    form, arrays = FORMS[0], [torch.tensor(x, requires_grad=True) for x in draw(2, 3)]
    assert torch.autograd.gradcheck(lambda *x: form(*x, is_causal=True, offset=1), arrays)
