"""Every exercise takes its right answer, and has for each mistake the hint that it deserves."""

import copy
import inspect
import pkgutil
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import bookkit.exercises
from bookkit.exercises import answers
from bookkit.exercises.answers import Sign
from bookkit.exercises.exercise import Exercise, Function, Judged, Several, Value, Verdict

ALL = {
    f"{module.name}.{name}": exercise
    for module in pkgutil.iter_modules(bookkit.exercises.__path__)
    for name, exercise in vars(import_module(f"bookkit.exercises.{module.name}")).items()
    if isinstance(exercise, Exercise)
}


def returns(answer: Any) -> Callable[..., Any]:
    """Return a function that takes anything and gives always the same."""
    return lambda *_, **__: answer


def unfinished(*_: Any) -> None:
    raise NotImplementedError


EMPTY: tuple[Any, ...] = (..., None, 0, "", [])
NOTHING = (*EMPTY, *map(returns, EMPTY), lambda: None, unfinished)
RAW = re.compile(r"NoneType|ellipsis'|object is not|object has no|Traceback")


def refusal(exercise: Exercise, given: tuple[Any, ...]) -> str:
    """Return the hint at what is wrong with some answers."""
    with pytest.raises(AssertionError) as refused:
        exercise(*given)
    return str(refused.value)


@pytest.mark.parametrize("name", ALL)
def test_right_passes_and_each_mistake_gets_its_hint(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exercise = ALL[name]
    exercise(*exercise.right_answers())
    assert capsys.readouterr().out == "Right.\n"
    for hint, given in exercise.wrong_answers():
        assert hint in refusal(exercise, given)
    for nothing in NOTHING:
        hint = refusal(exercise, tuple(copy.copy(nothing) for _ in exercise.names))
        assert len(hint.split()) >= 3
        assert not RAW.search(hint)
    assert capsys.readouterr().out == ""


# What all exercises do with an answer


def double(x: Any) -> Any:
    return 2 * x


DOUBLE = Function(
    "`double(x)`, twice x.",
    right=double,
    cases={"first": (np.array([1.0, 100.0]),), "next": (np.array([3.0, 4.0]),)},
    mistakes={
        "stops": lambda x: x.missing,
        "half": (lambda x: x / 2, lambda x: x / 4),
        "below 0": Sign(lambda got, x: (got < 0).any(), np.negative),
    },
    untouched="it writes into x", why="Is x a number?", where="{when}: ", rtol=1e-3,
)  # fmt: skip
BOTH = Function(right=lambda n: (n, [n]), cases=[(3,)], kind="two", parts={
    "one": {"twice": double}, "other": {}}, mistakes={"swapped": lambda n: ([n], n)})  # fmt: skip
PAIR = Several("Two.", **{"a": Value(right=1.0), "the b": Value(right="b")})
SEES = Verdict(suspects=[((1,), True, "one is odd"), ((2,), False, "two is even")])
EQUAL = Judged(by=lambda a, b: answers.fail("not equal") if a != b else None, right=(1, 1),
               mistakes={})  # fmt: skip


def zeroed(x: Any) -> Any:
    twice = 2 * x
    x[:] = 0
    return twice


def test_an_answer_is_turned_down_with_the_cause() -> None:
    rows: list[tuple[Exercise, Any, str]] = [
        (DOUBLE, lambda x: x / 4, "first: half"),
        (DOUBLE, lambda x: 2 * x if x[0] < 2 else x / 2, "next: half"),
        (DOUBLE, lambda x: -7 * x, "first: below 0"),
        (DOUBLE, lambda x: 3 * x, "first: the shape is right, the numbers are not"),
        (DOUBLE, lambda x: 2.003 * x, "first: the shape is right, the numbers are not"),
        (DOUBLE, lambda x: np.nan * x, "first: the shape is right, the numbers are not"),
        (DOUBLE, lambda x: x[:1], "first: got shape (1,), wanted (2,)"),
        (DOUBLE, lambda x: [[1], [1, 2]], "first: got a list, wanted an array (2,)"),
        (DOUBLE, lambda x: None, "first: got nothing: does your function end in a return?"),
        (DOUBLE, lambda x: 1 / 0, "your function stops with: division by zero Is x a number?"),
        (DOUBLE, unfinished, "your function stops with: NotImplementedError Is x a number?"),
        (DOUBLE, zeroed, "it writes into x"),
        (DOUBLE, 3, "got 3, wanted your function: write it, and pass its name without parentheses"),
        (BOTH, lambda n: (2 * n, [n]), "one: twice"),
        (BOTH, lambda n: (n, []), "other: the shape is right, the numbers are not"),
        (BOTH, lambda n: (n,), "got a tuple, wanted two"),
        (PAIR, (1, "c"), "the b: the shape is right, the numbers are not"),
        (PAIR, ("many", "b"), "a: got 'many', wanted a number"),
        (SEES, lambda n: True, "two is even"),
        (SEES, lambda n: n, "got 1, wanted True or False"),
        (EQUAL, (1, 2), "not equal"),
    ]
    for exercise, given, hint in rows:
        assert refusal(exercise, given if isinstance(given, tuple) else (given,)) == hint


def test_what_is_near_enough_passes(capsys: pytest.CaptureFixture[str]) -> None:
    for twice in (double, lambda x: (2.001 * x).tolist()):
        DOUBLE(twice)
        PAIR(1, the_b="b")
        SEES(lambda n: np.bool_(n % 2))
        assert capsys.readouterr().out == 3 * "Right.\n"


def test_an_exercise_says_what_it_takes_and_an_error_its_cause() -> None:
    assert str(inspect.signature(PAIR)) == "(a, the_b)"
    assert inspect.getdoc(DOUBLE) == "`double(x)`, twice x."
    with pytest.raises(TypeError, match="missing a required argument"):
        PAIR(1)
    with pytest.raises(AssertionError) as refused:
        answers.called(lambda a: a / 0, 1)
    assert isinstance(refused.value.__cause__, ZeroDivisionError)
