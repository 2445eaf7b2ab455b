"""The one door to array libraries: right namespaces, and messages that say what was wrong."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from companion.arrays import (
    accumulation_dtype,
    broadcast_shape,
    broadcasts_to,
    check_flag,
    check_floating,
    check_mask,
    check_number,
    check_rank,
    check_size,
    check_whole,
    constant,
    namespace,
)


def test_namespace_is_that_of_the_arrays(xp: Any) -> None:
    array = xp.ones((2, 3))
    assert namespace(array, None, array) is xp
    assert namespace(query=array, mask=None) is xp
    assert xp.isdtype(namespace(array).zeros((1,)).dtype, "real floating")


def test_namespace_refuses_what_is_no_array() -> None:
    with pytest.raises(TypeError, match=r"^key: got list, wanted an array of NumPy, torch or"):
        namespace(query=np.ones(2), key=[1.0, 2.0])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^argument 2: got float, wanted an array"):
        namespace(np.ones(2), 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^argument 1: got NoneType, wanted an array$"):
        namespace(None, mask=None)


def test_namespace_refuses_two_libraries(torch: ModuleType) -> None:
    strict = pytest.importorskip("array_api_strict")
    message = r"^mask: got an array of torch, wanted one of numpy like query$"
    with pytest.raises(TypeError, match=message):
        namespace(query=np.ones(2), key=None, mask=torch.ones(2))
    message = r"^argument 2: got an array of numpy, wanted one of array_api_strict like argument 1$"
    with pytest.raises(TypeError, match=message):
        namespace(strict.ones(2), np.ones(2))


def test_namespace_takes_subclasses_of_one_library(torch: ModuleType) -> None:
    parameter = torch.nn.Parameter(torch.ones(2))
    assert namespace(parameter, torch.ones(2)).__name__ == "array_api_compat.torch"


def test_namespace_refuses_two_devices(torch: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"^key: got device meta, wanted cpu, where query is$"):
        namespace(query=torch.ones(2), key=torch.ones(2, device="meta"))
    strict = pytest.importorskip("array_api_strict")
    elsewhere = strict.ones(2, device=strict.Device("device1"))
    with pytest.raises(ValueError, match=r"^key: got device .*device1.*, wanted .*CPU_DEVICE"):
        namespace(query=strict.ones(2), key=elsewhere)


def test_no_gradient_flows_through_a_constant(torch: ModuleType) -> None:
    x = torch.ones(3, requires_grad=True)
    assert constant(x).requires_grad is False
    array = np.ones(3)
    assert constant(array) is array


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["float16"], "float32"),
        (["bfloat16"], "float32"),
        (["float16", "float32"], "float32"),
        (["float32"], "float32"),
        (["float32", "float64"], "float64"),
    ],
)
def test_half_precision_accumulates_in_float32(
    torch: ModuleType, dtypes: list[str], expected: str
) -> None:
    arrays = [torch.ones(2, dtype=getattr(torch, dtype)) for dtype in dtypes]
    xp = namespace(*arrays)
    assert accumulation_dtype(xp, *arrays) == getattr(torch, expected)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((), (3,)),
        ((2, 1, 5), (3, 1)),
        ((5,), (2, 3, 5)),
        ((0,), (1,)),
        ((2,), (3,)),
        ((2, 3), (3, 2)),
    ],
)
def test_broadcasting_is_numpys(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(first, second)
    except ValueError:
        expected = None
    assert broadcast_shape(first, second) == expected
    assert broadcasts_to(first, second) == (expected == second)
    assert broadcasts_to(second, first) == (expected == first)


def test_checks_name_the_argument_what_came_and_what_was_wanted(xp: Any) -> None:
    row, grid = xp.ones(3), xp.ones((2, 3))
    whole = xp.asarray([1, 2, 3])
    check_rank(1, "(d,)", a=row, b=grid)
    check_size(3, "the width", -1, a=row, b=grid)
    check_floating(xp, a=row, b=None)
    with pytest.raises(
        ValueError, match=re.escape("b: got shape (3,), wanted at least 2 axes, (q, d)")
    ):
        check_rank(2, "(q, d)", a=grid, b=row)
    with pytest.raises(ValueError, match=re.escape("b: got 2 on axis -2 of shape (2, 3), wanted")):
        check_size(5, "the keys", -2, b=grid)
    with pytest.raises(TypeError, match=r"^b: got dtype .*int64, wanted a real floating dtype$"):
        check_floating(xp, a=row, b=whole)


def test_number_checks() -> None:
    check_whole(0, a=3, b=np.int64(2))
    check_whole(offset=-3)
    check_number(scale=np.float32(0.5), softcap=None)
    with pytest.raises(TypeError, match=r"^q_len: got float, wanted a whole number$"):
        check_whole(0, q_len=2.0)
    with pytest.raises(ValueError, match=r"^left: got -1, wanted at least 0$"):
        check_whole(0, left=-1)
    with pytest.raises(TypeError, match=r"^scale: got str, wanted a number$"):
        check_number(scale="1")
    for number in (True, np.True_):
        with pytest.raises(TypeError, match=r"^left: got bool_?, wanted a whole number$"):
            check_whole(left=number)
        with pytest.raises(TypeError, match=r"^scale: got bool_?, wanted a number$"):
            check_number(scale=number)
    with pytest.raises(ValueError, match=r"^scale: got -inf, wanted a finite number$"):
        check_number(scale=-np.inf)


def test_switches() -> None:
    check_flag(is_causal=True, need_lse=False)
    for flag in (0, "False", None, np.ones(2, dtype=bool)):
        with pytest.raises(TypeError, match=r"^is_causal: got \w+, wanted True or False$"):
            check_flag(is_causal=flag)


@pytest.mark.parametrize("shape", [(5,), (3, 5), (1, 5), (2, 1, 5), (2, 3, 5)])
def test_masks_that_fit(xp: Any, shape: tuple[int, ...]) -> None:
    for dtype in (xp.bool, xp.float64):
        check_mask(xp, (2, 3, 5), mask=xp.ones(shape, dtype=dtype), other=None)


@pytest.mark.parametrize(
    ("shape", "scores_shape", "message"),
    [
        ((3, 4), (2, 3, 5), "mask: got 4 keys in shape (3, 4), wanted 5: a mask covers every key"),
        ((3, 1), (2, 3, 5), "mask: got 1 keys in shape (3, 1), wanted 5"),
        ((), (2, 3, 5), "mask: got no axis of keys in shape (), wanted 5"),
        ((2, 5), (2, 3, 5), "mask: got shape (2, 5), wanted one that broadcasts to (2, 3, 5)"),
        ((7, 2, 3, 5), (2, 3, 5), "wanted one that broadcasts to (2, 3, 5)"),
        ((2, 1, 5), (2, 6, 3, 5), "needs an axis for its heads, mask[:, None]"),
    ],
)
def test_masks_that_do_not_fit(
    xp: Any, shape: tuple[int, ...], scores_shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        check_mask(xp, scores_shape, mask=xp.ones(shape, dtype=xp.bool))


def test_integer_masks_are_refused(xp: Any) -> None:
    message = r"^mask: got dtype .*int64, wanted bool \(True = may attend\) or a real floating"
    with pytest.raises(TypeError, match=message):
        check_mask(xp, (3, 5), mask=xp.ones((3, 5), dtype=xp.int64))
