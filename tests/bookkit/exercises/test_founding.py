"""The check functions of "The founding notebook, corrected": right passes, wrong gets its hint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from bookkit.exercises.founding import (
    check_leak_test,
    check_masked_loss,
    check_pairwise_scores,
    check_shift,
)
from companion.scores import additive_score

Answer = Callable[..., Any]


def nothing(*_: object) -> None:
    """An answer that was not written yet."""


def pairwise(q: Tensor, k: Tensor, w: Tensor, u: Tensor, v: Tensor) -> Tensor:
    return torch.tanh((q @ w)[:, :, None] + (k @ u)[:, None]) @ v


def shift(target: Tensor, bos: int, eos: int) -> tuple[Tensor, Tensor]:
    rows = [[token for token in row if token] for row in target.tolist()]
    width = target.shape[1]
    read = [[bos, *row] + [0] * (width - len(row)) for row in rows]
    said = [[*row, eos] + [0] * (width - len(row)) for row in rows]
    return torch.tensor(read), torch.tensor(said)


def masked(logits: Tensor, target: Tensor, lengths: Tensor) -> Tensor:
    mask = torch.arange(target.shape[1]) < lengths[:, None]
    return cross_entropy(logits[mask], target[mask])


def changed(target_in: Tensor, place: int, vocabulary: int) -> Tensor:
    other = target_in.clone()
    other[:, place] = (other[:, place] + 1) % vocabulary
    return other


def leaks(predict: Answer, target_in: Tensor) -> bool:
    before = predict(target_in)
    return any(
        not torch.equal(
            before[:, :place], predict(changed(target_in, place, before.shape[-1]))[:, :place]
        )
        for place in range(1, target_in.shape[1])
    )


def leaks_last(predict: Answer, target_in: Tensor) -> bool:
    """Change the last word only."""
    before = predict(target_in)
    place = target_in.shape[1] - 1
    after = predict(changed(target_in, place, before.shape[-1]))
    return not torch.equal(before[:, :place], after[:, :place])


def leaks_first_output(predict: Answer, target_in: Tensor) -> bool:
    """Compare the first output only."""
    before = predict(target_in)
    return any(
        not torch.equal(before[:, 0], predict(changed(target_in, place, 13))[:, 0])
        for place in range(1, target_in.shape[1])
    )


def leaks_including_itself(predict: Answer, target_in: Tensor) -> bool:
    """Compare all outputs, that of the changed word included."""
    return not torch.equal(predict(target_in), predict(changed(target_in, 2, 13)))


def with_pads(target: Tensor, bos: int, eos: int) -> tuple[Tensor, Tensor]:
    column = torch.ones(len(target), 1, dtype=torch.long)
    return torch.cat((bos * column, target), 1), torch.cat((target, eos * column), 1)


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_pairwise_scores, pairwise),
        (check_pairwise_scores, additive_score),
        (check_shift, shift),
        (check_masked_loss, masked),
        (check_leak_test, leaks),
    ],
)
def test_right_answers_pass(
    check: Callable[[Answer], None], answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def test_a_float_is_a_loss() -> None:
    check_masked_loss(lambda *given: float(masked(*given)))


@pytest.mark.parametrize(
    "check", [check_pairwise_scores, check_shift, check_masked_loss, check_leak_test]
)
def test_empty_answers_fail(
    check: Callable[[Answer], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AssertionError, match=r"returned None|got nothing"):
        check(nothing)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda q, k, w, u, v: torch.tanh(q @ w + k @ u) @ v, "axes of its own"),
        (lambda *given: pairwise(*given).mT, "rows are queries"),
        (lambda *given: pairwise(*given).softmax(-1), "leave the softmax"),
        (lambda q, k, w, u, v: pairwise(q, k, w, u, v[:, None]), "size 1 too many"),
        (lambda q, k, w, u, v: ((q @ w)[:, :, None] + (k @ u)[:, None]) @ v, "tanh is missing"),
        (lambda q, k, w, u, v: torch.tanh((q @ w)[:, :, None] + (k @ u)[:, None]), "v is missing"),
        (lambda q, k, w, u, v: pairwise(q, k, u, w, v), "W belongs to the queries"),
        (lambda *given: pairwise(*given).mean(-1), r"wanted \(b, q, k\)"),
        (lambda *given: 2 * pairwise(*given), "the numbers are not"),
        (lambda *given: pairwise(*given).tolist(), "got a list"),
    ],
)
def test_wrong_scores(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_pairwise_scores(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda t, b, e: (t, t), "the very words"),
        (lambda t, b, e: shift(t, b, e)[::-1], "swapped"),
        (lambda t, b, e: shift(t, b, e)[0], "wanted a pair"),
        (lambda t, b, e: (t, shift(t, b, e)[1]), "without <bos>"),
        (lambda t, b, e: (shift(t, 0, e)[0], shift(t, b, e)[1]), "not with padding"),
        (lambda t, b, e: (shift(t, b, e)[0][:, :-1], t), "cut off"),
        (with_pads, "behind the padding"),
        (lambda t, b, e: (shift(t, b, e)[0], shift(t, b, 0)[1]), "never learns to stop"),
        (lambda t, b, e: (shift(t, b, e)[0], t), "one longer"),
    ],
)
def test_wrong_shifts(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_shift(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x, t, n: cross_entropy(x.flatten(0, 1), t.flatten()), "padding is counted"),
        (lambda x, t, n: masked(x, t, n) * n.sum(), "that is the sum"),
        (lambda x, t, n: masked(x, t, n) * n.sum() / t.numel(), "number you divide by"),
        (
            lambda x, t, n: (
                sum(masked(x[i : i + 1], t[i : i + 1], n[i : i + 1]) for i in range(3)) / 3
            ),
            "sentences' means",
        ),
        (lambda x, t, n: cross_entropy(x.mT, t, ignore_index=0), "0 is a word"),
        (
            lambda x, t, n: cross_entropy(
                x[torch.arange(5) >= n[:, None]], t[torch.arange(5) >= n[:, None]]
            ),
            "upside down",
        ),
        (lambda x, t, n: -masked(x, t, n), "sign"),
        (lambda x, t, n: masked(x, t, n) + 1, "the numbers are not"),
        (lambda x, t, n: x[n], "stops with"),
    ],
)
def test_wrong_losses(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_masked_loss(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda predict, target_in: False, "reads the whole sentence"),
        (lambda predict, target_in: True, "Only outputs before"),
        (leaks_last, "one word ahead at its first step alone"),
        (leaks_first_output, "at its last step but one"),
        (leaks_including_itself, "Only outputs before"),
    ],
)
def test_wrong_leak_tests(answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_leak_test(answer)
