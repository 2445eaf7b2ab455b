"""Differential attention against loops in float64; the atlas has DiffLlama."""

import math
from typing import Any, NamedTuple

import numpy as np

from companion.differential import (
    differential_attention,
    differential_attention_with_weights,
    differential_factor,
    headwise_norm,
    initial_factor,
)
from tests import oracle
from tests.oracle import as_numpy, assert_matches, draw

B, H, G, D, V = 2, 6, 3, 5, 7


class Arrays(NamedTuple):
    query: Any
    key: Any
    other_query: Any
    other_key: Any
    value: Any


def arrays_of(q: int, k: int, heads: int = H) -> Arrays:
    return Arrays(
        draw(B, H, q, D), draw(B, heads, k, D, seed=1), draw(B, H, q, D, seed=2),
        draw(B, heads, k, D, seed=3), draw(B, heads, k, V, seed=4),
    )  # fmt: skip


def of(xp: Any, arrays: Arrays) -> Arrays:
    return Arrays(*(xp.asarray(x) for x in arrays))


def test_it_is_the_difference_of_two_attentions(libraries: list[Any]) -> None:
    for xp in libraries:
        for q, k, heads, is_causal in [(13, 13, H, True), (6, 17, G, False), (17, 6, G, True)]:
            query, key, other_query, other_key, value = arrays = arrays_of(q, k, heads)
            mask, factors = draw(q, k) > -1, draw(H, seed=5)
            options: dict[str, Any] = {"offset": 3, "scale": 0.7}
            if is_causal:
                options["is_causal"] = True
            first = oracle.attention(query, key, value, mask, **options)
            other = oracle.attention(other_query, other_key, value, mask, **options)
            for factor in (0.3, -1, factors):
                given = xp.asarray(factor) if factor is factors else factor
                by_head = np.broadcast_to(factor, (H,))[:, None, None]
                output, weights = differential_attention_with_weights(
                    *of(xp, arrays), given, xp.asarray(mask), enable_gqa=heads < H, **options
                )
                assert_matches(output, first.output - by_head * other.output)
                assert_matches(weights, first.weights - by_head * other.weights)
                plain = differential_attention(
                    *of(xp, arrays), given, xp.asarray(mask), enable_gqa=heads < H,
                    **options,
                )  # fmt: skip
                assert_matches(plain, as_numpy(output))


def test_a_factor_of_no_axes_is_a_number_and_no_offset_is_0() -> None:
    arrays = arrays_of(5, 7)
    for is_causal in (False, True):
        number = differential_attention(*arrays, 0.3, is_causal=is_causal, offset=0)
        for factor in (0.3, np.array(0.3)):
            output, _ = differential_attention_with_weights(*arrays, factor, is_causal=is_causal)
            assert_matches(output, number)
            assert_matches(differential_attention(*arrays, factor, is_causal=is_causal), number)


def test_a_query_without_a_key_gets_zeros() -> None:
    arrays = arrays_of(5, 3)
    output = differential_attention(*arrays, 0.3, is_causal=True, offset=-2)
    assert not output[:, :, :2].any()
    assert output[:, :, 2:].all()


def test_the_factor_is_learned_through_four_vectors(libraries: list[Any]) -> None:
    for xp in libraries:
        first, second, third, fourth = vectors = [draw(3, 5, seed=seed) for seed in range(4)]
        expected = [
            math.exp(math.fsum(a * b)) - math.exp(math.fsum(c * d)) + 0.2
            for a, b, c, d in zip(*vectors, strict=True)
        ]
        found = differential_factor(
            xp.asarray(first), xp.asarray(second), xp.asarray(third), xp.asarray(fourth), 0.2
        )
        assert_matches(found, expected)


def test_layers_count_from_zero_and_the_papers_from_one() -> None:
    for layer, paper in ((0, 1), (1, 2), (27, 28)):
        assert initial_factor(layer) == 0.8 - 0.6 * math.exp(-0.3 * (paper - 1))


def test_every_head_has_the_same_size(libraries: list[Any]) -> None:
    for xp in libraries:
        eps = 0.1
        x = draw(B, H, 5, V)
        expected = np.zeros(x.shape)
        for row in np.ndindex(*x.shape[:-1]):
            mean = math.fsum(x[row] ** 2) / V
            expected[row] = 0.8 * x[row] / math.sqrt(mean + eps)
        assert_matches(headwise_norm(xp.asarray(x), 0.2, eps=eps), expected)


def test_half_precision_stays_half_and_is_widened_inside(torch: Any) -> None:
    arrays = Arrays(*(torch.tensor(x, dtype=torch.bfloat16) for x in arrays_of(7, 13)))
    exact = differential_attention(*Arrays(*(x.double() for x in arrays)), 0.5)
    output = differential_attention(*arrays, torch.tensor(0.5))
    assert output.dtype == torch.bfloat16
    assert_matches(output.double(), as_numpy(exact), 2**-7)
    norm = headwise_norm(output, 0.2)
    assert norm.dtype == torch.bfloat16
    assert_matches(norm.double(), as_numpy(headwise_norm(output.double(), 0.2)), 2**-8)


def test_gradients(torch: Any) -> None:
    arrays = [torch.tensor(x[:1, :2], requires_grad=True) for x in arrays_of(2, 3)]
    vectors = [torch.tensor(draw(5, seed=seed), requires_grad=True) for seed in range(4)]

    def layer(*inputs: Any) -> Any:
        first, second, third, fourth = inputs[5:]
        factor = differential_factor(first, second, third, fourth, 0.2)
        output = differential_attention(*Arrays(*inputs[:5]), factor, is_causal=True, offset=1)
        return headwise_norm(output, 0.2)

    assert torch.autograd.gradcheck(layer, [*arrays, *vectors])
