"""What exercises do with an answer: call it, read what it gives, and compare.

A wrong answer raises an `AssertionError` with a hint.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

Answer = Callable[..., Any]
"""What a reader wrote."""
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]
Mistakes = Mapping[str, Any]
"""Under each hint the mistake that deserves it: a function that makes it, of what the answer was
called with, or a wrong value, or a `Sign`, or a tuple of several."""


class Sign(NamedTuple):
    """A mistake that many answers make, each in its way."""

    # Tells whether a result, followed by what the answer was called with, shows the mistake
    of: Callable[..., Any]
    example: Any  # one answer that makes it


def called(function: Answer, *given: Any, why: str = "", untouched: str = "") -> Any:
    """Return what your function gives.

    Args:
        function: the answer.
        given: its arguments, which are copied first.
        why: a hint at what makes it stop, if it does.
        untouched: a hint if it writes into what it is given; "" lets it.

    Raises:
        AssertionError: it is no function, or it raises; the message is that of its error.

    >>> called(len, "one")
    3
    >>> called(len, 1, why="Is it a sentence?")
    Traceback (most recent call last):
    AssertionError: your function stops with: object of type 'int' has no len() Is it a sentence?
    """
    as_function(function)
    own = copy.deepcopy(given)
    try:
        with np.errstate(all="ignore"):  # the answer is to be told, not warned
            got = function(*own)
    except Exception as error:
        reason = str(error) or type(error).__name__
        reason = f"{reason} {why}" if why else reason
        raise AssertionError(f"your function stops with: {reason}") from error
    if untouched and not all(_equal(*pair) for pair in zip(own, given, strict=True)):
        fail(untouched)
    return got


def as_function(got: Any) -> Answer:
    """Return the answer as a function.

    >>> as_function(len)
    <built-in function len>
    """
    if not callable(got):
        came = "nothing" if got is None or got is ... else named(got)
        fail(f"got {came}, wanted your function: write it, and pass its name without parentheses")
    function: Answer = got
    return function


def as_number(got: Any) -> float:
    """Return the answer as a number.

    >>> as_number("37.5")
    37.5
    """
    try:
        return float(got)
    except (TypeError, ValueError, RuntimeError):
        refuse(got, "a number")


def as_array(got: Any, where: str = "", axes: str = "", kind: str = "an array") -> Numbers:
    """Return the answer as an array.

    >>> as_array([1, 2])
    array([1., 2.])
    """
    if got is None or got is ...:
        fail(f"{where}got {named(got)}")
    try:
        return np.asarray(got.detach().double() if _is_tensor(got) else got, dtype=np.float64)
    except (TypeError, ValueError):
        fail(f"{where}got {named(got)}, wanted {kind} {axes}".rstrip())


def as_parts(got: Any, number: int, wanted: str) -> Sequence[Any]:
    """Return the answer as that number of parts.

    >>> as_parts((1, 2, 3), 2, "a pair")
    Traceback (most recent call last):
    AssertionError: got a tuple, wanted a pair
    """
    if not isinstance(got, tuple | list) or len(got) != number:
        refuse(got, wanted)
    return got


def as_verdict(got: Any) -> bool:
    """Return the answer as True or False.

    >>> as_verdict(np.array([1, 2]).all())
    True
    """
    if hasattr(got, "numel") and got.numel() == 1:
        got = got.item()
    if not isinstance(got, bool | np.bool_):
        refuse(got, "True or False")
    return bool(got)


def softmax(scores: Any) -> Any:
    """Return the weights of some scores, (k,).

    >>> softmax(np.zeros(2))
    array([0.5, 0.5])
    """
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def several(mistake: Any) -> tuple[Any, ...]:
    """Return the mistakes under one hint.

    >>> several(3), several((1, 2))
    ((3,), (1, 2))
    """
    return mistake if type(mistake) is tuple else (mistake,)


def named(got: Any) -> str:
    """Say what was given, to stand behind "got".

    >>> named("mixed"), named([1, 2])
    ("'mixed'", 'a list')
    >>> named(None)
    'nothing: does your function end in a return?'
    """
    if got is None or got is ...:
        return "nothing: does your function end in a return?"
    got = got.item() if getattr(got, "ndim", 1) == 0 else got
    return repr(got) if isinstance(got, str | int | float) else f"a {type(got).__name__}"


def refuse(got: Any, wanted: str) -> NoReturn:
    """Turn the answer down, since it is not of the kind that was asked for.

    >>> refuse(3, "True or False")
    Traceback (most recent call last):
    AssertionError: got 3, wanted True or False
    """
    fail(f"got {named(got)}, wanted {wanted}")


def fail(hint: str) -> NoReturn:
    """Turn the answer down with a hint at the cause."""
    raise AssertionError(hint)


def like(wanted: Any, got: Any, where: str, axes: str) -> Any:
    """Return an answer as the kind of value that is wanted, or refuse it."""
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        if isinstance(got, str):
            refuse(got, "a number")
        return as_number(got)
    if not hasattr(wanted, "shape"):
        return got
    kind = "a tensor" if _is_tensor(wanted) else "an array"
    axes = axes or str(tuple(wanted.shape))
    array = as_array(got, where, axes, kind)
    scalar = wanted.ndim == 0 and isinstance(got, int | float)
    bare = _is_tensor(wanted) and not _is_tensor(got) and not scalar
    if bare or array.ndim < min(wanted.ndim, 1):
        fail(f"{where}got {named(got)}, wanted {kind} {axes}".rstrip())
    return array


def _equal(one: Any, other: Any) -> bool:
    if hasattr(one, "shape"):
        return bool((one == other).all())
    return callable(one) or bool(one == other)


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach")  # PyTorch is not loaded for this


def same(got: Any, other: Any, rtol: float, atol: float) -> bool:
    """Tell whether an answer is as near to another as the tolerances allow."""
    if isinstance(got, float):
        return math.isclose(got, other, rel_tol=rtol, abs_tol=atol)
    if isinstance(got, tuple) and isinstance(other, tuple):  # several results at once
        pairs = zip(got, other, strict=True)
        return all(same(like(b, a, "", ""), b, rtol, atol) for a, b in pairs)
    if not isinstance(got, np.ndarray):
        return bool(got == other)
    array = as_array(other)
    return got.shape == array.shape and np.allclose(got, array, rtol=rtol, atol=atol)
