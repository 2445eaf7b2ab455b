"""Checks of one call: what they say of mistakes that the kit's own broken functions do not have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from companion.attention import attention_with_lse, attention_with_weights
from companion.attention import scaled_dot_product_attention as attend
from companion.conformance import (
    check_bias,
    check_definition,
    check_delta_rule,
    check_dtype,
    check_grouped,
    check_heads,
    check_large_scores,
    check_lse,
    check_offset,
    check_prefixes,
    check_scale,
    check_sinks,
    check_softcap,
    check_weights,
)
from companion.conformance.attention import measured_scale
from companion.linear import chunked_linear_attention, recurrent_linear_attention

Function = Callable[..., Any]
likes = pytest.mark.parametrize("like", [np.ones(1), torch.ones(1)], ids=["numpy", "torch"])
ONE = np.ones(1)


def complaint(check: Function, *given: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught, np.errstate(all="ignore"):
        check(*given, **{"like": ONE, **options})
    return str(caught.value)


@likes
def test_the_scale_is_read_off_the_weights(like: Any) -> None:
    for scale in (0.1, 1.0, 2.5):
        measured = measured_scale(partial(attend, scale=scale), 16, like=like)
        assert measured == pytest.approx(scale, rel=1e-5)


def test_a_scale_that_was_asked_for_is_compared_with_that() -> None:
    check_scale(partial(attend, scale=0.7), 16, like=ONE, scale=0.7)
    assert "though 0.7 was asked for" in complaint(check_scale, attend, 16, scale=0.7)


def test_numbers_are_compared_with_loops() -> None:
    def summed(query: Any, key: Any, value: Any) -> Any:
        return np.exp(query @ key.mT / 8**0.5) @ value

    def shrunk(query: Any, key: Any, value: Any) -> Any:
        return 0.9 * attend(query, key, value)

    def next_value(query: Any, key: Any, value: Any) -> Any:
        return attend(query, key, np.roll(value, 1, axis=-2))

    assert "not divided by their sum" in complaint(check_definition, summed)
    assert "sum to 0.9 to 0.9" in complaint(check_definition, shrunk)
    assert "the weight of its own key" in complaint(check_definition, next_value)
    assert "gave the shape" in complaint(check_definition, lambda *qkv: attend(*qkv)[0])


def test_what_is_subtracted_is_the_largest_score() -> None:
    def a_mean(query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.mT / 2
        powers = np.exp(np.clip(scores - scores.mean(-1, keepdims=True), -700, 700) / 1e4)
        return powers / powers.sum(-1, keepdims=True) @ value

    assert "the largest score of the row" in complaint(check_large_scores, a_mean)


@likes
def test_an_offset_may_be_any(like: Any) -> None:
    for offset in (0, 1, 2, 7):
        causal = partial(attend, is_causal=True, offset=offset)
        check_offset(causal, like=like, offset=offset)
    assert "a later query sees others" in complaint(check_offset, attend, offset=1)


def test_heads_have_to_be_those_that_came() -> None:
    assert "3 heads gave 1" in complaint(check_heads, lambda *qkv: attend(*qkv)[:, :1])
    assert "is the input read" in complaint(check_heads, lambda q, k, v: np.zeros(q.shape))
    neighbours = lambda q, k, v: attend(q, np.roll(k, 1, 1), np.roll(v, 1, 1))  # noqa: E731
    assert "head 0 depends on head 2" in complaint(check_heads, neighbours)


def test_groups_are_named_as_they_are_read() -> None:
    def backwards(query: Any, key: Any, value: Any) -> Any:
        return attend(query, key[:, ::-1], value[:, ::-1], enable_gqa=True)

    assert "[1, 1, 1, 0, 0, 0]" in complaint(check_grouped, backwards)
    grouped = partial(attend, enable_gqa=True)
    assert "gave the shape" in complaint(check_grouped, lambda *qkv: grouped(*qkv)[:, :2])


def test_sinks_are_logits_of_heads() -> None:
    def sunk(change: Function) -> Function:
        def function(query: Any, key: Any, value: Any, sinks: Any = None) -> Any:
            return attend(query, key, value, sinks=None if sinks is None else change(sinks))

        return function

    check_sinks(sunk(lambda sinks: sinks), like=ONE)
    first = sunk(lambda sinks: np.full_like(sinks, sinks[0]))
    assert "the sink of another head" in complaint(check_sinks, first)
    assert "wanted sigmoid(lse - sink)" in complaint(check_sinks, sunk(lambda sinks: sinks + 1))


def test_a_bound_is_a_tanh() -> None:
    def clipped(query: Any, key: Any, value: Any, cap: float) -> Any:
        scores = np.clip(query @ key.mT / 4, -cap, cap)
        return attend(0 * query, key, value, scores, is_causal=True)

    assert "cap * tanh(scaled product / cap)" in complaint(check_softcap, clipped)


def test_a_mask_of_numbers_is_added_as_it_is() -> None:
    cases: list[Any] = [
        (lambda mask: 0 * mask, "changes nothing"),
        (lambda mask: 2 * mask, "wanted [0.25, 0.75]"),
        (lambda mask: np.maximum(mask, -1), "-inf in the mask"),
    ]
    for change, said in cases:

        def function(q: Any, k: Any, v: Any, mask: Any, change: Any = change) -> Any:
            return attend(q, k, v, np.nan_to_num(change(mask), neginf=-1e9))

        assert said in complaint(check_bias, function)


def test_weights_are_those_of_the_output() -> None:
    def sharper(query: Any, key: Any, value: Any) -> Any:
        return attend(query, key, value), attention_with_weights(2 * query, key, value)[1]

    assert "not the values blended by the weights" in complaint(check_weights, sharper)
    assert "wanted the output and one array more" in complaint(check_weights, attend)
    turned = lambda *qkv: (attend(*qkv), attention_with_weights(*qkv)[1].mT)  # noqa: E731
    assert "wanted (2, 3, 5, 7)" in complaint(check_weights, turned)


def test_the_log_sum_exp_is_natural_and_of_scaled_products() -> None:
    def given(change: Function) -> Function:
        def function(query: Any, key: Any, value: Any) -> Any:
            output, lse = attention_with_lse(query, key, value)
            return output, change(lse, query, key)

        return function

    def unscaled(lse: Any, query: Any, key: Any) -> Any:
        return np.log(np.exp(query @ key.mT).sum(-1))

    assert "wanted its logarithm" in complaint(check_lse, given(lambda lse, *_: np.exp(lse)))
    assert "not scaled" in complaint(check_lse, given(unscaled))
    assert "differs by up to 1" in complaint(check_lse, given(lambda lse, *_: lse + 1))
    assert "gave the shape" in complaint(check_lse, given(lambda lse, *_: lse[..., None]))
    three = lambda *qkv: (*attention_with_weights(*qkv), 0.0)  # noqa: E731
    assert "gave 3 results" in complaint(check_lse, three)


def test_dtypes_of_torch_pass() -> None:
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        check_dtype(attend, like=torch.ones(1, dtype=dtype))
        check_dtype(
            torch.nn.functional.scaled_dot_product_attention, like=torch.ones(1, dtype=dtype)
        )


def test_a_longer_text_is_compared_at_every_length() -> None:
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    check_prefixes(lambda x: x.cumsum(1), x)
    late = lambda x: x.cumsum(1) + (x.shape[1] == 4)  # noqa: E731
    with pytest.raises(AssertionError, match="output 0 of 4 positions is another when there are 5"):
        check_prefixes(late, x)


def recurrence(forget: str) -> Function:
    def function(query: Any, key: Any, value: Any, decay: Any, beta: Any) -> Any:
        state, outputs = 0.0 * key[0][:, None] * value[0], []
        for q, k, v, left, share in zip(query, key, value, decay, beta, strict=True):
            old = state if forget in ("late", "compared late", "never") else left * state
            held = 0 * v if forget == "uncompared" else k @ (state if forget == "late" else old)
            kept = left * state if forget == "late" else old
            state = kept + share * k[:, None] * (v - (0 * v if forget == "never" else held))
            state = left * state if forget == "compared late" else state
            outputs.append(q @ state)
        return np.stack(outputs)

    return function


def test_the_delta_rule_reads_what_it_wrote() -> None:
    rows: list[tuple[str, str]] = [
        ("late", "-3 is read, wanted 2: the value is compared with the state before it has"),
        ("compared late", "1 is read, wanted 2: the state forgets after it has written"),
        ("uncompared", "7 is read, wanted 2: the new value is added"),
        ("never", "12 is read, wanted 2: the state neither forgets nor compares"),
    ]
    for forget, said in rows:
        assert said in complaint(check_delta_rule, recurrence(forget))


@likes
def test_delta_rules_that_are_right_pass(like: Any) -> None:
    for form in (recurrent_linear_attention, chunked_linear_attention):
        check_delta_rule(
            lambda q, k, v, decay, beta, form=form: form(q, k, v, decay=decay, beta=beta)[0],
            like=like,
        )
    check_delta_rule(recurrence("first"), like=ONE)
    half = lambda q, k, v, decay, beta: recurrence("first")(q, k, v, decay, beta / 2)  # noqa: E731
    assert "wanted 2" in complaint(check_delta_rule, half)
