"""One door to every array library: which namespace, and are the arguments what they should be.

Everything below the layers is written once against the array API standard. The checks look at
types, shapes, dtypes and devices only, never at values, and their messages all read
"argument: got what came, wanted what was wanted".
"""

from __future__ import annotations

import math
import sys
from numbers import Integral, Real
from typing import Any, Protocol, TypeVar

from array_api_compat import (
    array_namespace,
    device,
    is_array_api_obj,
    is_jax_array,
    is_numpy_array,
    is_torch_array,
)


class Array(Protocol):
    """What the package asks of an array of any library."""

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def ndim(self) -> int: ...  # noqa: D102
    @property
    def dtype(self) -> Any: ...  # noqa: D102
    def __getitem__(self, key: Any, /) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    @property
    def mT(self) -> Any: ...  # noqa: D102, N802


ArrayT = TypeVar("ArrayT", bound=Array)
"""The array type of one library: what comes in is what goes out."""

Shape = tuple[int, ...]


def namespace(*arrays: Array | None, **named: Array | None) -> Any:
    """Return the array API namespace that the given arrays share.

    Args:
        *arrays: arrays of one library on one device; None is skipped.
        **named: the same, under the names that an error message is to use.

    Returns:
        The namespace (array API standard, 2024.12 or later). For NumPy arrays it is NumPy, and no
        other library is imported.

    Raises:
        TypeError: no array given, something else given, or arrays of two libraries.
        ValueError: arrays on two devices.

    >>> import numpy as np
    >>> namespace(np.ones(2), None).sqrt(4.0)
    np.float64(2.0)
    """
    if len(arrays) == 1 and type(arrays[0]) in _namespaces:
        return _namespaces[type(arrays[0])]
    if len(arrays) == 1 and is_torch(arrays[0]):
        import array_api_compat.torch

        return array_api_compat.torch
    given = {f"argument {place}": array for place, array in enumerate(arrays, 1)} | named
    (first, reference), *others = _present_arrays(given)
    for name, array in others:
        _check_same_library(name, array, first, reference)
        _check_same_device(name, array, first, reference)
    xp = numpy_namespace() if is_numpy_array(reference) else array_namespace(reference)
    _namespaces[type(reference)] = xp
    return xp


_namespaces: dict[type, Any] = {}


def device_of(array: Array) -> Any:
    """Return the device that holds an array, in the words of its library.

    >>> import numpy as np
    >>> device_of(np.ones(2))
    'cpu'
    """
    return array.device if is_torch(array) else device(array)  # type: ignore[attr-defined]


def is_numpy(array: object) -> bool:
    """Say whether an array is one of NumPy's.

    >>> is_numpy([1.0])
    False
    """
    return is_numpy_array(array)


def is_torch(array: object) -> bool:
    """Say whether an array is a torch tensor, without importing torch.

    >>> is_torch([1.0])
    False
    """
    torch = sys.modules.get("torch")  # not by array-api-compat, whose cache torch.compile warns of
    return torch is not None and isinstance(array, torch.Tensor)


def is_number(value: object) -> bool:
    """Say whether a value is a Python or NumPy real number rather than an array.

    >>> is_number(3), is_number(None)
    (True, False)
    """
    return isinstance(value, Real)


def numpy_namespace() -> Any:
    """Return NumPy, which is an array API namespace itself: a wrapper would cost 80 ms to import.

    >>> numpy_namespace().arange(3).tolist()
    [0, 1, 2]
    """
    import numpy

    return numpy


def constant(array: Any) -> Any:
    """Return an array through which torch sends no gradient.

    Only for values whose gradient is zero anyway: other libraries may still compute it.

    >>> import numpy as np
    >>> constant(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    return array.detach() if is_torch(array) else array


def windows(array: Any, size: int, step: int) -> Any:
    """Return overlapping runs of the rows of an array, (..., n, d) -> (..., windows, size, d).

    For NumPy and torch they are views; other libraries copy.

    >>> import numpy as np
    >>> windows(np.arange(5)[:, None], 3, 2)[:, :, 0]
    array([[0, 1, 2],
           [2, 3, 4]])
    """
    if is_torch_array(array):
        return array.unfold(-2, size, step).mT
    xp = namespace(array)
    if is_numpy_array(array):
        views = xp.lib.stride_tricks.sliding_window_view(array, size, axis=-2)
        return xp.matrix_transpose(views[..., ::step, :, :])
    starts = range(0, array.shape[-2] - size + 1, step)
    return xp.stack([array[..., start : start + size, :] for start in starts], axis=-3)


def accumulation_dtype(xp: Any, *arrays: Array) -> Any:
    """Return the dtype in which to add products of the arrays: theirs, but at least float32.

    >>> import numpy as np
    >>> accumulation_dtype(np, np.ones(2, np.float16)) == np.float32
    True
    """
    dtype = xp.result_type(*arrays)
    return xp.float32 if xp.finfo(dtype).bits < 32 else dtype


def result_dtype(*arrays: Array) -> Any:
    """Return the dtype to which those of the arrays promote.

    >>> import numpy as np
    >>> result_dtype(np.ones(2, np.float16), np.ones(2, np.float32)).name
    'float32'
    """
    dtypes = {array.dtype for array in arrays}
    return dtypes.pop() if len(dtypes) == 1 else namespace(arrays[0]).result_type(*arrays)


def widen(*arrays: Array) -> Any:
    """Return arrays in the dtype in which their products are added: theirs, but at least float32.

    >>> import numpy as np
    >>> [array.dtype.name for array in widen(np.ones(2, np.float16), np.ones(2, np.float16))]
    ['float32', 'float32']
    """
    xp, dtype = namespace(arrays[0]), result_dtype(*arrays)
    wide = dtype if xp.finfo(dtype).bits >= 32 else xp.float32
    return tuple(cast(array, wide) for array in arrays)


def cast(array: Any, dtype: Any) -> Any:
    """Return an array in a dtype: itself, where it has that one.

    >>> import numpy as np
    >>> cast(np.ones(2), np.float32).dtype.name
    'float32'
    """
    return array if array.dtype == dtype else namespace(array).astype(array, dtype)


def row_maximum(scores: Any) -> Any:
    """Return the largest score of every row, (..., q, 1), or -inf where there is none.

    It is a constant: what is taken away from all scores of a row changes no weight, so that the
    gradient does not pass through it.

    >>> import numpy as np
    >>> row_maximum(np.array([[1.0, 3.0, 2.0]]))
    array([[3.]])
    """
    xp = namespace(scores)
    if scores.shape[-1] == 0:
        shape = (*scores.shape[:-1], 1)
        return xp.full(shape, -math.inf, dtype=scores.dtype, device=device_of(scores))
    return constant(xp.max(scores, axis=-1, keepdims=True))


def finite(maximum: Any) -> Any:
    """Replace -inf by 0, so that it can be taken away from something.

    >>> import numpy as np
    >>> finite(np.array([-np.inf, 2.0]))
    array([0., 2.])
    """
    return namespace(maximum).where(maximum > -math.inf, maximum, 0.0)


def broadcast_shape(first: Shape, second: Shape) -> Shape | None:
    """Return the shape to which two shapes broadcast, or None where they do not.

    >>> broadcast_shape((2, 1, 5), (3, 1)), broadcast_shape((2,), (3,))
    ((2, 3, 5), None)
    """
    rank = max(len(first), len(second))
    padded = ((1,) * (rank - len(shape)) + tuple(shape) for shape in (first, second))
    pairs = list(zip(*padded, strict=True))
    if any(one != other and one != 1 and other != 1 for one, other in pairs):
        return None
    return tuple(other if one == 1 else one for one, other in pairs)


def broadcasts_to(shape: Shape, target: Shape) -> bool:
    """Say whether a shape stretches to another one without changing it.

    >>> broadcasts_to((1, 5), (2, 3, 5)), broadcasts_to((2, 3, 5), (1, 5))
    (True, False)
    """
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(
        size == 1 or size == wanted  # `in` does not see that symbolic sizes are equal
        for size, wanted in pairs
    )


def check_rank(minimum: int, axes: str, *, exactly: bool = False, **arrays: Array) -> None:
    """Refuse arrays with too few axes, or too many if the number is exact.

    Args:
        minimum: the fewest axes allowed.
        axes: the wanted axes in letters, for the message.
        exactly: allow no more than the minimum either.
        **arrays: the arrays under the names of their arguments.

    Raises:
        TypeError: None in the place of an array.
        ValueError: an array has another number of axes.

    >>> import numpy as np
    >>> check_rank(2, "(..., q, d)", query=np.ones(3))
    Traceback (most recent call last):
    ValueError: query: got shape (3,), wanted at least 2 axes, (..., q, d)
    """
    for name, array in arrays.items():
        if array is None:
            raise TypeError(f"{name}: got NoneType, wanted an array")
        if array.ndim < minimum or (exactly and array.ndim > minimum):
            raise ValueError(
                f"{name}: got shape {tuple(array.shape)}, "
                f"wanted {'exactly' if exactly else 'at least'} {minimum} "
                f"{'axis' if minimum == 1 else 'axes'}, {axes}"
            )


def check_size(size: int, meaning: str, axis: int, **arrays: Array) -> None:
    """Refuse arrays whose given axis has another size than the wanted one.

    Args:
        size: the wanted size.
        meaning: what the size has to agree with, for the message.
        axis: the axis, counted from the end.
        **arrays: the arrays under the names of their arguments.

    Raises:
        ValueError: an array has another size there.

    >>> import numpy as np
    >>> check_size(4, "the width of query", -1, key=np.ones((2, 3)))
    Traceback (most recent call last):
    ValueError: key: got 3 on axis -1 of shape (2, 3), wanted 4, the width of query
    """
    for name, array in arrays.items():
        if array.shape[axis] != size:
            raise ValueError(
                f"{name}: got {array.shape[axis]} on axis {axis} of shape {tuple(array.shape)}, "
                f"wanted {size}, {meaning}"
            )


def check_floating(xp: Any, **arrays: Array | None) -> None:
    """Refuse arrays that do not hold real floating numbers; None is skipped.

    Raises:
        TypeError: an array has another dtype.

    >>> import numpy as np
    >>> check_floating(np, query=np.arange(3, dtype=np.int64))
    Traceback (most recent call last):
    TypeError: query: got dtype int64, wanted a real floating dtype
    """
    _check_kind(xp, "real floating", "a real floating dtype", arrays)


def check_integer(xp: Any, **arrays: Array | None) -> None:
    """Refuse arrays that do not hold integers; None is skipped.

    Raises:
        TypeError: an array has another dtype.

    >>> import numpy as np
    >>> check_integer(np, lengths=np.ones(3))
    Traceback (most recent call last):
    TypeError: lengths: got dtype float64, wanted an integer dtype
    """
    _check_kind(xp, "integral", "an integer dtype", arrays)


def check_whole(minimum: int | None = None, **numbers: object) -> None:
    """Refuse what is not a whole number, or below the minimum if there is one.

    Raises:
        TypeError: not a whole number.
        ValueError: below the minimum.

    >>> check_whole(0, q_len=-1)
    Traceback (most recent call last):
    ValueError: q_len: got -1, wanted at least 0
    """
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, Integral):
            raise TypeError(f"{name}: got {type(number).__name__}, wanted a whole number")
        if minimum is not None and number < minimum:
            raise ValueError(f"{name}: got {number}, wanted at least {minimum}")


def check_number(**numbers: Any) -> None:
    """Refuse what is not a real number, or not finite; None is skipped.

    Raises:
        TypeError: not a number.
        ValueError: infinite, or nan.

    >>> check_number(scale="2")
    Traceback (most recent call last):
    TypeError: scale: got str, wanted a number
    """
    for name, number in numbers.items():
        if number is None:
            continue
        if isinstance(number, bool) or not is_number(number):
            raise TypeError(f"{name}: got {type(number).__name__}, wanted a number")
        if not -math.inf < number < math.inf:  # which torch can compile
            raise ValueError(f"{name}: got {number}, wanted a finite number")


def check_flag(**flags: object) -> None:
    """Refuse what is neither True nor False: the text "False" would count as True.

    Raises:
        TypeError: something else.

    >>> check_flag(is_causal="False")
    Traceback (most recent call last):
    TypeError: is_causal: got str, wanted True or False
    """
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name}: got {type(flag).__name__}, wanted True or False")


def check_mask(xp: Any, scores_shape: Shape, **masks: Array | None) -> None:
    """Refuse masks that do not fit scores (..., q, k); None is skipped.

    The last axis must count the keys, cached ones included: stretching one column over all keys
    would allow what a mask that was built too short never spoke about.

    Raises:
        TypeError: neither boolean nor floating.
        ValueError: not as many keys as the scores, or a shape that does not broadcast to theirs.

    >>> import numpy as np
    >>> check_mask(np, (2, 3, 5), mask=np.ones((3, 4), dtype=bool))
    Traceback (most recent call last):
    ValueError: mask: got 4 keys in shape (3, 4), wanted 5: a mask covers every key, cached ones too
    """
    for name, mask in masks.items():
        if mask is None:
            continue
        if not xp.isdtype(mask.dtype, ("bool", "real floating")):
            raise TypeError(
                f"{name}: got dtype {mask.dtype}, wanted bool (True = may attend) "
                f"or a real floating dtype, added to the scores"
            )
        _check_mask_shape(name, tuple(mask.shape), scores_shape)


def _check_mask_shape(name: str, shape: Shape, scores_shape: Shape) -> None:
    keys = scores_shape[-1]
    if not shape or shape[-1] != keys:
        raise ValueError(
            f"{name}: got {shape[-1] if shape else 'no axis of'} keys in shape {shape}, "
            f"wanted {keys}: a mask covers every key, cached ones too"
        )
    if not broadcasts_to(shape, scores_shape):
        hint = "; a mask for each sequence needs an axis for its heads, mask[:, None]"
        raise ValueError(
            f"{name}: got shape {shape}, wanted one that broadcasts to {scores_shape}"
            + (hint if len(shape) == 3 and len(scores_shape) == 4 else "")
        )


def _check_kind(xp: Any, kind: str, wanted: str, arrays: dict[str, Array | None]) -> None:
    for name, array in arrays.items():
        if array is not None and not xp.isdtype(array.dtype, kind):
            raise TypeError(f"{name}: got dtype {array.dtype}, wanted {wanted}")


def _present_arrays(given: dict[str, Array | None]) -> list[tuple[str, Array]]:
    present = [(name, array) for name, array in given.items() if array is not None]
    if not present:
        name = next(iter(given), "arrays")
        raise TypeError(f"{name}: got NoneType, wanted an array")
    for name, array in present:
        if not is_array_api_obj(array):
            raise TypeError(
                f"{name}: got {type(array).__name__}, "
                f"wanted an array of NumPy, torch or another array API library"
            )
    return present


def _check_same_library(name: str, array: Array, first: str, reference: Array) -> None:
    if type(array) is type(reference):
        return
    got, wanted = library_of(array), library_of(reference)
    if got != wanted:
        raise TypeError(f"{name}: got an array of {got}, wanted one of {wanted} like {first}")


def _check_same_device(name: str, array: Array, first: str, reference: Array) -> None:
    if is_numpy_array(array) or is_jax_array(array):
        return  # NumPy has one device; JAX moves arrays itself and, under `jit`, hides where
    if device(array) != device(reference):
        raise ValueError(
            f"{name}: got device {device(array)}, wanted {device(reference)}, where {first} is"
        )


def library_of(array: Array) -> str:
    """Return the name of the library that an array belongs to.

    >>> import numpy as np
    >>> library_of(np.ones(2))
    'numpy'
    """
    if is_numpy_array(array):
        return "numpy"
    name: str = array_namespace(array).__name__
    return name.removeprefix("array_api_compat.")
