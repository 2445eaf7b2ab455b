"""The check functions of "From scratch": wrong gets the hint at its cause."""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from bookkit.exercises import from_scratch
from bookkit.exercises.from_scratch import (
    check_columns,
    check_grouped_gradient,
    check_kept,
    check_test,
)

Answer = Callable[..., Any]


def make_grouped(
    order: Callable[[int, int, int], int] = lambda i, h, g: i * g // h,
    scale_back: bool = True,
    centred: bool = True,
    add: Callable[[Any], Any] = lambda parts: sum(parts),
) -> Answer:
    """Gradients head by head; how those that share a head are joined may be wrong."""

    def gradients(query: Any, key: Any, value: Any, gradient: Any) -> Any:
        h, g, d = len(query), len(key), query.shape[-1]
        scale = d**-0.5
        at_query, at_key, at_value = [], [[] for _ in key], [[] for _ in value]  # type: ignore[var-annotated]
        for i in range(h):
            head = i * g // h
            scores = scale * query[i] @ key[head].T
            weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
            at_weights = gradient[i] @ value[head].T
            mean = (gradient[i] * (weights @ value[head])).sum(-1, keepdims=True)
            at_scores = weights * (at_weights - (mean if centred else 0))
            back = scale if scale_back else 1.0
            at_query.append(back * at_scores @ key[head])
            at_key[order(i, h, g)].append(back * at_scores.T @ query[i])
            at_value[order(i, h, g)].append(weights.T @ gradient[i])
        return (
            np.stack(at_query),
            np.stack(list(map(add, at_key))),
            np.stack(list(map(add, at_value))),
        )

    return gradients


def by_autograd(query: Any, key: Any, value: Any, gradient: Any) -> Any:
    leaves = [torch.tensor(x[None], requires_grad=True) for x in (query, key, value)]
    output = torch.nn.functional.scaled_dot_product_attention(
        leaves[0], leaves[1], leaves[2], enable_gqa=True
    )
    found = torch.autograd.grad(output, leaves, torch.tensor(gradient[None]))
    return tuple(one[0] for one in found)


def thorough(attention: Answer) -> bool:
    """Against loops, at sizes that are all different."""
    generator = np.random.default_rng(0)
    query, key, value = (
        generator.normal(size=shape) for shape in ((3, 4, 5), (3, 7, 5), (3, 7, 2))
    )
    wanted = np.zeros((3, 4, 2))
    for head in range(3):
        for i in range(4):
            powers = [
                cmath.exp(query[head, i] @ key[head, j] / 5**0.5).real if j <= i + 3 else 0.0
                for j in range(7)
            ]
            for j in range(7):
                wanted[head, i] += powers[j] / sum(powers) * value[head, j]
    return np.allclose(attention(query, key, value), wanted)


def test_the_word_that_keeps_its_output(capsys: pytest.CaptureFixture[str]) -> None:
    check_kept(["house"])
    assert capsys.readouterr().out == "Right.\n"
    for kept, hint in (
        ([], "got no word"),
        (["she"], "she sees only itself"),
        (["new", "house"], "hides nothing from it"),
        (["home"], "wanted words of the sentence"),
        ("house", "wanted a list of words"),
        (None, "wanted a list of words"),
    ):
        with pytest.raises(AssertionError, match=hint):
            check_kept(kept)


def test_the_columns_of_equal_scores(capsys: pytest.CaptureFixture[str]) -> None:
    right = [[0.33, 0, 0], [0.33, 0.5, 0], [0.33, 0.5, 1]]
    check_columns(right, [0.33, 0.83, 1.83])
    assert capsys.readouterr().out == "Right.\n"
    thirds = np.full((3, 3), 1 / 3)
    for weights, sums, hint in (
        ([[1, 0, 0], [0.5, 0.5, 0], [0.33, 0.33, 0.33]], [1, 1, 1], "weights: the rows sum to 1"),
        (np.transpose(right), [1, 1, 1], "weights: queries and keys are exchanged"),
        (thirds, [1, 1, 1], "weights: the mask is still there"),
        (right, [1, 1, 1], "sums: these are the sums of the columns"),
        (right, [1.83, 0.83, 0.33], "sums: from the first query"),
        (right, [0.33], "sums: got shape"),
    ):
        with pytest.raises(AssertionError, match=hint):
            check_columns(weights, sums)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_grouped_gradient, make_grouped()),
        (check_grouped_gradient, by_autograd),
        (check_test, thorough),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


GROUPED: list[tuple[Answer, str]] = [
    (make_grouped(scale_back=False), "query: the scale is missing"),
    (make_grouped(centred=False), "query: the row's mean, D"),
    (make_grouped(lambda i, h, g: i % g), "key: heads are shared by neighbours"),
    (make_grouped(add=lambda parts: sum(parts) / len(parts)), "key: what the query heads"),
    (make_grouped(add=lambda parts: parts[0]), "key: the shape is right"),
    (
        lambda q, k, v, do: (make_grouped()(q, k, v, do)[0], np.zeros((6, 5, 7)), v),
        r"key: got shape \(6, 5, 7\), wanted \(3, 5, 7\)",
    ),
    (
        lambda q, k, v, do: (
            *make_grouped()(q, k, v, do)[:2],
            make_grouped()(q, k.repeat(2, 0), v.repeat(2, 0), do)[2],
        ),
        "value: a gradient for each query head",
    ),
    (lambda q, k, v, do: q, "wanted three gradients"),
    (lambda q, k, v, do: None, "end in a return"),
    (lambda q, k, v, do: ("a", k, v), "query: got 'a', wanted an array"),
    (lambda q: q, "your function stops"),
]


def drawn(q: int, k: int, d: int, v: int, h: int = 2) -> Any:
    generator = np.random.default_rng(1)
    return [generator.normal(size=shape) for shape in ((h, q, d), (h, k, d), (h, k, v))]


def like_the_right_one(*sizes: int) -> Answer:
    """Compare on arrays of those sizes only."""

    def test(attention: Answer) -> bool:
        given = drawn(*sizes)
        return np.allclose(attention(*given), from_scratch._causal(*given))

    return test


def future_is_unseen(attention: Answer) -> bool:
    query, key, value = drawn(5, 5, 3, 4)
    before = attention(query, key, value)
    key[:, -1] += 1
    value[:, -1] += 1
    return np.allclose(attention(query, key, value)[:, :-1], before[:, :-1])


TESTS: list[tuple[Answer, str]] = [
    (lambda attention: False, "turns down an attention that is right"),
    (lambda attention: attention(1), "turns down an attention that is right"),
    (lambda attention: True, "lets a mistake pass: no scale"),
    (lambda attention: attention(*drawn(4, 7, 5, 2)).shape == (2, 4, 2), "no scale"),
    (future_is_unseen, "no scale"),
    (like_the_right_one(4, 7, 5, 5), "different widths"),
    (like_the_right_one(6, 6, 5, 2), "aligned with the first key"),
    (like_the_right_one(4, 7, 5, 2, 1), "more than one head"),
    (lambda attention: None, "end in a return"),
]


@pytest.mark.parametrize(
    ("check", "answer", "hint"),
    [
        *((check_grouped_gradient, *case) for case in GROUPED),
        *((check_test, *case) for case in TESTS),
    ],
)
def test_a_wrong_answer_gets_the_hint_at_its_cause(
    check: Answer, answer: Answer, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("hint", from_scratch.MISTAKES)
def test_every_mistake_is_one(hint: str) -> None:
    """It gives other numbers, of the right shape, or stops."""
    assert not like_the_right_one(6, 6, 5, 2)(from_scratch.MISTAKES[hint]) or (
        "aligned" in hint and not thorough(from_scratch.MISTAKES[hint])
    )
