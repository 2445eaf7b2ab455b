"""What the checks say of mistakes that neither the kit's broken functions nor the museum's have.

Nor is said again what the examples of their docstrings say.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from companion import conformance as checks
from companion.attention import attention_with_lse, attention_with_weights
from companion.attention import scaled_dot_product_attention as attend
from companion.conformance import influence
from companion.layers import MultiHeadAttention
from companion.metrics import bleu

Function = Callable[..., Any]

draw = np.random.default_rng(0)
X, OTHER = draw.normal(size=(2, 6, 4)), draw.normal(size=(2, 6, 4))
TENSORS = torch.tensor(X), torch.tensor(OTHER)
LOWER, OWN, FULL = np.tri(6, dtype=bool), np.eye(6, dtype=bool), np.ones((6, 6), dtype=bool)
ONE_LEAK = LOWER.copy()
ONE_LEAK[1, 4] = True


def mixed(mask: Any, *, residual: bool = False) -> Function:
    """A function whose output i is a mean of the positions that a mask allows to i."""
    weights = np.asarray(mask, dtype=float)
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1)
    return lambda x: weights @ x + (residual * x if residual else 0)


def masked(change: Function = lambda mask: mask, *, residual: bool = False) -> Function:
    return lambda x, mask: mixed(change(mask), residual=residual)(x)


def padded(allowed: Function) -> Function:
    def function(x: Any, lengths: Any) -> Any:
        mask = allowed(np.arange(x.shape[1]), lengths[:, None, None])
        return attend(x, x, x, np.broadcast_to(mask, (len(x), 1, x.shape[1])))

    return function


def causally(x: Any) -> Any:
    return attend(x, x, x, is_causal=True)


def starts(*, extra: float = 0.0) -> Function:
    """What begins a text with a cache."""

    def start() -> Function:
        seen: list[Any] = []

        def step(x: Any) -> Any:
            before = sum(piece.shape[1] for piece in seen)
            seen.append(x)
            keys = np.concatenate(seen, 1)
            return extra + attend(x, keys, keys, is_causal=True, offset=before)

        return step

    return start


def nothing_allowed(answer: str) -> Function:
    """Attention that gives a row with nothing allowed one of the answers in use."""

    def function(x: Any, mask: Any) -> Any:
        if answer == "first":
            mask = mask.clone()
            mask[~mask.any(-1), 0] = True
        output = (x @ x.mT).masked_fill(~mask, -math.inf).softmax(-1) @ x
        return output.nan_to_num() if answer == "repaired" else output

    return function


NOISE = np.random.default_rng(1)
LENGTHS = np.array([6, 3])
FOUND: list[tuple[str, Function, tuple[Any, ...]]] = [
    ("is dropout on", checks.check_causal, (lambda x: x + NOISE.normal(size=x.shape), X, OTHER)),
    ("NaN or infinite", checks.check_causal, (lambda x: x * math.nan, X, OTHER)),
    ("upside down", checks.check_causal, (mixed(LOWER.T), X, OTHER)),
    ("output 1 depends on position 4, its future (1 such", checks.check_causal,
     (mixed(ONE_LEAK), X, OTHER)),
    ("is the input read at all", checks.check_causal, (mixed(0 * OWN), X, OTHER)),
    ("exactly the positions that are forbidden: upside down", checks.check_influence,
     (mixed(~LOWER), X, OTHER, LOWER)),
    ("output 1 does not depend on position 0, which it may read (15 such", checks.check_influence,
     (mixed(OWN), X, OTHER, LOWER)),
    ("which it must not", checks.check_reach, (mixed(LOWER), X, OTHER, 2)),
    ("the mask changes nothing", checks.check_mask, (masked(lambda mask: FULL), X, OTHER)),
    ("which it must not", checks.check_mask, (masked(lambda mask: mask.T | LOWER), X, OTHER)),
    ("which it may read", checks.check_mask, (masked(lambda mask: mask & LOWER), X, OTHER)),
    ("read upside down", checks.check_mask,
     (masked(lambda mask: ~mask, residual=True), X, OTHER)),
    ("what stands in the padding", checks.check_padding,
     (padded(lambda place, length: place <= length), X, LENGTHS, OTHER)),
    ("without its padding", checks.check_padding,
     (lambda x, lengths: x / x.shape[1], X, LENGTHS, OTHER)),
    ("output 0 of 4 positions is another when there are 6", checks.check_prefixes,
     (lambda x: x.cumsum(1) + (x.shape[1] == 4), X)),
    ("not the same model", checks.check_cached, (causally, starts(extra=1.0), X)),
    ("wanted (q, k)", checks.check_relative, (lambda query, key: query * key,)),
    ("moved by 50", checks.check_relative,
     (lambda query, key: query[:, None] - key + 1.0 * (key > 30),)),
    ("depends on other positions", checks.check_dead_row, (nothing_allowed("first"), *TENSORS)),
    ("the gradient is NaN", checks.check_dead_row, (nothing_allowed("repaired"), *TENSORS)),
    ("the code is neither order", checks.check_norm_order, (lambda x: 1.5 * x, X, "pre")),
    ("differ by up to 1, first at [0, 2, 1]", checks.check_agree,
     (lambda x: x, lambda x: x + 1.0 * (x == x[0, 2, 1]), X)),
    ("differ in shape", checks.check_agree, (lambda x: x, lambda x: x[:, 1:], X)),
]  # fmt: skip


def complaint(check: Function, *given: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as caught, np.errstate(all="ignore"):
        check(*given, **options)
    return str(caught.value)


@pytest.mark.parametrize(("said", "check", "given"), FOUND)
def test_a_mistake_gets_its_hint(said: str, check: Function, given: tuple[Any, ...]) -> None:
    assert said in complaint(check, *given)


def test_what_cannot_show_a_mistake_is_refused() -> None:
    lower, same = mixed(LOWER), np.where(np.arange(6)[:, None] == 2, X, OTHER)
    refused: list[tuple[str, Function, tuple[Any, ...]]] = [
        ("other: is as x at position 2", influence, (lower, X, same)),
        ("gave a tuple, wanted one array", influence, (lambda x: (x, x), X, OTHER)),
        ("gave 3 positions for 6", checks.check_causal, (mixed(np.ones((3, 6))), X, OTHER)),
        ("allowed: got shape", checks.check_influence, (lower, X, OTHER, np.tri(5))),
        ("n at least 7", checks.check_reach, (lower, X, OTHER, 5)),
        ("no padding to try", checks.check_padding, (lower, X, np.array([6, 6]), OTHER)),
    ]
    for said, check, given in refused:
        with pytest.raises((TypeError, ValueError)) as caught:
            check(*given)
        assert said in str(caught.value)


def test_influence_is_what_is_read() -> None:
    for mask in (LOWER, OWN, FULL, np.ones((3, 6)), draw.random((6, 6)) < 0.5):
        assert np.array_equal(influence(mixed(mask), X, OTHER), mask)
    assert np.array_equal(influence(causally, *TENSORS), LOWER)
    ids = np.arange(6)[None]
    assert np.array_equal(influence(lambda x: np.cumsum(x, 1), ids, ids + 1), LOWER)
    second = np.array([0.0, 1.0])[:, None, None]  # a change in one sequence is enough
    assert np.array_equal(influence(lambda x: x * second, X, OTHER), OWN)


def test_what_is_right_passes() -> None:
    for reads in (LOWER, OWN, np.tri(6, k=-1)):
        checks.check_causal(mixed(reads), X, OTHER)
    checks.check_mask(masked(residual=True), X, OTHER)
    torchs = nn.MultiheadAttention(4, 2, batch_first=True).double()
    checks.check_mask(lambda x, mask: torchs(x, x, x, attn_mask=~mask)[0], *TENSORS)
    real = padded(lambda place, length: place < length)
    checks.check_padding(real, X, LENGTHS, OTHER)
    checks.check_cached(causally, starts(), X)
    checks.check_agree(np.sin, lambda x: np.cos(x - math.pi / 2), X)
    layer, narrow = (MultiHeadAttention(4, 2, window=window).double() for window in (None, 3))
    checks.check_causal(lambda x: layer(x, is_causal=True), *TENSORS)
    checks.check_dead_row(lambda x, mask: layer(x, attn_mask=mask), *TENSORS)
    checks.check_permutation(layer, TENSORS[0])
    checks.check_reach(lambda x: narrow(x, is_causal=True), *TENSORS, size=3)
    for offset in (1, 7):
        causal = partial(attend, is_causal=True, offset=offset)
        checks.check_offset(causal, like=np.ones(1), offset=offset)


# Functions of a query, a key and a value


def shifted_by_a_mean(query: Any, key: Any, value: Any) -> Any:
    scores = query @ key.mT / 2
    powers = np.exp(np.clip(scores - scores.mean(-1, keepdims=True), -700, 700) / 1e4)
    return powers / powers.sum(-1, keepdims=True) @ value


def neighbours(query: Any, key: Any, value: Any) -> Any:
    return attend(query, np.roll(key, 1, 1), np.roll(value, 1, 1))


def backwards(query: Any, key: Any, value: Any) -> Any:
    return attend(query, key[:, ::-1], value[:, ::-1], enable_gqa=True)


def clipped(query: Any, key: Any, value: Any, cap: float) -> Any:
    scores = np.clip(query @ key.mT / 4, -cap, cap)
    return attend(0 * query, key, value, scores, is_causal=True)


def biased(change: Function) -> Function:
    def function(query: Any, key: Any, value: Any, mask: Any) -> Any:
        return attend(query, key, value, np.nan_to_num(change(mask), neginf=-1e9))

    return function


def sunk(change: Function) -> Function:
    def function(query: Any, key: Any, value: Any, sinks: Any = None) -> Any:
        return attend(query, key, value, sinks=None if sinks is None else change(sinks))

    return function


def sharper(query: Any, key: Any, value: Any) -> Any:
    return attend(query, key, value), attention_with_weights(2 * query, key, value)[1]


def beside(change: Function) -> Function:
    """A function that gives a log-sum-exp, changed."""

    def function(query: Any, key: Any, value: Any) -> Any:
        output, lse = attention_with_lse(query, key, value)
        return output, change(lse, query @ key.mT)

    return function


CALLS: list[tuple[str, Function, Function]] = [
    ("the scale is 0.7, wanted", partial(checks.check_scale, head_width=16),
     partial(attend, scale=0.7)),
    ("not divided by their sum", checks.check_definition,
     lambda q, k, v: np.exp(q @ k.mT / 8**0.5) @ v),
    ("sum to 0.9 to 0.9", checks.check_definition, lambda *qkv: 0.9 * attend(*qkv)),
    ("the weight of its own key", checks.check_definition,
     lambda q, k, v: attend(q, k, np.roll(v, 1, axis=-2))),
    ("gave the shape", checks.check_definition, lambda *qkv: attend(*qkv)[0]),
    ("the largest score of the row", checks.check_large_scores, shifted_by_a_mean),
    ("a later query sees others", partial(checks.check_offset, offset=1), attend),
    ("3 heads gave 1", checks.check_heads, lambda *qkv: attend(*qkv)[:, :1]),
    ("is the input read", checks.check_heads, lambda q, k, v: np.zeros(q.shape)),
    ("head 0 depends on head 2", checks.check_heads, neighbours),
    ("[1, 1, 1, 0, 0, 0]", checks.check_grouped, backwards),
    ("wanted sigmoid(lse - sink)", checks.check_sinks, sunk(lambda sinks: sinks + 1)),
    ("cap * tanh(scaled product / cap)", checks.check_softcap, clipped),
    ("wanted [0.25, 0.75]", checks.check_bias, biased(lambda mask: 2 * mask)),
    ("-inf in the mask", checks.check_bias, biased(lambda mask: np.maximum(mask, -1))),
    ("not the values blended by the weights", checks.check_weights, sharper),
    ("wanted the output and one array more", checks.check_weights, attend),
    ("wanted (2, 3, 5, 7)", checks.check_weights,
     lambda *qkv: (attend(*qkv), attention_with_weights(*qkv)[1].mT)),
    ("wanted its logarithm", checks.check_lse, beside(lambda lse, products: np.exp(lse))),
    ("not scaled", checks.check_lse,
     beside(lambda lse, products: np.log(np.exp(products).sum(-1)))),
    ("differs by up to 1", checks.check_lse, beside(lambda lse, products: lse + 1)),
    ("lse: gave the shape", checks.check_lse, beside(lambda lse, products: lse[..., None])),
    ("gave 3 results", checks.check_lse, lambda *qkv: (*attention_with_weights(*qkv), 0.0)),
]  # fmt: skip


@pytest.mark.parametrize(("said", "check", "function"), CALLS)
def test_a_call_with_a_mistake_gets_its_hint(
    said: str, check: Function, function: Function
) -> None:
    assert said in complaint(check, function, like=np.ones(1))


def recurrence(forget: str) -> Function:
    def function(query: Any, key: Any, value: Any, decay: Any, beta: Any) -> Any:
        state, outputs = 0.0 * key[0][:, None] * value[0], []
        for q, k, v, left, share in zip(query, key, value, decay, beta, strict=True):
            old = state if forget in ("compared late", "never") else left * state
            held = 0 * v if forget in ("uncompared", "never") else k @ old
            state = old + share * k[:, None] * (v - held)
            state = left * state if forget == "compared late" else state
            outputs.append(q @ state)
        return np.stack(outputs)

    return function


def test_the_delta_rule_reads_what_it_wrote() -> None:
    one, first = np.ones(1), recurrence("first")
    checks.check_delta_rule(first, like=one)
    half = lambda q, k, v, decay, beta: first(q, k, v, decay, beta / 2)  # noqa: E731
    for function, said in (
        (recurrence("compared late"), "1 is read, wanted 2: the state forgets after it has"),
        (recurrence("uncompared"), "7 is read, wanted 2: the new value is added"),
        (recurrence("never"), "12 is read, wanted 2: the state neither forgets nor compares"),
        (half, "wanted 2"),
    ):
        assert said in complaint(checks.check_delta_rule, function, like=one)


# Texts


def brevity(h: int, r: int) -> float:
    return math.exp(min(0, 1 - r / h))


def rated(penalty: Function = brevity, *, copies: int = 1, factor: float = 1) -> Function:
    """BLEU with another penalty; with a reference said often enough, as if nothing were clipped."""

    def score(found: Any, wanted: Any) -> float:
        h, r = sum(map(len, found)), sum(map(len, wanted))
        often = [list(reference) * copies for reference in wanted]
        precision = bleu(found, often) / brevity(h, copies * r)
        return float(factor * precision * penalty(h, r))

    return score


def mean(found: Any, wanted: Any) -> float:
    each = [bleu([one], [its]) for one, its in zip(found, wanted, strict=True)]
    return sum(each) / len(each)


def test_a_score_that_is_none() -> None:
    checks.check_bleu(rated())
    for score, said in (
        (rated(lambda h, r: math.exp(min(0, h / r - 1))), "r the reference's length"),
        (rated(factor=0.01), "a fraction"),
        (rated(lambda h, r: math.exp(1 - max(r, h) / min(r, h))), "too long needs no"),
        (rated(lambda h, r: math.exp(1 - r / h)), "at most 1"),
        (rated(copies=9), "clip the counts"),
        (mean, "mean over sentences"),
        (rated(factor=0.97), "wanted 36.79"),
    ):
        assert said in complaint(checks.check_bleu, score)
