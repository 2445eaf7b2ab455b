"""What all check functions do with an answer: call for it, name it, and turn it down."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def called(function: Callable[..., Any], *given: Any, why: str = "") -> Any:
    """Return what your function gives.

    Args:
        function: the answer.
        given: its arguments.
        why: a hint at what makes it stop, if it does.

    Raises:
        AssertionError: it is no function, or it raises; the message is that of its error.

    >>> called(len, "one")
    3
    >>> called(len, 1, why="Is it a sentence?")
    Traceback (most recent call last):
    AssertionError: your function stops with: object of type 'int' has no len() Is it a sentence?
    """
    if not callable(function):
        got = "nothing" if function is None or function is ... else named(function)
        fail(f"got {got}, wanted your function: write it, and pass its name without parentheses")
    try:
        return function(*given)
    except Exception as error:
        reason = str(error) or type(error).__name__
        reason = f"{reason} {why}" if why else reason
        raise AssertionError(f"your function stops with: {reason}") from error


def as_number(got: Any) -> float:
    """Return the answer as a number.

    Raises:
        AssertionError: it is none.

    >>> as_number("37.5")
    37.5
    """
    try:
        return float(got)
    except (TypeError, ValueError):
        fail(f"got {named(got)}, wanted a number")


def named(got: Any) -> str:
    """Say what was given, to stand behind "got".

    >>> named("mixed"), named([1, 2])
    ("'mixed'", 'a list')
    >>> named(None)
    'nothing: does your function end in a return?'
    """
    if got is None or got is ...:
        return "nothing: does your function end in a return?"
    return repr(got) if isinstance(got, str | int | float) else f"a {type(got).__name__}"


def fail(hint: str) -> NoReturn:
    """Turn the answer down with a hint at the cause.

    Raises:
        AssertionError: always.
    """
    raise AssertionError(hint)
