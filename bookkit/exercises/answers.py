"""What all check functions do with an answer: call it, compare what it gives, and give a hint.

A check is the right result, the cases on which it is compared, and a table of the usual mistakes:
each hint with the wrong result that gives the mistake away. A wrong answer raises an
`AssertionError` with the hint; a right one prints "Right."
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

Answer = Callable[..., Any]
"""What a reader wrote."""
Numbers = NDArray[np.float64]
Mistakes = Mapping[str, Any]
"""Wrong results under the hints at their causes; a tuple holds several for one hint."""
Expected = tuple[Any, Mistakes]
"""The right result, and the usual wrong ones."""


def check(
    answer: Answer,
    cases: Iterable[Sequence[Any]],
    expected: Callable[..., Expected],
    *,
    why: str = "",
    **how: Any,
) -> None:
    """Compare what an answer gives for every case, and print "Right." if all of it is right.

    Args:
        answer: the reader's function.
        cases: the arguments of each call.
        expected: from these arguments to what is right, and to the usual mistakes.
        why: a hint at what makes the answer stop, if it does.
        how: the options of `compare`.

    >>> check(lambda n: 2 * n, [(1,), (5,)], lambda n: (2 * n, {"half of it": n}))
    Right.
    >>> check(lambda n: n, [(1,), (5,)], lambda n: (2 * n, {"half of it": n}))
    Traceback (most recent call last):
    AssertionError: half of it
    """
    for case in cases:
        wanted, mistakes = expected(*case)
        compare(called(answer, *case, why=why), wanted, mistakes, case=case, **how)
    print("Right.")


def check_call(
    answer: Answer, given: Sequence[Any], wanted: Any, mistakes: Mistakes, **how: Any
) -> None:
    """Compare what an answer gives for one call, and print "Right." if it is right.

    Args:
        answer: the reader's function.
        given: the arguments of the call.
        wanted: the right result.
        mistakes: the usual wrong results under their hints.
        how: the options of `check`.

    >>> check_call(abs, [-2], 2, {"the sign": -2})
    Right.
    """
    check(answer, [given], lambda *_: (wanted, mistakes), **how)


def called(function: Answer, *given: Any, why: str = "") -> Any:
    """Return what your function gives.

    Args:
        function: the answer.
        given: its arguments, which are copied first.
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
    own = copy.deepcopy(given)
    try:
        return function(*own)
    except Exception as error:
        reason = str(error) or type(error).__name__
        reason = f"{reason} {why}" if why else reason
        raise AssertionError(f"your function stops with: {reason}") from error


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

    Args:
        got: the answer, an array, a tensor or a list.
        where: what stands before the message.
        axes: the shape that was asked for, in letters.
        kind: what was asked for.

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


def compare(
    got: Any,
    wanted: Any,
    mistakes: Mistakes,
    *,
    case: Sequence[Any] = (),
    where: str = "",
    axes: str = "",
    otherwise: str = "the shape is right, the numbers are not",
    rtol: float = 1e-5,
    atol: float = 1e-8,
) -> None:
    """Let the right result pass, and turn down any other with what is known about it.

    Args:
        got: the answer.
        wanted: the right result, a number, an array or a tensor. A whole number must agree
            to nine digits, whatever the tolerances.
        mistakes: the wrong results that betray a usual mistake; their keys are the hints.
        case: what the answer was called with; each {} in `where` and `otherwise` stands for a part,
            and {got} for the answer.
        where: what stands before a hint, and before a message about an array.
        axes: the shape that was asked for, in letters.
        otherwise: the message on an unknown mistake; {wanted} stands for the right result.
        rtol: how far numbers may be off, as a part of the wanted ones.
        atol: how far they may be off besides.

    >>> compare([1.0, -2.0], np.array([1.0, 2.0]), {"the sign": np.array([1.0, -2.0])},
    ...         where="step 3: ")
    Traceback (most recent call last):
    AssertionError: step 3: the sign
    >>> compare(7, 6, {}, case=(2, 3), otherwise="product({}, {}): got {got:g}")
    Traceback (most recent call last):
    AssertionError: product(2, 3): got 7
    """
    if isinstance(wanted, int | float):
        if isinstance(got, str):
            refuse(got, "a number")
        result: float | Numbers = as_number(got)
    else:
        result = _as_array_like(wanted, got, where.format(*case), axes)
    where = where.format(*case, got=result)
    if isinstance(wanted, int):
        rtol, atol = 1e-9, 0.0
    if _same(result, wanted, rtol, atol):
        return
    for hint, results in mistakes.items():
        for wrong in results if isinstance(results, tuple) else (results,):
            if _same(result, wrong, rtol, atol):
                fail(f"{where}{hint}")
    if np.shape(result) != tuple(np.shape(wanted)):
        wanted_shape = f"{axes}, {tuple(wanted.shape)}" if axes else f"{tuple(wanted.shape)}"
        fail(f"{where}got shape {np.shape(result)}, wanted {wanted_shape}")
    fail(where + otherwise.format(*case, got=result, wanted=wanted))


def compare_parts(got: Any, parts: Mapping[str, Expected], wanted: str, **how: Any) -> None:
    """Compare each part of an answer with what is expected of it.

    Args:
        got: the answer, a tuple or a list.
        parts: the name of each part, its right result and its usual mistakes.
        wanted: what was asked for, in words.
        how: the options of `compare`; what stands before a message is followed by the part's name.
    """
    before = how.pop("where", "")
    for (name, expected), part in zip(
        parts.items(), as_parts(got, len(parts), wanted), strict=True
    ):
        compare(part, *expected, where=f"{before}{name}: ", **how)


def hint_at(got: Any, mistakes: Mistakes) -> None:
    """Turn down an answer that equals a usual mistake, with its hint.

    >>> hint_at([1, 0], {"the order": [1, 0]})
    Traceback (most recent call last):
    AssertionError: the order
    """
    for hint, wrong in mistakes.items():
        if got == wrong:
            fail(hint)


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


def _as_array_like(wanted: Any, got: Any, where: str, axes: str) -> Numbers:
    """Read an array or, where a tensor is wanted, a tensor; a number will do for a scalar."""
    kind = "a tensor" if _is_tensor(wanted) else "an array"
    axes = axes or str(tuple(wanted.shape))
    array = as_array(got, where, axes, kind)
    scalar = wanted.ndim == 0 and isinstance(got, int | float)
    if (_is_tensor(wanted) and not _is_tensor(got) and not scalar) or array.ndim < min(
        wanted.ndim, 1
    ):
        fail(f"{where}got {named(got)}, wanted {kind} {axes}".rstrip())
    return array


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach")  # PyTorch is not loaded for this


def _same(got: float | Numbers, other: Any, rtol: float, atol: float) -> bool:
    if isinstance(got, float):
        return math.isclose(got, other, rel_tol=rtol, abs_tol=atol)
    array = as_array(other)
    return got.shape == array.shape and np.allclose(got, array, rtol=rtol, atol=atol)
