"""What all check functions do with an answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bookkit.exercises import answers


def test_a_function_that_stops_shows_its_error_as_the_cause() -> None:
    with pytest.raises(
        AssertionError, match=r"^your function stops with: division by zero$"
    ) as seen:
        answers.called(lambda a, b: a / b, 1, 0)
    assert isinstance(seen.value.__cause__, ZeroDivisionError)


def test_a_hint_follows_the_error() -> None:
    with pytest.raises(AssertionError, match=r"division by zero Is b a number\?$"):
        answers.called(lambda a, b: a / b, 1, 0, why="Is b a number?")


def test_an_error_without_words_is_called_by_its_name() -> None:
    def unfinished() -> None:
        raise NotImplementedError

    with pytest.raises(AssertionError, match=r"^your function stops with: NotImplementedError$"):
        answers.called(unfinished)


@pytest.mark.parametrize(("given", "words"), [(..., "nothing"), (None, "nothing"), (3, "3")])
def test_what_is_no_function_is_asked_for(given: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=f"^got {words}, wanted your function: write it"):
        answers.called(given, why="Is b a number?")


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, "nothing: does"),
        (..., "nothing: does"),
        ("many", "'many', wanted"),
        ([1.0, 2.0], "a list, wanted"),
    ],
)
def test_what_is_no_number_is_named(got: Any, words: str) -> None:
    with pytest.raises(AssertionError, match=f"^got {words}"):
        answers.as_number(got)


@pytest.mark.parametrize("got", [True, 3, 2.5, "2.5"])
def test_numbers_pass(got: Any) -> None:
    assert answers.as_number(got) == float(got)


WANTED = np.array([1.0, 100.0])


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (None, r"got nothing: does your function end in a return\?"),
        (..., r"got nothing: does your function end in a return\?"),
        ("many", r"got 'many', wanted an array \(2,\)"),
        ([1.0, [100.0]], r"got a list, wanted an array \(2,\)"),
        ([[1.0, 100.0]], r"got shape \(1, 2\), wanted \(2,\)"),
        ([1.0, -100.0], "the sign"),
        ([1.0, np.nan], "the shape is right, the numbers are not"),
        ([1.0, 100.2], "the shape is right, the numbers are not"),
        ([1.02, 100.0], "the shape is right, the numbers are not"),
    ],
)
@pytest.mark.parametrize("where", ["", "step 3: "])
def test_another_array_is_turned_down_with_its_place(got: Any, words: str, where: str) -> None:
    mistakes = {"the sign": np.array([1.0, -100.0])}
    with pytest.raises(AssertionError, match=f"^{where}{words}$"):
        answers.compare(got, WANTED, mistakes, where=where, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("got", [(1, 100), [1.005, 100.05], np.array([1.0, 99.95])])
def test_an_array_within_the_tolerances_passes(got: Any) -> None:
    answers.compare(got, WANTED, {}, rtol=1e-3, atol=1e-2)


def test_a_hint_is_the_message() -> None:
    with pytest.raises(AssertionError, match=r"^look again$"):
        answers.fail("look again")
