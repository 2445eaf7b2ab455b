"""Checks for attention code: sound functions pass, and every known mistake gets its hint."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from companion.attention import scaled_dot_product_attention
from companion.conformance import (
    check_agree,
    check_alone,
    check_bleu,
    check_cached,
    check_causal,
    check_dead_row,
    check_influence,
    check_mask,
    check_norm_order,
    check_padding,
    check_permutation,
    check_reach,
    check_relative,
    check_scale,
    check_spacing,
    influence,
    norm_order,
)
from companion.layers import MultiHeadAttention
from companion.masks import sliding_window_mask
from companion.metrics import bleu

Function = Callable[..., Any]

draw = np.random.default_rng(0)
X, OTHER = draw.normal(size=(2, 6, 4)), draw.normal(size=(2, 6, 4))


def mixed(mask: Any, *, residual: bool = False) -> Function:
    """A function whose output i is a mean of the positions that a mask allows to i."""
    weights = np.asarray(mask, dtype=float)
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1)
    return lambda x: weights @ x + (residual * x if residual else 0)


def masked(change: Function = lambda mask: mask) -> Function:
    return lambda x, mask: mixed(change(mask))(x)


# Influence


def test_influence_is_the_mask() -> None:
    for mask in (np.tri(6), np.eye(6), np.ones((6, 6)), draw.random((6, 6)) < 0.5):
        assert np.array_equal(influence(mixed(mask), X, OTHER), mask)


def test_influence_takes_any_library() -> None:
    tensors = torch.tensor(X), torch.tensor(OTHER)
    found = influence(lambda x: scaled_dot_product_attention(x, x, x, is_causal=True), *tensors)
    assert np.array_equal(found, np.tri(6))


def test_influence_takes_ids() -> None:
    ids = np.arange(6)[None]
    assert np.array_equal(influence(lambda x: np.cumsum(x, 1), ids, ids + 1), np.tri(6))


def test_outputs_may_have_other_positions() -> None:
    found = influence(mixed(np.ones((3, 6))), X, OTHER)
    assert found.shape == (3, 6)


def test_a_change_in_one_sequence_is_enough() -> None:
    def second_only(x: Any) -> Any:
        return x * np.array([0.0, 1.0])[:, None, None]

    assert np.array_equal(influence(second_only, X, OTHER), np.eye(6))


def test_inputs_that_show_nothing_are_refused() -> None:
    cases: list[Any] = [
        (X, OTHER[:, :5], "other: got shape"),
        (X[:, :1], OTHER[:, :1], "n at least 2"),
        (X, np.where(np.arange(6)[:, None] == 2, X, OTHER), "is as x at position 2"),
    ]
    for x, other, wrong in cases:
        with pytest.raises(ValueError, match=wrong):
            influence(mixed(np.tri(6)), x, other)


def test_arrays_of_two_libraries_are_refused() -> None:
    with pytest.raises(TypeError, match="other"):
        influence(mixed(np.tri(6)), X, torch.tensor(OTHER))


def test_what_is_no_array_is_refused() -> None:
    with pytest.raises(TypeError, match="gave a tuple, wanted one array"):
        influence(lambda x: (x, x), X, OTHER)


def test_dropout_is_noticed() -> None:
    noisy = np.random.default_rng(1)
    with pytest.raises(AssertionError, match="is dropout on"):
        check_causal(lambda x: x + noisy.normal(size=x.shape), X, OTHER)


def test_nan_is_noticed() -> None:
    with pytest.raises(AssertionError, match="NaN or infinite"):
        check_causal(lambda x: x * math.nan, X, OTHER)


NEXT = np.tri(6, k=1)
FUTURE = np.triu(np.ones((6, 6)), 1)
ONE_LEAK = np.tri(6)
ONE_LEAK[1, 4] = 1


def test_the_future_leaks() -> None:
    cases: list[Any] = [
        (FUTURE, "upside down"),
        (np.triu(np.ones((6, 6))), "upside down"),
        (np.ones((6, 6)), "the causal mask is missing"),
        (NEXT, "the position after its own"),
        (ONE_LEAK, r"output 1 depends on position 4, its future \(1 such"),
        (np.zeros((6, 6)), "is the input read at all"),
    ]
    for reads, hint in cases:
        with pytest.raises(AssertionError, match=hint):
            check_causal(mixed(reads), X, OTHER)


def test_the_past_does_not() -> None:
    cases: list[Any] = [np.tri(6), np.eye(6), np.tri(6, k=-1)]
    for reads in cases:
        check_causal(mixed(reads), X, OTHER)


def test_causal_outputs_stand_at_the_positions_of_the_inputs() -> None:
    with pytest.raises(ValueError, match=r"\(b, n, \.\.\.\) to \(b, n, \.\.\.\)"):
        check_causal(mixed(np.ones((3, 6))), X, OTHER)


def test_influence_that_is_not_as_allowed() -> None:
    cases: list[Any] = [
        (1 - np.tri(6), "upside down"),
        (np.ones((6, 6)), r"output 0 depends on position 1, which it must not \(15 such"),
        (np.eye(6), r"output 1 does not depend on position 0, which it may read \(15 such"),
        (np.zeros((6, 6)), "is the input read at all"),
    ]
    for reads, hint in cases:
        check_influence(mixed(np.tri(6)), X, OTHER, np.tri(6))
        with pytest.raises(AssertionError, match=hint):
            check_influence(mixed(reads), X, OTHER, np.tri(6))


def test_allowed_has_a_row_for_every_output() -> None:
    with pytest.raises(ValueError, match="allowed: got shape"):
        check_influence(mixed(np.tri(6)), X, OTHER, np.tri(5))


def test_a_window_off_by_one() -> None:
    cases: list[Any] = [
        (2, "outputs reach 3 positions, wanted 2"),
        (0, "outputs reach 1 positions, wanted 2"),
    ]
    for left, hint in cases:
        check_reach(mixed(sliding_window_mask(6, left=1)), X, OTHER, size=2)
        with pytest.raises(AssertionError, match=hint):
            check_reach(mixed(sliding_window_mask(6, left=left)), X, OTHER, size=2)


def test_other_reaches() -> None:
    with pytest.raises(AssertionError, match="which it must not"):
        check_reach(mixed(np.tri(6)), X, OTHER, size=2)
    with pytest.raises(ValueError, match="n at least 7"):
        check_reach(mixed(np.tri(6)), X, OTHER, size=5)


def test_masks_that_mean_something_else() -> None:
    cases: list[Any] = [
        (masked(lambda mask: ~mask), "read upside down"),
        (masked(lambda mask: mask | True), "the mask changes nothing"),
        (masked(lambda mask: mask.T | np.tri(6, dtype=bool)), "which it must not"),
        (masked(lambda mask: mask & np.tri(6, dtype=bool)), "which it may read"),
        (lambda x, mask: mixed(~mask, residual=True)(x), "read upside down"),
    ]
    for function, hint in cases:
        with pytest.raises(AssertionError, match=hint):
            check_mask(function, X, OTHER)


def test_a_mask_as_it_should_be() -> None:
    check_mask(masked(), X, OTHER)
    check_mask(lambda x, mask: mixed(mask, residual=True)(x), X, OTHER)
    layer = nn.MultiheadAttention(4, 2, batch_first=True).double()
    tensors = torch.tensor(X), torch.tensor(OTHER)
    check_mask(lambda x, mask: layer(x, x, x, attn_mask=~mask)[0], *tensors)


# Sequences


def test_a_neighbour_must_not_matter() -> None:
    check_alone(mixed(np.tri(6)), X)
    with pytest.raises(AssertionError, match="sequence 0 gives something else alone"):
        check_alone(lambda x: x - x.mean(0), X)
    with pytest.raises(ValueError, match="wanted at least 2"):
        check_alone(lambda x: x, X[:1])


LENGTHS = np.array([6, 3])


def attended(allowed: Function) -> Function:
    def attend(x: Any, lengths: Any) -> Any:
        mask = allowed(np.arange(x.shape[1]), lengths[:, None, None])
        return scaled_dot_product_attention(x, x, x, np.broadcast_to(mask, (len(x), 1, x.shape[1])))

    return attend


def test_padding_that_matters() -> None:
    cases: list[Any] = [
        (
            attended(lambda positions, lengths: positions >= 0 * lengths),
            "what stands in the padding",
        ),
        (attended(lambda positions, lengths: positions <= lengths), "what stands in the padding"),
        (lambda x, lengths: x / x.shape[1], "without its padding"),
    ]
    for function, hint in cases:
        with pytest.raises(AssertionError, match=hint):
            check_padding(function, X, LENGTHS, OTHER)


def test_padding_that_does_not() -> None:
    check_padding(attended(lambda positions, lengths: positions < lengths), X, LENGTHS, OTHER)
    with pytest.raises(ValueError, match="no padding to try"):
        check_padding(lambda x, lengths: x, X, np.array([6, 6]), OTHER)


def test_the_order_of_positions() -> None:
    check_permutation(mixed(np.ones((6, 6))), X)
    for function in (mixed(np.tri(6)), lambda x: x.reshape(2, 4, 6).cumsum(1).reshape(2, 6, 4)):
        with pytest.raises(AssertionError, match="a view without a transpose"):
            check_permutation(function, X)
    with pytest.raises(ValueError, match="n at least 3"):
        check_permutation(lambda x: x, X[:, :2])


# Caches


def causally(x: Any) -> Any:
    return scaled_dot_product_attention(x, x, x, is_causal=True)


def starts(*, offset: bool = True, emptied: bool = True, extra: float = 0.0) -> Function:
    """What begins a text with a cache, one of its parts possibly wrong."""
    kept: list[Any] = []

    def start() -> Function:
        seen = [] if emptied else kept

        def step(x: Any) -> Any:
            before = sum(piece.shape[1] for piece in seen)
            seen.append(x)
            keys = np.concatenate(seen, 1)
            return extra + scaled_dot_product_attention(
                x, keys, keys, is_causal=True, offset=before if offset else 0
            )

        return step

    return start


def test_a_cache_changes_nothing() -> None:
    check_cached(causally, starts(), X)
    with pytest.raises(ValueError, match="n at least 4"):
        check_cached(causally, starts(), X[:, :3])


def test_a_cache_that_changes_something() -> None:
    cases: list[Any] = [
        (starts(offset=False), r"output 1 is another.*\(offset\)"),
        (starts(emptied=False), "was not emptied"),
        (starts(extra=1.0), "not the same model"),
    ]
    for start, hint in cases:
        with pytest.raises(AssertionError, match=hint):
            check_cached(causally, start, X)


# Positions


def test_scores_of_distances() -> None:
    check_relative(lambda query, key: np.cos(query[:, None] - key))
    with pytest.raises(AssertionError, match="are the positions used at all"):
        check_relative(lambda query, key: np.ones((len(query), len(key))))
    with pytest.raises(AssertionError, match="moved by 1"):
        check_relative(lambda query, key: query[:, None] * key)
    with pytest.raises(AssertionError, match=r"wanted \(q, k\)"):
        check_relative(lambda query, key: query * key)


def test_a_move_that_shows_late() -> None:
    with pytest.raises(AssertionError, match="moved by 50"):
        check_relative(lambda query, key: query[:, None] - key + 1.0 * (key > 30))


# Attention


def scaled(factor: float) -> Function:
    return lambda q, k, v: scaled_dot_product_attention(q, k, v, scale=factor)


def test_the_scale() -> None:
    for like in (np.ones(1), torch.ones(1)):
        check_scale(scaled_dot_product_attention, 16, like=like)
        for factor, hint in (
            (1.0, "the scale is 1:"),
            (48**-0.5, "width of the model"),
            (0.7, "0.7"),
        ):
            with pytest.raises(AssertionError, match=hint):
                check_scale(scaled(factor), 16, 3, like=like)


def nothing_allowed(answer: str) -> Function:
    """Attention that gives a dead row one of the answers in use."""

    def attend(x: Any, mask: Any) -> Any:
        scores = x @ x.mT
        if answer == "average":
            return scores.masked_fill(~mask, -1e9).softmax(-1) @ x
        if answer == "first":
            mask = mask.clone()
            mask[~mask.any(-1), 0] = True
        output = scores.masked_fill(~mask, -math.inf).softmax(-1) @ x
        return output.nan_to_num() if answer == "repaired" else output

    return attend


def test_rows_with_nothing_allowed() -> None:
    rows: list[tuple[str, str]] = [
        ("nan", "gives NaN"),
        ("average", "attends to everything"),
        ("first", "depends on other positions"),
        ("repaired", "the gradient is NaN"),
    ]
    for answer, hint in rows:
        with pytest.raises(AssertionError, match=hint):
            check_dead_row(nothing_allowed(answer), torch.tensor(X), torch.tensor(OTHER))


def test_zeros_for_nothing_will_do() -> None:
    for x, other in ((X, OTHER), (torch.tensor(X), torch.tensor(OTHER))):
        check_dead_row(lambda x, mask: scaled_dot_product_attention(x, x, x, mask), x, other)


def test_a_layer_will_do_for_every_check() -> None:
    layer = MultiHeadAttention(4, 2).double()
    x, other = torch.tensor(X), torch.tensor(OTHER)
    check_causal(lambda x: layer(x, is_causal=True), x, other)
    check_mask(lambda x, mask: layer(x, attn_mask=mask), x, other)
    check_alone(layer, x)
    check_permutation(layer, x)
    check_dead_row(lambda x, mask: layer(x, attn_mask=mask), x, other)
    narrow = MultiHeadAttention(4, 2, window=3).double()
    check_reach(lambda x: narrow(x, is_causal=True), x, other, size=3)


# Models


def normed(x: Any) -> Any:
    return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-6)


BLOCKS: dict[str, Function] = {
    "pre": lambda x: x + np.tanh(normed(x)),
    "post": lambda x: normed(x + np.tanh(x)),
    "neither": lambda x: x + 0.5 * x,
}


def test_the_order_of_norms() -> None:
    for order in BLOCKS:
        assert norm_order(BLOCKS[order], X) == order


def test_a_text_that_says_otherwise() -> None:
    check_norm_order(BLOCKS["pre"], X, "pre")
    check_norm_order(BLOCKS["post"], X, "post")
    with pytest.raises(AssertionError, match=r"is x \+ f\(norm\(x\)\), the text says norm"):
        check_norm_order(BLOCKS["pre"], X, "post")
    with pytest.raises(AssertionError, match="the code is neither order"):
        check_norm_order(BLOCKS["neither"], X, "pre")
    with pytest.raises(ValueError, match="order: got 'after'"):
        check_norm_order(BLOCKS["pre"], X, "after")  # type: ignore[arg-type]


def test_two_ways_that_differ() -> None:
    check_agree(np.sin, lambda x: np.cos(x - math.pi / 2), X)
    with pytest.raises(AssertionError, match=r"differ by up to 1, first at \[0, 2, 1\]"):
        check_agree(lambda x: x, lambda x: x + 1.0 * (x == x[0, 2, 1]), X)
    with pytest.raises(AssertionError, match="differ in shape"):
        check_agree(lambda x: x, lambda x: x[:, 1:], X)


# Text


def counted(
    *,
    penalty: Function | None = None,
    clipped: bool = True,
    mean: bool = False,
    factor: float = 100,
) -> Function:
    """BLEU by counting, one of its parts possibly wrong."""

    def grams(words: Any, n: int) -> list[Any]:
        return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]

    def score(found: Any, wanted: Any) -> float:
        if mean and len(found) > 1:
            each = [score([f], [w]) for f, w in zip(found, wanted, strict=True)]
            return sum(each) / len(each)
        product = 1.0
        for n in range(1, 5):
            right = total = 0
            for has, wants in (
                (grams(f, n), grams(w, n)) for f, w in zip(found, wanted, strict=True)
            ):
                total += len(has)
                for gram in set(has):
                    limit = wants.count(gram) if clipped else len(has) * (gram in wants)
                    right += min(has.count(gram), limit)
            product *= right / total
        h, r = sum(map(len, found)), sum(map(len, wanted))
        chosen = penalty or (lambda h, r: math.exp(min(0, 1 - r / h)))
        return float(factor * product**0.25 * chosen(h, r))

    return score


def test_a_bleu_that_is_none() -> None:
    cases: list[Any] = [
        (counted(penalty=lambda h, r: 1.0), "brevity penalty is missing"),
        (counted(penalty=lambda h, r: math.exp(min(0, h / r - 1))), "r the reference's length"),
        (counted(factor=1.0), "a fraction"),
        (
            counted(penalty=lambda h, r: math.exp(-abs(1 - max(r, h) / min(r, h)))),
            "too long needs no",
        ),
        (counted(penalty=lambda h, r: math.exp(1 - r / h)), "at most 1"),
        (counted(clipped=False), "clip the counts"),
        (counted(mean=True), "mean over sentences"),
        (counted(factor=97.0), "wanted 36.79"),
    ]
    for score, hint in cases:
        with pytest.raises(AssertionError, match=hint):
            check_bleu(score)


def test_bleu() -> None:
    check_bleu(counted())
    check_bleu(bleu)


def test_blanks_around_punctuation() -> None:
    def split_at_blanks(found: Any, wanted: Any) -> float:
        return bleu([text.split() for text in found], [text.split() for text in wanted])

    check_spacing(lambda found, wanted: 100.0)
    with pytest.raises(AssertionError, match="blanks around punctuation change the score from 100"):
        check_spacing(split_at_blanks)
