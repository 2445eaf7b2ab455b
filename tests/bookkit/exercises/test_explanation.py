"""The check functions of "Is attention explanation?": wrong gets the hint at its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bookkit.exercises.explanation import (
    check_ceiling,
    check_erase,
    check_rollout,
    check_tau,
)

Answer = Callable[..., Any]


def erase(weights: Any, place: int) -> list[float]:
    kept = [0.0 if n == place else float(w) for n, w in enumerate(weights)]
    return [w / sum(kept) for w in kept]


def tau(a: Any, b: Any) -> float:
    return float(stats.kendalltau(a, b).statistic)


def ceiling(values: Any) -> float:
    most: int = max(values.count(value) for value in values)
    return most / len(values)


def make_rollout(residual: float = 0.5, weight: float = 0.5, order: int = 1) -> Answer:
    def rollout(blocks: Any) -> Any:
        found: Any = None
        for block in blocks[::order]:
            mixed = weight * block + residual * np.eye(len(block))
            found = mixed if found is None else np.einsum("ij,jk->ik", mixed, found)
        return found

    return rollout


RIGHT: list[tuple[Answer, Answer]] = [
    (check_erase, erase),
    (check_tau, tau),
    (check_ceiling, ceiling),
    (check_rollout, make_rollout()),
]


@pytest.mark.parametrize(("check", "answer"), RIGHT, ids=range(len(RIGHT)))
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


def spread(weights: Any, place: int) -> Any:
    found = weights + weights[place] / (len(weights) - 1)
    found[place] = 0.0
    return found


def softened(weights: Any, place: int) -> Any:
    found = np.exp(weights)
    found[place] = 0.0
    return found / found.sum()


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_erase, lambda w, j: np.where(np.arange(len(w)) == j, 0, w), "no longer sum to 1"),
    (check_erase, lambda w, j: w, "nothing is erased"),
    (check_erase, softened, "no softmax"),
    (check_erase, spread, "in equal parts"),
    (check_erase, lambda w, j: erase(w, (j - 1) % len(w)), "counts from 0"),
    (check_erase, lambda w, j: np.delete(w, j), r"got shape \(2,\), wanted \(3,\)"),
    (check_erase, lambda w, j: None, "end in a return"),
    (check_erase, lambda w, j: "gone", "wanted an array"),
    (check_erase, lambda w, j: w + 1, "the numbers are not"),
    (check_tau, lambda a, b: 2 * tau(a, b), "each pair counts once"),
    (check_tau, lambda a, b: tau(a, b) * len(a) * (len(a) - 1) / 2, "number of pairs"),
    (check_tau, lambda a, b: tau(a, b) / 2, "half of what it should"),
    (check_tau, lambda a, b: (tau(a, b) + 1) / 2, "the others -1, not 0"),
    (check_tau, lambda a, b: -tau(a, b), "sign is turned around"),
    (check_tau, lambda a, b: np.corrcoef(a, b)[0, 1], "Pearson"),
    (check_tau, lambda a, b: 0.123, r"got 0\.123"),
    (check_tau, lambda a, b: [1], "wanted a number"),
    (check_ceiling, lambda v: 1 / len(set(v)), "several names have"),
    (check_ceiling, lambda v: 1 / len(v), "the model knows the values"),
    (
        check_ceiling,
        lambda v: sum(n * n for n in Counter(v).values()) / len(v) ** 2,
        "beats drawing a value at random",
    ),
    (check_ceiling, lambda v: max(Counter(v).values()), "divide by the number of facts"),
    (check_ceiling, lambda v: 0.9, r"got 0\.900"),
    (check_rollout, make_rollout(residual=0.0, weight=1.0), "the residual is missing"),
    (check_rollout, make_rollout(order=-1), "last block stands on the left"),
    (check_rollout, make_rollout(residual=1.0, weight=1.0), "rows no longer sum to 1"),
    (check_rollout, lambda b: (b[-1] + np.eye(len(b[0]))) / 2, "the last block alone"),
    (
        check_rollout,
        lambda b: np.prod([(x + np.eye(len(x))) / 2 for x in b], axis=0),
        "multiply matrices",
    ),
    (check_rollout, lambda b: b[0][0], "got shape"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_answer_gets_its_hint(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)
