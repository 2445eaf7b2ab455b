"""The check functions of "Heads that copy": what is wrong gets the hint at its cause."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bookkit.exercises.induction import (
    check_copies,
    check_induction,
    check_two_candidates,
    check_weights_by_hand,
    follows,
)

Model = Callable[[list[int]], list[int]]


def head(shift: int = 1, *, latest: bool = True) -> Callable[[list[str]], Any]:
    """A head that looks at a place beside an earlier occurrence."""

    def weights(tokens: list[str]) -> Any:
        rows = []
        for i, token in enumerate(tokens):
            earlier = [j for j in range(i) if tokens[j] == token]
            at = (earlier[-1 if latest else 0] + shift) if earlier else 0
            rows.append([float(j == at) for j in range(len(tokens))])
        return rows

    return weights


def copies(*lengths: int, letters: int = 20, start: int = 0) -> Callable[[Model], bool]:
    """A test of models with blocks of some lengths."""

    def test(model: Model) -> bool:
        for length in lengths:
            block = [1 + i % letters for i in range(length)]
            said = model(block + block)
            if said[length - start : -1] != (block + block)[length - start + 1 :]:
                return False
        return True

    return test


def test_right_answers_pass(capsys: pytest.CaptureFixture[str]) -> None:
    check_two_candidates(0.5, 0.5)
    check_weights_by_hand(0.51, 0.89)
    check_induction(head())
    check_copies(copies(3, 5, 8, 11))
    assert capsys.readouterr().out == "Right.\n" * 4


@pytest.mark.parametrize(
    ("of_b", "of_c", "hint"),
    [(0, 1, "latest"), (1, 0, "first occurrence"), (1 / 3, 1 / 3, "add up to 1")],
)
def test_candidates(of_b: float, of_c: float, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_two_candidates(of_b, of_c)


@pytest.mark.parametrize(
    ("softer", "sharper", "hint"),
    [
        (1.0, 0.89, "a score of 0 counts"),
        (7.39, 0.89, "divide it by the sum"),
        (0.48, 0.89, "seven that are none"),
        (0.55, 0.89, "look at itself"),
        (0.22, 0.89, "exponentials"),
        (0.51, 0.90, "sharper: "),
    ],
)
def test_weights(softer: float, sharper: float, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_weights_by_hand(softer, sharper)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (head(0), "the place of the occurrence|the position of the occurrence"),
        (head(latest=False), "the latest occurrence counts"),
        (lambda tokens: [list(row) for row in zip(*head()(tokens), strict=True)], "rows are"),
        (lambda tokens: [[1.0] * len(tokens)] * len(tokens), "later position"),
    ],
)
def test_head(answer: Callable[[list[str]], Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_induction(answer)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (copies(8), "always looks 8 back"),
        (copies(5), "always looks 5 back"),
        (copies(8, start=1), "a model that copies is refused"),
        (copies(3, 8, letters=1), "the same letter again"),
        (lambda model: model([1, 2]) == [0, 0] or model is follows, "passes|refused"),
        (lambda model: 1, "True or False"),
    ],
)
def test_tells_copiers(answer: Callable[[Model], Any], hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check_copies(answer)
