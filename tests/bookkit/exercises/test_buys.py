"""The check functions of "What attention buys": wrong gets the hint at its cause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from bookkit.exercises.buys import check_front, check_local, check_updates, check_weights

Answer = Callable[..., Any]


def make_local(
    *,
    sigma: float = 0.5,
    bell: float = 0.5,
    everywhere: bool = False,
    edge: bool = True,
    again: bool = False,
    whole: bool = False,
) -> Answer:
    """Weigh word by word, with numbers; `sigma` in units of D, `bell` before the square."""

    def local(scores: Any, place: float, window: int) -> list[float]:
        place = round(place) if whole else place
        apart = [j - place for j in range(len(scores))]
        near = [abs(a) <= window if edge else abs(a) < window for a in apart]
        total = sum(math.exp(s) for s, n in zip(scores, near, strict=True) if n or everywhere)
        width = sigma * window
        weights = [
            math.exp(s) / total * math.exp(-bell * (a / width) ** 2) if n else 0.0
            for s, a, n in zip(scores, apart, near, strict=True)
        ]
        return [w / sum(weights) for w in weights] if again else weights

    return local


def more(kind: str, d: int) -> int:
    matrices = {"dot": 0, "general": 1, "concat": 2, "local": 2, "additive": 5}[kind]
    return matrices * d**2 + (d if matrices > 1 else 0)


def off(kind: str, by: Callable[[int], int]) -> Answer:
    return lambda asked, d: more(asked, d) + (by(d) if asked == kind else 0)


def updates(budget: int, cost: float) -> int:
    return math.floor(budget / cost)


def front(arms: dict[str, tuple[float, float]]) -> list[str]:
    kept = []
    for name, (cost, quality) in arms.items():
        cheaper = [q for c, q in arms.values() if c < cost]
        as_cheap = [q for c, q in arms.values() if c == cost]
        if all(q < quality for q in cheaper) and all(q <= quality for q in as_cheap):
            kept.append(name)
    return kept


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (check_local, make_local()),
        (check_weights, more),
        (check_updates, updates),
        (check_front, front),
        (check_front, lambda arms: frozenset(front(arms))),
    ],
)
def test_the_right_answer_passes(
    check: Answer, answer: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    check(answer)
    assert capsys.readouterr().out == "Right.\n"


WRONG: list[tuple[Answer, Answer, str]] = [
    (check_local, make_local(everywhere=True), "over the window"),
    (check_local, make_local(bell=0), "bell curve is missing"),
    (check_local, make_local(again=True), "not normalised again"),
    (check_local, make_local(sigma=1), "D / 2, not D"),
    (check_local, make_local(edge=False), "D included"),
    (check_local, make_local(bell=1), "over 2 sigma"),
    (check_local, make_local(whole=True), "do not round"),
    (check_local, lambda s, p, w: s[:3], r"got shape \(3,\), wanted \(9,\)"),
    (check_local, lambda s, p, w: 0 * s, "the numbers are not"),
    (check_local, lambda s, p, w: "all", "wanted an array"),
    (check_local, lambda s, p, w: None, "got nothing"),
    (check_weights, off("dot", lambda d: d * d), r"more\('dot', 6\): got 36: which is not it$"),
    (check_weights, off("concat", lambda d: -d), "vector v is missing"),
    (check_weights, off("concat", lambda d: -d * d), "meets both vectors"),
    (check_weights, off("local", lambda d: -d * d - d), "a vector of its own"),
    (check_weights, off("local", lambda d: -d * d), "general has a matrix, too"),
    (check_weights, off("local", lambda d: -d), "ends in a vector"),
    (check_weights, off("additive", lambda d: -3 * d * d), "enters three gates"),
    (check_weights, off("additive", lambda d: -2 * d * d), "three gates, not one"),
    (check_weights, off("additive", lambda d: -d), "vector v is missing"),
    (check_weights, off("general", lambda d: d == 128), r"more\('general', 128\): got 16385"),
    (check_weights, lambda kind, d: "many", "wanted a number"),
    (check_updates, lambda budget, cost: budget, "equal updates are not equal seconds"),
    (check_updates, lambda budget, cost: budget * cost, "fewer of them, not more"),
    (check_updates, lambda budget, cost: math.ceil(budget / cost), "not finished in time"),
    (check_updates, lambda budget, cost: budget / cost, "not finished in time"),
    (check_updates, lambda budget, cost: 1, "got 1"),
    (check_front, lambda arms: {max(arms, key=lambda n: arms[n][1])}, "who can pay less"),
    (check_front, lambda arms: set(arms), "'d' is too many"),
    (check_front, lambda arms: set(front(arms)) - {"a"}, "'a' is missing: whatever is better"),
    (check_front, lambda arms: 3, "wanted a set of names"),
]


@pytest.mark.parametrize(("check", "answer", "hint"), WRONG)
def test_a_wrong_answer_gets_its_hint(check: Answer, answer: Answer, hint: str) -> None:
    with pytest.raises(AssertionError, match=hint):
        check(answer)


def test_of_twins_both_are_kept() -> None:
    def one_of_twins(arms: dict[str, tuple[float, float]]) -> set[str]:
        return set({arms[name]: name for name in front(arms)}.values())

    with pytest.raises(AssertionError, match="'a' is missing: its twin is no better"):
        check_front(one_of_twins)
