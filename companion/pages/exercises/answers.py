"""What all check functions do with an answer: call for it, name it, and turn it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


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
    as_function(function)
    try:
        return function(*given)
    except Exception as error:
        reason = str(error) or type(error).__name__
        reason = f"{reason} {why}" if why else reason
        raise AssertionError(f"your function stops with: {reason}") from error


def as_function(got: Any) -> Callable[..., Any]:
    """Return the answer as a function.

    Raises:
        AssertionError: it is none.

    >>> as_function(len)
    <built-in function len>
    """
    if not callable(got):
        came = "nothing" if got is None or got is ... else named(got)
        fail(f"got {came}, wanted your function: write it, and pass its name without parentheses")
    found: Callable[..., Any] = got
    return found


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


def as_array(got: Any, where: str = "") -> Numbers:
    """Return the answer as an array.

    Args:
        got: the answer.
        where: what stands before the message.

    Raises:
        AssertionError: it is none.

    >>> as_array([1, 2])
    array([1., 2.])
    """
    try:
        return np.asarray(got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"{where}got {named(got)}, wanted an array")


def compare(
    got: Any,
    wanted: Numbers,
    mistakes: Mapping[str, Numbers],
    *,
    where: str = "",
    rtol: float,
    atol: float,
) -> None:
    """Let the right array pass, and turn down any other with what is known about it.

    Args:
        got: the answer.
        wanted: the right array.
        mistakes: wrong arrays of the same shape, whose keys are hints.
        where: what stands before every message.
        rtol: how far numbers may be off, as a part of the wanted ones.
        atol: how far they may be off besides.

    Raises:
        AssertionError: it is another array, or none; the message hints at the cause.

    >>> compare([1.0, -2.0], np.array([1.0, 2.0]), {"the sign": np.array([1.0, -2.0])},
    ...         where="step 3: ", rtol=1e-6, atol=1e-9)
    Traceback (most recent call last):
    AssertionError: step 3: the sign
    """
    if got is None or got is ...:
        fail(f"{where}got {named(got)}")
    found = as_array(got, where)
    if found.shape != wanted.shape:
        fail(f"{where}got shape {found.shape}, wanted {wanted.shape}")
    if np.allclose(found, wanted, rtol=rtol, atol=atol):
        return
    for hint, wrong in mistakes.items():
        if np.allclose(found, wrong, rtol=rtol, atol=atol):
            fail(f"{where}{hint}")
    fail(f"{where}the shape is right, the numbers are not")


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
