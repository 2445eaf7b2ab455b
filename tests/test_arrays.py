"""One way to speak to array libraries: right namespaces, dtypes and shapes."""

import math
from types import ModuleType
from typing import Any

import numpy as np

from companion.arrays import (
    broadcast_shape,
    cast,
    constant,
    device_of,
    finite,
    is_number,
    is_numpy,
    is_torch,
    library_of,
    namespace,
    result_dtype,
    row_maximum,
    widen,
)


def test_the_namespace_is_that_of_the_array(libraries: list[Any]) -> None:
    for xp in libraries:
        array = xp.ones((2, 3))
        assert namespace(array) is xp
        assert namespace(array) is xp, "also when it is remembered"
        assert xp.isdtype(namespace(array).zeros((1,)).dtype, "real floating")


def test_a_subclass_belongs_to_its_library(torch: ModuleType) -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    assert namespace(parameter).__name__ == "array_api_compat.torch"
    assert (library_of(parameter), is_torch(parameter)) == ("torch", True)


def test_libraries_are_told_apart(libraries: list[Any]) -> None:
    for xp in libraries:
        array = xp.ones(2)
        assert library_of(array) == xp.__name__.removeprefix("array_api_compat.")
        assert is_numpy(array) == (xp is np)
        assert is_torch(array) == xp.__name__.endswith("torch")
        assert not is_number(array)
        assert device_of(array) == array.device


def test_no_gradient_flows_through_a_constant(torch: ModuleType) -> None:
    x = torch.ones(3, requires_grad=True)
    assert constant(x).requires_grad is False
    array = np.ones(3)
    assert constant(array) is array


def test_half_precision_accumulates_in_float32(torch: ModuleType) -> None:
    rows: list[tuple[list[str], str]] = [
        (["float16"], "float32"),
        (["bfloat16"], "float32"),
        (["float16", "float32"], "float32"),
        (["float32"], "float32"),
        (["float32", "float64"], "float64"),
    ]
    for dtypes, expected in rows:
        arrays = [torch.ones(2, dtype=getattr(torch, dtype)) for dtype in dtypes]
        wide = widen(torch, *arrays)
        assert {array.dtype for array in wide} == {getattr(torch, expected)}


def test_dtypes_promote_as_the_library_says(libraries: list[Any]) -> None:
    for xp in libraries:
        narrow, wide = xp.ones(2, dtype=xp.float32), xp.ones(2, dtype=xp.float64)
        assert result_dtype(narrow, wide) == xp.float64
        assert result_dtype(narrow, narrow) == xp.float32
        assert cast(narrow, xp.float32) is narrow
        assert cast(narrow, xp.float64).dtype == xp.float64


def test_rows_have_a_maximum_also_without_scores(libraries: list[Any]) -> None:
    for xp in libraries:
        scores = xp.asarray([[1.0, 3.0], [-math.inf, -math.inf]])
        highest = row_maximum(xp, scores)
        assert highest.shape == (2, 1)
        assert [float(x) for x in finite(xp, highest)[:, 0]] == [3.0, 0.0]
        nothing = row_maximum(xp, scores[:, :0])
        assert nothing.shape == (2, 1)
        assert bool(xp.all(nothing == -math.inf))


def test_broadcasting_is_numpys() -> None:
    rows: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        ((), (3,)),
        ((2, 1, 5), (3, 1)),
        ((5,), (2, 3, 5)),
        ((0,), (1,)),
        ((2,), (3,)),
        ((2, 3), (3, 2)),
    ]
    for first, second in rows:
        try:
            expected = np.broadcast_shapes(first, second)
        except ValueError:
            expected = None
        assert broadcast_shape(first, second) == expected
