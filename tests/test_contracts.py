"""Contracts: every sentence of their language, what they remember, and torch's transforms."""

from __future__ import annotations

import copy
import importlib
import inspect
import io
import itertools
import math
import pickle
import pkgutil
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest

import companion
from companion import contracts
from companion.attention import scaled_dot_product_attention
from companion.contracts import contract, documented
from companion.scores import dot_score
from companion.tiled import online_softmax

torch: Any = pytest.importorskip("torch")
strict: Any = pytest.importorskip("array_api_strict")

Call = Callable[..., Any]


def ones(*shape: int, dtype: Any = np.float64) -> Any:
    return np.ones(shape, dtype)


def refused(
    message: str, call: Call, *args: Any, error: type[Exception] = ValueError, **kwargs: Any
) -> None:
    """Expect one message, whatever was called before and after."""
    for _ in range(2):
        with pytest.raises(error, match="^" + re.escape(message)):
            call(*args, **kwargs)


def checked(annotations: dict[str, Any] | None = None, **terms: str) -> Call:
    """Return a function whose arguments are those of a contract, in order, and may be missing."""
    names = [name for name in terms if len(name) > 1 and name[0] != "_"]

    def function(*args: Any, **kwargs: Any) -> str:
        return "passed"

    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=None,
            annotation=(annotations or {}).get(name, inspect.Parameter.empty),
        )
        for name in names
    ]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    decorate: Any = contract
    call: Call = decorate(**terms)(function)
    return call


# Shapes


def test_a_letter_is_one_size_wherever_it_stands() -> None:
    call = checked(query="... q d", key="... k d")
    call(ones(4, 3), ones(5, 3))
    call(ones(3, 3), ones(3, 3))
    refused("key: got d = 2 in shape (5, 2), wanted 3 as in query", call, ones(4, 3), ones(5, 2))
    same = checked(matrix="n n")
    same(ones(3, 3))
    refused("matrix: got n = 4 in shape (3, 4), wanted 3 as in matrix", same, ones(3, 4))


def test_an_underscore_is_any_size() -> None:
    call = checked(first="_ d", second="_ d _")
    call(ones(4, 3), ones(7, 3, 9))
    refused("second: got d = 2", call, ones(4, 3), ones(7, 2, 3))


def test_a_number_of_axes_is_exact_without_dots() -> None:
    for shape in ((), (3,), (1, 2, 3)):
        refused(f"weight: got shape {shape}, wanted (d, e)", checked(weight="d e"), ones(*shape))


def test_leading_axes_broadcast() -> None:
    call = checked(query="... q d", key="... k d")
    call(ones(2, 1, 4, 3), ones(5, 6, 3))
    call(ones(6, 3), ones(2, 7, 6, 3))
    refused(
        "key: got leading axes (5,), wanted ones that broadcast with (2, 4)",
        call, ones(2, 4, 4, 3), ones(5, 6, 3),
    )  # fmt: skip
    refused("query: got shape (3,), wanted (..., q, d)", call, ones(3), ones(5, 3))


def test_named_heads_may_be_shared_where_a_flag_says_so() -> None:
    call = checked({"share": "bool"}, query="...h q d", key="...g k d", share="g divides h")
    heads, groups = ones(2, 6, 4, 3), ones(2, 3, 5, 3)
    call(heads, groups, share=True)
    call(heads, groups[:1], True)
    refused("key: got leading axes (2, 3), wanted ones that broadcast with (2, 6); "
            "fewer heads than query's need share=True", call, heads, groups)  # fmt: skip
    refused("key: got g = 4, wanted a divisor of h = 6 as in query",
            call, heads, ones(2, 4, 5, 3), share=True)  # fmt: skip
    refused("key: got g = 12, wanted a divisor of h = 6", call, heads, ones(12, 5, 3), share=True)
    refused("key: got g = 0, wanted a divisor of h = 6", call, heads, ones(0, 5, 3), share=True)
    refused("key: got no axis g, wanted (..., g, k, d)", call, heads, ones(5, 3), share=True)
    refused("query: got no axis h, wanted (..., h, q, d)", call, heads[0, 0], groups, share=True)
    refused("key: got leading axes", call, heads, groups, share=False)


def test_shared_heads_agree_with_one_another() -> None:
    call = checked({"share": "bool"}, query="...h q d", key="...g k d", value="...g k v",
                   share="g divides h")  # fmt: skip
    call(ones(6, 4, 3), ones(3, 5, 3), ones(3, 5, 2), True)
    refused("value: got g = 2, wanted 3 as in key",
            call, ones(6, 4, 3), ones(3, 5, 3), ones(2, 5, 2), True)  # fmt: skip


def test_a_tilde_stretches_no_other() -> None:
    call = checked(scores="... q k", mask="mask: ~... ~q k")
    scores = ones(2, 4, 5)
    for shape in [(5,), (1, 5), (4, 5), (1, 1, 5), (2, 4, 5)]:
        call(scores, ones(*shape))
    refused("mask: got k = 1 in shape (4, 1), wanted 5 as in scores: a mask covers every key, "
            "cached ones too", call, scores, ones(4, 1))  # fmt: skip
    refused("mask: got q = 3 in shape (3, 5), wanted 4 as in scores", call, scores, ones(3, 5))
    refused("mask: got leading axes (3,) in shape (3, 4, 5), wanted ones that broadcast to (2,)",
            call, scores, ones(3, 4, 5))  # fmt: skip
    refused("mask: got leading axes (2,)", call, ones(1, 4, 5), ones(2, 4, 5))
    refused("mask: got shape (), wanted", call, scores, ones())
    refused("mask: got leading axes (2,) in shape (2, 1, 5), wanted ones that broadcast to (2, 6); "
            "a mask for each sequence needs an axis for its heads, mask[:, None]",
            call, ones(2, 6, 4, 5), ones(2, 1, 5))  # fmt: skip


def test_a_tilde_on_every_axis_needs_no_axis() -> None:
    call = checked(query="b q d", mask="mask: ~b ~q")
    for shape in [(), (3,), (1,), (2, 3), (1, 3), (2, 1)]:
        call(ones(2, 3, 4), ones(*shape))
    refused("mask: got b = 3 in shape (3, 1)", call, ones(2, 3, 4), ones(3, 1))


def test_the_first_of_the_leading_axes() -> None:
    call = checked(query="... q d", offset="integers: b...")
    query = ones(2, 6, 4, 3)
    for shape in [(), (2,), (1,), (2, 6), (2, 1)]:
        call(query, ones(*shape, dtype=int))
    refused("offset: got shape (6,), wanted the first of (2, 6)", call, query, ones(6, dtype=int))
    refused("offset: got shape (2, 6, 4)", call, query, ones(2, 6, 4, dtype=int))
    refused("offset: got shape (1,)", call, ones(4, 3), ones(1, dtype=int))


def test_an_axis_in_brackets_may_be_missing() -> None:
    call = checked(key="... n d", decay="... n [d]")
    call(ones(2, 4, 3), ones(2, 4))
    call(ones(2, 4, 3), ones(2, 4, 3))
    refused("decay: got shape (4,), wanted (..., n) or (..., n, d), 2 or 3 axes",
            call, ones(2, 4, 3), ones(4))  # fmt: skip
    refused("decay: got shape (2, 2, 4, 3)", call, ones(2, 4, 3), ones(2, 2, 4, 3))
    refused("decay: got d = 2 in shape (2, 4, 2)", call, ones(2, 4, 3), ones(2, 4, 2))
    refused("decay: got n = 3 in shape (2, 3)", call, ones(2, 4, 3), ones(2, 3))


def test_the_first_array_itself_may_lack_the_axis_in_brackets() -> None:
    call = checked(tokens="n [d]", other="n [d]")
    call(ones(4), ones(4))
    call(ones(4, 3), ones(4))
    call(ones(4, 3), ones(4, 3))
    for shape in [(), (2, 4, 3)]:
        refused(f"tokens: got shape {shape}, wanted", call, ones(*shape), ones(4))


@pytest.mark.parametrize("given", [{}, {"weight": None}])
def test_none_where_two_letters_are_equal(given: dict[str, Any]) -> None:
    @contract(key="... k e", vector="a", weight="e a or e = a")
    def call(key: Any, vector: Any, weight: np.ndarray[Any, Any] | None = None) -> None: ...

    call(ones(5, 3), ones(2), ones(3, 2))
    call(ones(5, 3), ones(3), **given)
    refused("key: got a = 3, wanted 2 as in vector", call, ones(5, 3), ones(2), **given)


def test_sizes_of_the_owner() -> None:
    class Layer:
        def __init__(self, width: int) -> None:
            self.width = width

        @contract(memory="... k width", width=">= 1")
        def __call__(self, memory: Any) -> None: ...

    layer = Layer(3)
    layer(ones(2, 5, 3))
    refused("memory: got width = 4 in shape (5, 4), wanted 3 as in the Layer", layer, ones(5, 4))
    refused("the Layer: got width = 0, wanted at least 1", Layer(0), ones(5, 0))
    Layer(8)(ones(5, 8))
    for width in range(2, 12):  # whatever number it has, 8 is none of these
        if width != 8:
            refused("memory: got width = 8", Layer(width), ones(5, 8))


# Kinds of arrays

KINDS = {
    "": {"float16", "float32", "float64"},
    "integers: ": {"int8", "uint8", "int32", "int64"},
    "ids: ": {"int32", "int64"},
    "lengths: ": {"int8", "uint8", "int32", "int64"},
    "numbers: ": {"float16", "float32", "float64", "int8", "uint8", "int32", "int64"},
    "booleans: ": {"bool"},
    "mask: ": {"bool", "float16", "float32", "float64"},
    "any: ": {"bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64",
              "complex128"},
}  # fmt: skip
DTYPES = [*sorted(KINDS["any: "]), "object", "str"]


def test_kinds_of_arrays() -> None:
    for kind in KINDS:
        call = checked(array=f"{kind}... n")
        for dtype in DTYPES:
            array = np.zeros(3, dtype)
            if dtype in KINDS[kind]:
                call(array)
            else:
                refused(f"array: got dtype {array.dtype}, wanted ", call, array, error=TypeError)
        for dtype in {"bool", "int32", "float32"}:
            for other in (torch.zeros(3, dtype=getattr(torch, dtype)),
                          strict.zeros(3, dtype=getattr(strict, dtype))):  # fmt: skip
                if dtype in KINDS[kind]:
                    call(other)
                else:
                    refused("array: got dtype ", call, other, error=TypeError)


def test_what_is_no_array_is_refused() -> None:
    for value in ("text", [1.0], 3, 2.5, None, {}, object(), np.float64(1.0)):
        call = checked(first="... n", array="... n")
        came = repr(value) if isinstance(value, str) else type(value).__name__
        refused(f"array: got {came}, wanted an array of NumPy, torch or another array API library",
                call, ones(3), value, error=TypeError)  # fmt: skip


def test_arrays_are_of_one_library() -> None:
    call = checked(first="... n", second="... n")
    arrays = [ones(3), torch.ones(3), strict.ones(3)]
    for one, other in itertools.product(arrays, repeat=2):
        if one is other:
            call(one, other)
        else:
            refused("second: got an array of ", call, one, other, error=TypeError)
    refused("second: got an array of numpy, wanted one of torch like first",
            call, torch.ones(3), ones(3), error=TypeError)  # fmt: skip
    call(torch.nn.Parameter(torch.ones(3)), torch.ones(3))


def test_arrays_are_on_one_device() -> None:
    call = checked(first="... n", second="... n", lengths="lengths: n")
    here, there = torch.ones(3), torch.ones(3, device="meta")
    call(here, here, there.int())
    call(there, there, here.int())
    refused("second: got device meta, wanted cpu, where first is", call, here, there)
    first = strict.ones(3)
    elsewhere = strict.ones(3, device=strict.Device("device1"))
    call(elsewhere, elsewhere)
    refused("second: got device ", call, first, elsewhere)


def test_arrays_out_of_an_iterable() -> None:
    assert len(online_softmax(iter([ones(2, 3), ones(2, 0)]))) == 2
    refused("scores_blocks: got no array, wanted at least one", online_softmax, [])
    refused("scores_blocks[1]: got q = 4 in shape (4, 2), wanted 5 as in scores_blocks[0]",
            online_softmax, [ones(5, 2), ones(4, 2)])  # fmt: skip
    refused("scores_blocks[1]: got leading axes (3,), wanted () as in scores_blocks[0]",
            online_softmax, [ones(5, 2), ones(3, 5, 2)])  # fmt: skip
    for value in (None, 3, ones()):
        refused(f"scores_blocks: got {type(value).__name__}, wanted an iterable of arrays",
                online_softmax, value, error=TypeError)  # fmt: skip
    blocks = [ones(5, 2), torch.ones(5, 2)]
    refused("scores_blocks[1]: got an array of torch", online_softmax, blocks, error=TypeError)
    here = torch.ones(5, 2)
    online_softmax((here, here))
    refused("scores_blocks[1]: got device meta", online_softmax, (here, here.to("meta")))
    refused("scores_blocks[0]: got 'a', wanted an array", online_softmax, "ab", error=TypeError)
    refused("scores_blocks[0]: got dtype", online_softmax, [ones(2, 2, dtype=int)],
            error=TypeError)  # fmt: skip
    for args, kwargs in (((), {}), (([ones(2, 2)], 1), {}), (([ones(2, 2)],), {"more": 1})):
        with pytest.raises(TypeError, match="argument"):
            online_softmax(*args, **kwargs)  # type: ignore[arg-type]


# Annotations


class Thing: ...


@contract(size=">= 2 and even", rate=">= 0 and < 1", pair="> 0")
def annotated(  # type: ignore[no-untyped-def]
    *, rate: float = 0.0, size: int = 2, flag: bool = False, thing: Thing | None = None,
    order: Literal["pre", "post"] = "pre", chosen: Literal["a"] | None = None,
    act: Callable[[Any], Any] = len, pair: tuple[int, int] | int = 1, named: float | str = 1.0,
    unread: NotImported = 1, free: Any = None, bare=None,  # type: ignore[name-defined]  # noqa: F821
) -> str:  # fmt: skip
    """Take one argument of every kind."""
    return "passed"


class Half(float):
    """A number of a class of its own."""


RIGHT: dict[str, list[Any]] = {
    "rate": [0, 0.5, Fraction(1, 3), np.float32(0.25), np.float64(0.5), np.int64(0), Half(0.5)],
    "size": [2, 4, np.int64(6), np.uint8(8)],
    "flag": [True, False],
    "thing": [Thing(), None],
    "order": ["pre", "post"],
    "chosen": ["a", None],
    "act": [len, Thing, lambda x: x],
    "pair": [1, (1, 2), (np.int64(3), 4)],
    "named": [1.0, "text"],
    "unread": [1, "text", None],
    "free": [1, None, "text"],
    "bare": [1, None, "text"],
}
WRONG: list[tuple[str, Any, type[Exception], str]] = [
    ("rate", math.nan, ValueError, "rate: got nan, wanted a finite number"),
    ("rate", 10**400, ValueError, "rate: got 1000"),
    ("rate", True, TypeError, "rate: got bool, wanted a finite number"),
    ("rate", ones(), TypeError, "rate: got ndarray, wanted a finite number"),
    ("rate", 1, ValueError, "rate: got 1, wanted at least 0 and below 1"),
    ("size", 4.0, TypeError, "size: got float, wanted a whole number"),
    ("size", math.nan, ValueError, "size: got nan, wanted a whole number"),
    ("size", 3, ValueError, "size: got 3, wanted at least 2 and even"),
    ("flag", 1, TypeError, "flag: got int, wanted True or False"),
    ("flag", np.True_, TypeError, "flag: got bool, wanted True or False"),
    ("thing", 3, TypeError, "thing: got int, wanted a Thing, or None"),
    ("order", "between", ValueError, "order: got 'between', wanted one of ('pre', 'post')"),
    ("order", None, TypeError, "order: got NoneType, wanted one of ('pre', 'post')"),
    ("chosen", "b", ValueError, "chosen: got 'b', wanted one of ('a',), or None"),
    ("act", "relu", TypeError, "act: got 'relu', wanted a function"),
    ("pair", (1, 2, 3), TypeError, "pair: got tuple, wanted a pair or a whole number"),
    ("pair", (1, 2.0), TypeError, "pair: got tuple, wanted a pair or a whole number"),
    ("pair", (1, 0), ValueError, "pair: got 0, wanted a number above 0"),
    ("named", None, TypeError, "named: got NoneType, wanted a finite number or a str"),
]  # fmt: skip


def test_wrong_values() -> None:
    """Also after each right one, twice: what has passed is remembered."""
    for name, value, error, message in WRONG:
        call: Call = annotated
        message = message.replace("got bool,", f"got {type(value).__name__},")
        refused(message, annotated, error=error, **{name: value})
        for right in RIGHT[name] * 2:
            call(**{name: right})
            refused(message, annotated, error=error, **{name: value})


def test_python_refuses_what_the_signature_does_not_have() -> None:
    for name, value in (("other", 3), ("other", "text"), ("other", ones(2))):
        call: Call = annotated
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            call(**{name: value})
    for args in ((), (ones(2, 3),), (ones(2, 3), ones(2, 3), ones(2, 3))):
        with pytest.raises(TypeError, match="positional argument"):
            dot_score(*args)


# What has passed


@contract(query="... q d", key="... k d", d=">= 1", scale="> 0")
def pair(query: Any, key: Any, *, scale: float = 1.0, flag: bool = False) -> str:
    """Take two arrays."""
    return "passed"


def test_a_call_that_passed_lets_no_other_pass() -> None:
    for _ in range(3):
        x, y = ones(4, 3), ones(5, 3)
        pair(x, y)
        refused("query: got dtype int64", pair, x.astype(int), y, error=TypeError)
        refused("key: got dtype bool", pair, x, y.astype(bool), error=TypeError)
        refused("key: got an array of torch", pair, x, torch.ones(5, 3), error=TypeError)
        x, y = torch.ones(4, 3), torch.ones(5, 3)
        pair(x, y)
        refused("query: got dtype torch.int64", pair, x.long(), y, error=TypeError)
        refused("key: got device meta, wanted cpu", pair, x, y.to("meta"))
        refused("flag: got 'no'", pair, x, y, flag="no", error=TypeError)
        for scale in (2, 0.5):
            pair(x, y, scale=scale)
        refused("scale: got -0.5, wanted a number above 0", pair, x, y, scale=-0.5)
        refused("scale: got 0, wanted a number above 0", pair, x, y, scale=0)
        refused("scale: got nan, wanted a finite number", pair, x, y, scale=math.nan)
        refused("scale: got bool", pair, x, y, scale=True, error=TypeError)
        refused("query: got d = 0 in shape (4, 0), wanted at least 1", pair, x[:, :0], y[:, :0])


def test_a_size_that_collides_with_another_letters() -> None:
    pair(ones(3, 4), ones(3, 4))  # q = k, by chance
    pair(ones(4, 4), ones(3, 4))
    refused("key: got d = 3 in shape (4, 3), wanted 4", pair, ones(3, 4), ones(4, 3))
    pair(ones(2, 1, 4, 3), ones(2, 7, 4, 3))
    refused("key: got leading axes (3, 7)", pair, ones(2, 1, 4, 3), ones(3, 7, 4, 3))


def test_the_memory_is_cleared_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contracts, "REMEMBERED", 5)
    for size in range(1, 30):
        pair(ones(size, 3), ones(size + 1, 3))
        refused("key: got d = 2", pair, ones(size, 3), ones(size, 2))
    checks = contracts._contracts[inspect.unwrap(pair)]
    assert len(checks._calls) <= 5
    assert len(checks._kinds) <= 5


def test_another_owner_is_another_call() -> None:
    from companion.layers import FeedForward

    small, large = FeedForward(3, 4), FeedForward(5, 4)
    for _ in range(3):
        small(torch.ones(2, 3))
        large(torch.ones(2, 5))
        refused("x: got embed_dim = 3", large, torch.ones(2, 3))
        refused("x: got dtype torch.float64", small, torch.ones(2, 3).double(), error=TypeError)
    small.double()
    small(torch.ones(2, 3).double())
    refused("x: got dtype torch.float32", small, torch.ones(2, 3), error=TypeError)
    refused("x: got device cpu, wanted meta, where the layer is",
            large.to("meta"), torch.ones(2, 5))  # fmt: skip


@pytest.mark.parametrize("weight", [None, torch.ones(2)])
def test_autocast_takes_other_dtypes_while_it_lasts(weight: Any) -> None:
    class Layer:
        def __init__(self) -> None:
            self.weight = weight

        @contract(matching="weight", x="n", y="n")
        def __call__(self, x: Any, y: Any) -> None: ...

    layer, x = Layer(), torch.ones(2)
    for _ in range(3):
        layer(x, x)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            layer(x, x.bfloat16())
        refused("y: got dtype torch.bfloat16, wanted torch.float32, the layer's",
                layer, x, x.bfloat16(), error=TypeError)  # fmt: skip
        refused("y: got dtype torch.bfloat16", layer, x, y=x.bfloat16(), error=TypeError)


# What a call leaves behind


def test_what_a_function_calls_is_not_checked_again_and_what_comes_after_is() -> None:
    entered = []

    @contract(x="... n")
    def inner(x: Any) -> None:
        entered.append(x)

    @contract(x="... n")
    def outer(x: Any, wanted: Any) -> None:
        inner(wanted)
        if wanted is None:
            raise KeyError("inside")

    outer(ones(2), "no array")
    with pytest.raises(KeyError, match="inside"):
        outer(ones(2), None)
    assert entered == ["no array", None]
    refused("x: got 'no array'", inner, "no array", error=TypeError)


def test_an_iterable_that_calls_back_is_checked() -> None:
    def blocks() -> Iterator[Any]:
        yield dot_score(ones(2, 3), ones(4, 3))
        yield dot_score(ones(2, 3), ones(4, 5))

    refused("key: got d = 5", lambda: online_softmax(blocks()))


def test_threads_do_not_disturb_one_another() -> None:
    @contract(x="... n")
    def outer(x: Any, wait: Any) -> None:
        wait.set()
        done.wait(10)

    started, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=outer, args=(ones(2), started))
    thread.start()
    started.wait(10)  # that thread is inside a checked call
    try:
        refused("key: got d = 2", dot_score, ones(4, 3), ones(5, 2))
    finally:
        done.set()
        thread.join()


# Torch's transforms


@pytest.fixture
def tensors() -> Any:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, 3, n, 4, generator=generator) for n in (5, 6, 6)]


def test_compiled_in_one_piece_without_a_warning(tensors: Any) -> None:
    def call(query: Any, key: Any, value: Any) -> Any:
        return dot_score(query, key) @ value + scaled_dot_product_attention(query, key, value)

    torch.compiler.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = torch.compile(call, backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(*tensors), call(*tensors))
    refused("key: got d = 3", dot_score, ones(2, 4), ones(2, 3))


def test_exported_for_any_batch(tensors: Any) -> None:
    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, query: Any, key: Any, value: Any) -> Any:
            return scaled_dot_product_attention(query, key, value)

    batch = {name: {0: torch.export.Dim("b")} for name in ("query", "key", "value")}
    exported = torch.export.export(Model(), tuple(tensors), dynamic_shapes=batch)
    larger = [torch.cat([x, 2 * x, x]) for x in tensors]
    torch.testing.assert_close(
        exported.module()(*larger), scaled_dot_product_attention(*larger), rtol=1e-5, atol=1e-5
    )


def test_functions_of_functions(tensors: Any) -> None:
    query, key, _ = (x.double() for x in tensors)
    whole = dot_score(query, key)
    torch.testing.assert_close(torch.func.vmap(dot_score)(query, key), whole)
    twice = torch.func.vmap(torch.func.vmap(dot_score))
    torch.testing.assert_close(twice(query, key), whole)
    refused("key: got d = 3 in shape (6, 3), wanted 4 as in query", twice, query, key[..., :3])
    torch.testing.assert_close(
        torch.func.grad(lambda x: dot_score(x, key).sum())(query),
        key.sum(-2, keepdim=True).expand_as(query),
    )
    _, slope = torch.func.jvp(lambda x: dot_score(x, key), (query,), (query,))
    torch.testing.assert_close(slope, whole)


def test_parametrized_weights() -> None:
    from companion.layers import AdditiveAttention, FeedForward

    feed = FeedForward(3, 4)
    torch.nn.utils.parametrizations.weight_norm(feed.up_proj)
    assert feed(torch.ones(2, 3)).shape == (2, 3)
    refused("x: got embed_dim = 4", feed, torch.ones(2, 4))
    layer = AdditiveAttention(3, 5, 4)
    torch.nn.utils.parametrize.register_parametrization(layer, "key_weight", torch.nn.Tanh())
    assert layer.project(torch.ones(2, 6, 5)).shape == (2, 6, 4)
    refused("memory: got key_dim = 3", layer.project, torch.ones(2, 6, 3))


# Functions and classes stay what they are


def test_functions_and_layers_are_pickled_and_copied() -> None:
    from companion.layers import FeedForward

    for function in (dot_score, scaled_dot_product_attention, online_softmax):
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is function
    layer = FeedForward(3, 4)
    memory = io.BytesIO()
    torch.save(layer, memory)
    memory.seek(0)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)),
                 torch.load(memory, weights_only=False)):  # fmt: skip
        torch.testing.assert_close(twin(torch.ones(2, 3)), layer(torch.ones(2, 3)))
        refused("x: got embed_dim = 4", twin, torch.ones(2, 4))


def test_a_class_checks_its_constructor() -> None:
    @contract(size=">= 1")
    class Box:
        """Hold something."""

        def __init__(self, size: int) -> None:
            self.size = size

    class Larger(Box):
        def __init__(self, size: int) -> None:
            super().__init__(size + 1)

    assert isinstance(Box, type)
    assert Box(1).size == 1
    assert Larger(0).size == 1
    refused("size: got 0, wanted at least 1", Box, 0)
    refused("size: got -1, wanted at least 1", Larger, -2)
    refused("size: got float, wanted a whole number", Box, size=1.0, error=TypeError)
    assert inspect.getdoc(Box) == "Hold something."


def test_signatures_and_help_tell_all() -> None:
    assert list(inspect.signature(pair).parameters) == ["query", "key", "scale", "flag"]
    assert pair.__name__ == "pair"
    assert inspect.getsource(pair).startswith("@contract(query=")
    doc = inspect.getdoc(scaled_dot_product_attention) or ""
    for line in ("query: (..., h, q, d)", "key: (..., g, k, d)", "value: (..., g, k, v)",
                 "attn_mask: (..., q, k); boolean, True = may attend, or floating",
                 "dropout_p: at least 0 and at most 1; probability of dropping a weight",
                 "softcap: above 0; bound on the scores"):  # fmt: skip
        assert f"\n    {line}" in doc, line
    assert help(pair) is None  # type: ignore[func-returns-value]


DOC = """Blend values.

More about it,
in two lines.

Args:
    right: told last in the signature, in
        two lines.
    left: told first.

Returns:
    (..., q, v).

>>> 1 + 1
2
"""


def test_documented_merges_arguments_in_the_order_of_the_signature() -> None:
    terms = {"value": "... k [v]", "left": ">= 0 and < 1", "mask": "mask: ~... ~q k", "k": ">= 1"}
    assert documented(DOC, terms, ["value", "left", "mask", "right", "other"]) == (
        "Blend values.\n\nMore about it,\nin two lines.\n\nArgs:\n"
        "    value: (..., k) or (..., k, v)\n"
        "    left: at least 0 and below 1; told first.\n"
        "    mask: (..., q, k)\n"
        "    right: told last in the signature, in\n        two lines.\n\n"
        "Returns:\n    (..., q, v).\n\n>>> 1 + 1\n2"
    )


def test_documented_puts_arguments_before_what_is_returned() -> None:
    for section in ("Returns:\n    one.", "Raises:\n    two.", ">>> 1\n1"):
        doc = f"Blend.\n\nMore.\n\n{section}"
        expected = f"Blend.\n\nMore.\n\nArgs:\n    key: (..., k)\n\n{section}"
        assert documented(doc, {"key": "... k"}) == expected
        assert documented(doc, {}) == doc
        assert documented(None, {}) == ""


# The package keeps to the language


SIZES = (">= 1", "> 0", ">= 2", "> 1")


def test_contracts_of_the_package_name_arguments_and_letters() -> None:
    for module in pkgutil.walk_packages(companion.__path__, "companion."):
        importlib.import_module(module.name)
    for function, checks in contracts._contracts.items():
        where = f"{function.__module__}.{function.__qualname__}"
        if not where.startswith("companion"):
            continue
        lasts = {axes.last for axes in checks.axes.values()}
        for name in (*checks.axes, *checks.flags):
            assert name in checks.names, f"{where}: {name} is no argument"
        for name, bounds in checks.bounds.items():
            assert name in checks.names or name in checks.letters, f"{where}: {name}"
            # What is remembered of a size is no more than whether it is 0 or 1.
            assert name in checks.names or bounds in SIZES, f"{where}: {name} {bounds}"
        for letters in checks.flags.values():
            assert set(letters) <= lasts, f"{where}: {letters}"
            for axes in checks.axes.values():  # the head's axis is remembered as the third last
                assert len(axes.words) == 2 or axes.last not in letters, f"{where}: {letters}"
        assert checks.kinds.keys() == {name for name in checks.names if name != "self"}, where
