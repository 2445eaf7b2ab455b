"""What a function asks of its arguments: said in its signature, checked at every call.

Annotations say of what kind an argument is, and `contract` adds what they cannot say:

    @contract(query="... q d", key="... k d", d=">= 1", softcap="> 0")
    def soft_score(query: ArrayT, key: ArrayT, *, softcap: float | None = None) -> ArrayT: ...

Annotations: `float` asks for a finite number, `int` for a whole one, `bool` for True or False,
`Literal` for one of its choices, a class for one of its instances, `Callable` for a function. None
passes where the annotation allows it.

Shapes: one word an axis, and the arrays are of one library and on one device.

    q                one size wherever the letter stands; `_` is any size. A name that `self` has,
                     such as `embed_dim`, is that size
    ...              leading axes, which broadcast; `...h` also names the last of them
    ~q  ~...         1, missing, or as in the other arrays: this array stretches no other
    b...             the first of the leading axes of the other arrays
    n [d]            (n, d), or (n,) where the array has one axis fewer than the first one; the
                     first one itself may be either
    e a or e = a     (e, a), or None where e = a

Before the shape may stand a kind: `integers:`, `ids:` (what an embedding reads), `lengths:`
(integers on any device), `numbers:`, `booleans:`, `mask:` (boolean or floating), `any:` (whose
leading axes are its own), `constants:` (floating, and perhaps NumPy's beside those of another
library), or `each:` (an iterable of floating arrays). Without one the array is floating.

Numbers: `> 0`, `>= 0 and < 1`, `>= 2 and even`; a letter may be `>= 1`. Flags: `g divides h` lets g
stand for h where the flag is True.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, wraps
from numbers import Integral, Real
from operator import attrgetter
from typing import (
    Any,
    Literal,
    NamedTuple,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from array_api_compat import is_array_api_obj, is_jax_array, is_numpy_array

from companion.arrays import (
    Shape,
    broadcast_shape,
    device_of,
    library_of,
    namespace,
)

F = TypeVar("F", bound=Callable[..., Any])
# Of a letter: its size, and which argument said so.
Sizes = dict[str, tuple[int, str]]

REMEMBERED = 4096  # kinds of calls, for each function
_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORDS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
_DTYPES: dict[str, tuple[Any, str]] = {
    "": ("real floating", "a real floating dtype"),
    "each": ("real floating", "a real floating dtype"),
    "constants": ("real floating", "a real floating dtype"),
    "integers": ("integral", "an integer dtype"),
    "ids": ((), "32- or 64-bit integers, the ids of tokens"),
    "lengths": ("integral", "an integer dtype"),
    "numbers": (("integral", "real floating"), "a real numeric dtype"),
    "mask": (
        ("bool", "real floating"),
        "bool (True = may attend) or a real floating dtype, added to the scores",
    ),
    "booleans": ("bool", "a boolean dtype, True = may attend"),
    "any": (("bool", "numeric"), "an array of numbers"),
}


def contract(*, matching: str = "", **terms: str) -> Callable[[F], F]:
    """Let a function check its arguments; a class, those of its constructor.

    Looked at are types, shapes, dtypes, devices and Python numbers, never what is in an array. What
    has passed is remembered by everything that the check depends on, so that a repeated kind of
    call costs a look-up, also where a length has grown. What an array function calls in its turn is
    not checked again, and nothing is checked while torch compiles.

    Args:
        matching: attribute of `self`, such as "query_proj.weight", whose library, device and,
            outside autocast, dtype the arrays must have; where it is None, those of one another.
        **terms: what is asked of an argument or of a letter.

    >>> import numpy as np
    >>> @contract(key="... k d", value="... k v")
    ... def pair(key, value): ...
    >>> pair(np.ones((3, 5)), np.ones((4, 2)))
    Traceback (most recent call last):
    ValueError: value: got k = 4 in shape (4, 2), wanted 3 as in key
    """

    def decorate(function: F) -> F:
        if isinstance(function, type):
            constructor = contract(matching=matching, **terms)(
                vars(function)["__init__"]
            )
            setattr(function, "__init__", constructor)  # noqa: B010
            return function
        _contracts[function] = _Checks(function, terms, matching)

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            torch = sys.modules.get("torch")
            if _thread.inside or (
                torch is not None and torch.compiler.is_compiling()
            ):
                return function(*args, **kwargs)
            # Not in the closure, which torch's compiler unpacks.
            checks = _contracts[function]
            if checks.each:
                return function(**checks.streamed(args, kwargs))
            checks(args, kwargs)
            if not checks.axes:
                return function(*args, **kwargs)
            _thread.inside = True
            try:
                return function(*args, **kwargs)
            finally:
                _thread.inside = False

        checked.__doc__ = documented(
            function.__doc__, terms, _contracts[function].names
        )
        return checked  # type: ignore[return-value]

    return decorate


def documented(
    doc: str | None, terms: Mapping[str, str], names: Iterable[str] = ()
) -> str:
    """Return a docstring whose `Args:` name the shapes and ranges of a contract.

    Args:
        doc: the docstring.
        terms: of the contract.
        names: the arguments in order; by default those of the terms, then what the docstring tells.

    >>> print(documented("Blend values.", {"value": "... k v", "left": ">= 0"}))
    Blend values.
    <BLANKLINE>
    Args:
        value: (..., k, v)
        left: at least 0
    """
    text = inspect.cleandoc(doc or "")
    head, title, rest = text.partition("\n\nArgs:\n")
    block, gap, rest = rest.partition("\n\n")
    if not title:  # Args go before what is returned, or before the example
        starts = [
            text.find(f"\n\n{section}")
            for section in ("Returns:", "Raises:", ">>> ")
        ]
        cut = min((start for start in starts if start >= 0), default=len(text))
        head, gap, rest = text[:cut], text[cut : cut + 2], text[cut + 2 :]
    told: dict[str, str] = {}
    for line in block.splitlines():
        if line[4:5] != " ":
            name, _, line = line.strip().partition(": ")
            told[name] = line
        else:
            told[name] += f"\n{line}"
    names = list(dict.fromkeys([*(names or terms), *told]))
    said = {name: _in_words(terms[name]) for name in names if name in terms}
    lines = [
        f"    {name}: "
        + "; ".join(legend[name] for legend in (said, told) if name in legend)
        for name in names
        if name in said or name in told
    ]
    return (
        head + ("\n\nArgs:\n" + "\n".join(lines) if lines else "") + gap + rest
    )


class _Thread(threading.local):
    inside = False  # a call whose arguments are checked


_thread = _Thread()
_contracts: dict[Callable[..., Any], _Checks] = {}
_array_types: dict[
    type, bool
] = {}  # those that were met, and whether they say where they are
_by_value = {bool, int, float, str, type(None)}


def _metadata(x: Any) -> Any:
    """Return all of an argument that a check can depend on, its type first."""
    kind = type(x)
    if kind in _array_types:
        return kind, x.shape, x.dtype, x.device if _array_types[kind] else None
    if kind is tuple:
        return kind, *map(_metadata, x)
    return (kind, x) if kind in _by_value or _is_number(kind) else (kind,)  # type: ignore[arg-type]


@cache
def _is_number(kind: Any) -> bool:
    return issubclass(kind, Real) and not issubclass(kind, bool)


def _is_array(x: object) -> bool:
    kind = type(x)
    if (
        kind not in _array_types
        and is_array_api_obj(x)
        and not isinstance(x, Real)
    ):
        _array_types[kind] = not (is_numpy_array(x) or is_jax_array(x))
    return kind in _array_types


class _Checks:
    """The contract of one function, and the kinds of calls that have passed it."""

    def __init__(
        self,
        function: Callable[..., Any],
        terms: dict[str, str],
        matching: str,
    ) -> None:
        self.function = function
        self.matching = attrgetter(matching) if matching else None
        parameters = inspect.signature(function).parameters
        self.names = list(parameters)
        self.defaults = {
            n: p.default
            for n, p in parameters.items()
            if p.default is not p.empty
        }
        self.flags = {
            n: t.split(" divides ")
            for n, t in terms.items()
            if " divides " in t
        }
        self.bounds = {n: t for n, t in terms.items() if t[0] in "<>"}
        others = (
            n for n in terms if n not in self.flags and n not in self.bounds
        )
        self.axes = {n: _Axes(terms[n]) for n in others}
        self.each = next(
            (n for n, axes in self.axes.items() if axes.kind == "each"), ""
        )
        self.has_owner = self.names[:1] == ["self"]
        self.letters = {
            word for axes in self.axes.values() for word in axes.letters
        }
        self._calls: set[Any] = set()
        self._kinds: set[Any] = set()

    @cached_property
    def kinds(self) -> dict[str, _Kind]:
        """What the annotations ask for, read at the first call: they may name what comes later."""
        parameters = inspect.signature(self.function).parameters.values()
        scope = getattr(inspect.unwrap(self.function), "__globals__", {})
        return {
            p.name: _Kind(p.annotation, scope)
            for p in parameters
            if p.name != "self"
        }

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse a wrong call."""
        about: list[Any] = []
        # A small call pays for this loop.
        for x in (*args, *kwargs.values()) if kwargs else args:
            kind = type(x)
            if _array_types.get(kind):
                about += kind, x.shape, x.dtype, x.device
            else:
                about.append(_metadata(x))
        if kwargs:
            about += kwargs
        owned = self._of_owner(args, kwargs) if self.has_owner else None
        call = (*about, owned)
        if call in self._calls:
            return
        kind_of_call = self._kind_of_call(args, kwargs, owned)
        if kind_of_call not in self._kinds:
            self._check(self._by_name(args, kwargs))
            self._kinds.add(kind_of_call)
        self._calls.add(call)
        for known in (self._calls, self._kinds):
            if len(known) > REMEMBERED:
                known.clear()

    def streamed(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments, with a check of every array on its way out of the iterable."""
        given = (
            inspect.signature(self.function).bind(*args, **kwargs).arguments
        )
        try:
            arrays = iter(given[self.each])
        except TypeError:
            _refuse(
                self.each,
                _type_name(given[self.each]),
                "an iterable of arrays",
                TypeError,
            )
        return given | {self.each: self._checked(arrays)}

    def _by_name(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        return dict(zip(self.names, args, strict=False)) | kwargs

    def _of_owner(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what `self` adds to what a check depends on."""
        sizes = [getattr(args[0], letter, None) for letter in self.letters]
        if self.matching is None:
            return tuple(sizes)
        weight = self.matching(args[0])
        if weight is None:
            weight = next(
                (
                    x
                    for x in (*args, *kwargs.values())
                    if type(x) in _array_types
                ),
                None,
            )
        if weight is None:
            return tuple(sizes)
        return *sizes, weight.dtype, weight.device, _in_autocast(weight)

    def _kind_of_call(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        owned: Any,
    ) -> Any:
        """Return less of it: of sizes which are equal, 0 or 1, and of numbers their type.

        It is the same for a cache of 33 keys and of 34. What is left out of it is checked here.
        """
        names = (*self.names[: len(args)], *kwargs)
        order: dict[Any, int] = {0: 0, 1: 1}
        parts: list[Any] = [names]
        for name, x in zip(names, (*args, *kwargs.values()), strict=False):
            kind: Any = type(x)
            if kind in _array_types:
                _, shape, dtype, device = _metadata(x)
                parts += kind, dtype, device
                parts += [order.setdefault(size, len(order)) for size in shape]
                # Whether one size divides another.
                if self.flags and len(shape) > 2:
                    parts.append(shape[-3])
            elif _is_number(kind) and name in self.kinds:
                self.kinds[name].check(name, x)
                _check_bounds(name, x, self.bounds.get(name))
                parts.append(kind)
            else:
                parts.append(_metadata(x))
        return *parts, *[order.get(part, (part,)) for part in owned or ()]

    def _check(self, given: dict[str, Any]) -> None:
        arrays: dict[str, Any] = {}
        for name, value in given.items():
            kind, axes = self.kinds.get(name), self.axes.get(name)
            if kind is None:
                continue  # self, or what Python refuses
            if axes is not None and _is_array(value):
                arrays[name] = value
            elif axes is not None and kind.is_array(value):
                _refuse(name, _type_name(value), kind.wanted, TypeError)
            else:
                kind.check(name, value)
                _check_bounds(name, value, self.bounds.get(name))
        weight = None
        if self.matching is not None:
            weight = self.matching(given["self"])
            weight = (
                next(iter(arrays.values()), None) if weight is None else weight
            )
        first = ("the layer", weight) if weight is not None else None
        for name, array in arrays.items():
            first = first or (name, array)
            self.kinds[name].check_tensor(name, array)
            kind_of_array = self.axes[name].kind
            anywhere = kind_of_array == "constants" and is_numpy_array(array)
            if kind_of_array != "lengths" and not anywhere:
                _check_library(name, array, *first)
            _check_dtype(name, array, kind_of_array, weight)
        self._check_shapes(
            given, {name: tuple(array.shape) for name, array in arrays.items()}
        )

    def _check_shapes(
        self, given: dict[str, Any], shapes: dict[str, Shape]
    ) -> None:
        owner = given.get("self")
        sizes: Sizes = {
            letter: (getattr(owner, letter), f"the {type(owner).__name__}")
            for letter in self.letters
            if hasattr(owner, letter)
        }
        shared = {
            g: h
            for flag, (g, h) in self.flags.items()
            if given.get(flag) is True
        }
        lead: Shape = ()
        first = None
        stretched: list[tuple[str, _Axes]] = []
        for name, axes in self.axes.items():
            if name in shapes:
                if axes.stretched:
                    stretched.append((name, axes))
                    continue
                own = axes.measure(name, shapes[name], sizes, first)
                first = (
                    max(len(shapes[name]), len(axes.words))
                    if first is None
                    else first
                )
                if axes.kind == "any":
                    continue
                lead = self._join_leads(name, axes, own, lead, sizes, shared)
            elif (
                axes.if_none and (self.defaults | given).get(name, ...) is None
            ):
                one, other = axes.if_none
                _match_size(
                    sizes, sizes[one][1], None, other, sizes[one][0], axes.kind
                )
        for name, axes in stretched:
            own = axes.measure(name, shapes[name], sizes, first)
            padded = (
                own + (1,) * (len(lead) - len(own)) if axes.prefix else own
            )
            if broadcast_shape(lead, padded) != lead:
                wanted = (
                    "the first of" if axes.prefix else "ones that broadcast to"
                )
                hint = "; a mask for each sequence needs an axis for its heads, mask[:, None]"
                hint *= (
                    axes.kind == "mask" and len(own) == 1 and len(lead) == 2
                )
                where = (
                    f"leading axes {own} in " * bool(axes.words)
                    + f"shape {shapes[name]}"
                )
                _refuse(name, where, f"{wanted} {lead}" + hint)
        for letter, bounds in self.bounds.items():
            if letter in sizes and letter not in self.names:
                size, name = sizes[letter]
                shape = f" in shape {shapes[name]}" if name in shapes else ""
                _check_bounds(name, size, bounds, f"{letter} = {size}{shape}")

    def _join_leads(
        self,
        name: str,
        axes: _Axes,
        own: Shape,
        lead: Shape,
        sizes: Sizes,
        shared: dict[str, str],
    ) -> Shape:
        """Return the leading axes so far with those of one more array, maybe of shared heads."""
        if shared and axes.last:
            if not own:
                _refuse(name, f"no axis {axes.last}", axes.text)
            _match_size(sizes, name, None, axes.last, own[-1], axes.kind)
            if axes.last in shared:
                large, source = sizes[shared[axes.last]]
                if own[-1] == 0 or large % own[-1]:
                    wanted = f"a divisor of {shared[axes.last]} = {large} as in {source}"
                    _refuse(name, f"{axes.last} = {own[-1]}", wanted)
                own = (*own[:-1], large)
        joined = broadcast_shape(lead, own)
        if joined is None:
            hints = [
                f"; fewer heads than query's need {flag}=True"
                for flag, (small, _) in self.flags.items()
                if small == axes.last and not shared
            ]
            wanted = f"ones that broadcast with {lead}" + "".join(hints)
            _refuse(name, f"leading axes {own}", wanted)
        return joined

    def _checked(self, arrays: Iterable[Any]) -> Iterator[Any]:
        axes, sizes, first = (
            self.axes[self.each],
            dict[str, tuple[int, str]](),
            None,
        )
        lead: Shape = ()
        for number, array in enumerate(arrays):
            name = f"{self.each}[{number}]"
            if not _is_array(array):
                _refuse(name, _type_name(array), _ANY_ARRAY, TypeError)
            own = axes.measure(name, tuple(array.shape), sizes, None)
            if first is None:
                first, lead = (name, array), own
            _check_library(name, array, *first)
            _check_dtype(name, array, axes.kind, None)
            if own != lead:
                _refuse(
                    name, f"leading axes {own}", f"{lead} as in {first[0]}"
                )
            yield array
        if first is None:
            _refuse(self.each, "no array", "at least one")


class _Axes:
    """The axes that a term asks of one array: `integers: ... q`, for example."""

    def __init__(self, term: str) -> None:
        kind, colon, shape = term.partition(": ")
        self.kind, shape = (kind, shape) if colon else ("", term)
        shape, _, if_none = shape.partition(" or ")
        self.if_none = tuple(if_none.split(" = "))[:2] if if_none else ()
        self.leads = self.stretched = self.prefix = self.optional = False
        self.last = ""
        self.words: list[
            tuple[str, bool]
        ] = []  # a letter, and whether its axis is stretched
        for word in shape.split():
            bare = word.strip("~[]")
            if "..." in word:
                self.leads, self.last = (
                    True,
                    bare.removeprefix("...") * bare.startswith("..."),
                )
                self.prefix = bare.endswith("...") and bare != "..."
                self.stretched = word.startswith("~") or self.prefix
            else:
                self.optional = self.optional or word.startswith("[")
                self.words.append((bare, word.startswith("~")))
        self.letters = [word for word, _ in self.words if word != "_"]
        self.text = _in_words(term)

    def measure(
        self, name: str, shape: Shape, sizes: Sizes, first: int | None
    ) -> Shape:
        """Refuse a wrong number or size of axes, and return the leading ones.

        Args:
            name: of the array.
            shape: of the array.
            sizes: of the letters so far; what is new is added.
            first: number of axes of the first array.
        """
        words = self.words
        if first is None and not self.leads:
            first = len(words)
        if self.optional and first is not None:
            if len(shape) not in (first - 1, first):
                _refuse(
                    name,
                    f"shape {shape}",
                    f"{self.text}, {first - 1} or {first} axes",
                )
            words = words[: len(words) - (first - len(shape))]
        least = len([word for word, stretched in words if not stretched])
        lead = max(len(shape) - len(words), 0)
        if len(shape) < least or (lead and not self.leads):
            _refuse(name, f"shape {shape}", self.text)
        for (letter, stretched), size in zip(
            words[len(words) - len(shape) + lead :], shape[lead:], strict=True
        ):
            if letter != "_" and not (stretched and size == 1):
                _match_size(sizes, name, shape, letter, size, self.kind)
        return shape[:lead]


_ANY_ARRAY = "an array of NumPy, torch or another array API library"


class _Test(NamedTuple):
    """One of the kinds that an annotation names."""

    noun: str
    passes: Callable[[Any], bool]


class _Kind:
    """What an annotation asks for; anything passes where it cannot be read."""

    def __init__(self, annotation: Any, scope: dict[str, Any]) -> None:
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, {**vars(types), **scope})
            except NameError:  # imported for type checkers alone
                annotation = Any
        if annotation is inspect.Parameter.empty:
            annotation = Any
        union = get_origin(annotation) in (types.UnionType, Union)
        options = get_args(annotation) if union else (annotation,)
        self.optional = type(None) in options
        tests = [
            _test(option) for option in options if option is not type(None)
        ]
        self.tests = [test for test in tests if test is not None]
        self.open = None in tests
        self.tensor = next(
            (o for o in options if getattr(o, "__name__", "") == "Tensor"),
            None,
        )
        nouns = [test.noun for test in self.tests] + [_ANY_ARRAY] * self.open
        self.wanted = " or ".join(nouns) + ", or None" * self.optional

    def is_array(self, value: Any) -> bool:
        """Say whether an array belongs here, of which the value is none."""
        if value is None:
            return not self.optional
        return not any(test.passes(value) for test in self.tests)

    def check(self, name: str, value: Any) -> None:
        """Refuse a value of no wanted kind."""
        if (value is None and self.optional) or any(
            test.passes(value) for test in self.tests
        ):
            return
        if self.open and not (value is None and self.tests):
            return
        number = (
            isinstance(value, Real)
            and not isinstance(value, bool)
            and not _is_finite(value)
        )
        choice = isinstance(value, str) and any(
            "one of" in test.noun for test in self.tests
        )
        error = ValueError if number or choice else TypeError
        _refuse(
            name, value if number else _type_name(value), self.wanted, error
        )

    def check_tensor(self, name: str, array: Any) -> None:
        """Refuse an array of another library where the annotation asks for a tensor."""
        if self.tensor is not None and not isinstance(array, self.tensor):
            _refuse(
                name, f"an array of {library_of(array)}", "a tensor", TypeError
            )


def _test(option: Any) -> _Test | None:
    """Return how one kind of an annotation is told; None for what is not looked at."""
    if get_origin(option) is Literal:
        choices = get_args(option)
        return _Test(
            f"one of {choices}", lambda x: type(x) is str and x in choices
        )
    if option is bool:
        return _Test("True or False", lambda x: isinstance(x, bool))
    if option is int:
        return _Test("a whole number", _is_whole)
    if option is float:
        return _Test("a finite number", _is_finite)
    if get_origin(option) is tuple and ... not in get_args(option):
        tests = [_test(part) for part in get_args(option)]
        return _Test(
            "a pair" if len(tests) == 2 else f"a tuple of {len(tests)}",
            lambda x: _is_tuple_of(x, tests),
        )
    if option is Callable or get_origin(option) is Callable:
        return _Test("a function", callable)
    if get_origin(option) is os.PathLike:
        option = os.PathLike
    open_ones = getattr(option, "_is_protocol", False) or option in (
        object,
        Any,
    )
    if open_ones or not isinstance(option, type):
        return None
    noun = (
        "a tensor" if option.__name__ == "Tensor" else f"a {option.__name__}"
    )
    return _Test(noun, lambda x: isinstance(x, option))


def _is_tuple_of(x: object, tests: list[_Test | None]) -> bool:
    if not isinstance(x, tuple) or len(x) != len(tests):
        return False
    return all(
        test is None or test.passes(part)
        for test, part in zip(tests, x, strict=True)
    )


def _is_whole(x: object) -> bool:
    return isinstance(x, Integral) and not isinstance(x, bool)


def _is_finite(x: object) -> bool:
    try:
        return (
            isinstance(x, Real)
            and not isinstance(x, bool)
            and math.isfinite(x)
        )
    except OverflowError:  # a whole number beyond every float
        return False


def _check_bounds(
    name: str, value: Any, bounds: str | None, got: str = ""
) -> None:
    if bounds is None or value is None or _is_array(value):
        return
    if isinstance(value, tuple):
        for part in value:
            _check_bounds(name, part, bounds)
        return
    for bound in bounds.split(" and "):
        if bound == "even":
            good = value % 2 == 0
        else:
            sign, limit = bound.split()
            good = _COMPARE[sign](value, float(limit))
        if not good:
            wanted = _range(bounds)
            _refuse(
                name,
                got or value,
                f"a number {wanted}" if wanted[:2] != "at" else wanted,
            )


def _range(bounds: str) -> str:
    """Say a range in words: `>= 0 and < 1` is at least 0 and below 1."""
    for sign in (">=", "<=", ">", "<"):
        bounds = bounds.replace(f"{sign} ", f"{_WORDS[sign]} ")
    return bounds


def _in_words(term: str) -> str:
    """Say a term in a docstring: (..., q, d), or a range in words."""
    if term[0] in "<>":
        return _range(term)
    if " divides " in term:
        return term
    shape = term.rpartition(": ")[2].partition(" or ")[0]
    words: list[str] = []
    for word in shape.split():
        bare = word.strip("~[]")
        words += bare.partition("...") if "..." in bare else [bare]
    shape = ", ".join(filter(None, words))
    if "[" in term:
        return f"({shape.rpartition(', ')[0]}) or ({shape})"
    return (
        f"({shape},)"
        if len(words) == 1 and words[0].isidentifier()
        else f"({shape})"
    )


def _check_library(name: str, array: Any, first: str, reference: Any) -> None:
    if type(array) is not type(reference) and library_of(array) != library_of(
        reference
    ):
        got, wanted = library_of(array), library_of(reference)
        _refuse(
            name,
            f"an array of {got}",
            f"one of {wanted} like {first}",
            TypeError,
        )
    if _array_types[type(array)] and device_of(array) != device_of(reference):
        wanted = f"{device_of(reference)}, where {first} is"
        _refuse(name, f"device {device_of(array)}", wanted)


def _check_dtype(name: str, array: Any, kind: str, weight: Any) -> None:
    dtypes, wanted = _DTYPES[kind]
    xp = namespace(array)
    if not xp.isdtype(
        array.dtype, (xp.int32, xp.int64) if kind == "ids" else dtypes
    ):
        _refuse(name, f"dtype {array.dtype}", wanted, TypeError)
    unlike = weight is not None and kind == "" and array.dtype != weight.dtype
    if unlike and not _in_autocast(weight):
        _refuse(
            name,
            f"dtype {array.dtype}",
            f"{weight.dtype}, the layer's",
            TypeError,
        )


def _in_autocast(tensor: Any) -> bool:
    # Other libraries know no autocast.
    kind = getattr(tensor.device, "type", "meta")
    return kind != "meta" and bool(
        sys.modules["torch"].is_autocast_enabled(kind)
    )


_MASK_HINTS = {
    "k": ": a mask covers every key, cached ones too",
    "num_heads": "; a mask for each sequence needs an axis for its heads, mask[:, None]",
}


def _match_size(
    sizes: Sizes,
    name: str,
    shape: Shape | None,
    letter: str,
    size: int,
    kind: str,
) -> None:
    wanted, source = sizes.setdefault(letter, (size, name))
    if size != wanted:
        where = "" if shape is None else f" in shape {shape}"
        hint = _MASK_HINTS.get(letter, "") * (kind == "mask")
        _refuse(
            name, f"{letter} = {size}{where}", f"{wanted} as in {source}{hint}"
        )


def _type_name(value: Any) -> str:
    return repr(value) if isinstance(value, str) else type(value).__name__


def _refuse(
    name: str, got: Any, wanted: str, error: type[Exception] = ValueError
) -> NoReturn:
    raise error(f"{name}: got {got}, wanted {wanted}")
