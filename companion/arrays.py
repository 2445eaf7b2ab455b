"""One way to speak to every array library: the functions of the array API standard.

Everything below the layers is written once, for the arrays of any library. What is here looks at
types, shapes and dtypes; the numbers in an array stay where they are.
"""

from __future__ import annotations

import math
import sys
from numbers import Real
from typing import Any, Protocol, TypeVar

from array_api_compat import array_namespace, device, is_numpy_array


class Array(Protocol):
    """What the package asks of an array of any library."""

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def ndim(self) -> int: ...  # noqa: D102
    @property
    def dtype(self) -> Any: ...  # noqa: D102
    @property
    def mT(self) -> Any: ...  # noqa: D102, N802
    def __getitem__(self, key: Any, /) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...


ArrayT = TypeVar("ArrayT", bound=Array)
"""The array type of one library: what comes in is what goes out."""

Shape = tuple[int, ...]

_namespaces: dict[type, Any] = {}  # of the types of arrays that were met


def namespace(array: Array) -> Any:
    """Return the functions for an array: the namespace of the array API standard (2024.12).

    For NumPy arrays it is NumPy, and no other library is imported.

    >>> import numpy as np
    >>> namespace(np.ones(2)).sqrt(4.0)
    np.float64(2.0)
    """
    kind = type(array)
    if kind in _namespaces:
        return _namespaces[kind]
    if is_torch(array):
        import array_api_compat.torch

        return array_api_compat.torch
    _namespaces[kind] = (
        numpy_namespace() if is_numpy_array(array) else array_namespace(array)
    )
    return _namespaces[kind]


def numpy_namespace() -> Any:
    """Return NumPy, which is an array API namespace itself: a wrapper would cost 80 ms to import.

    >>> numpy_namespace().arange(3).tolist()
    [0, 1, 2]
    """
    import numpy

    return numpy


def library_of(array: Array) -> str:
    """Return the name of the library that an array belongs to.

    >>> import numpy as np
    >>> library_of(np.ones(2))
    'numpy'
    """
    if is_numpy(array):
        return "numpy"
    name: str = namespace(array).__name__
    return name.removeprefix("array_api_compat.")


def device_of(array: Any) -> Any:
    """Return the device that holds an array, in the words of its library.

    >>> import numpy as np
    >>> device_of(np.ones(2))
    'cpu'
    """
    return array.device if is_torch(array) else device(array)


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
    # Not by array-api-compat, whose cache torch.compile warns of.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def is_number(value: object) -> bool:
    """Say whether a value is a Python or NumPy real number rather than an array.

    >>> is_number(3), is_number(None)
    (True, False)
    """
    return isinstance(value, Real)


def result_dtype(*arrays: Array) -> Any:
    """Return the dtype to which those of the arrays promote.

    >>> import numpy as np
    >>> result_dtype(np.ones(2, np.float16), np.ones(2, np.float32)).name
    'float32'
    """
    dtypes = {array.dtype for array in arrays}
    return (
        dtypes.pop()
        if len(dtypes) == 1
        else namespace(arrays[0]).result_type(*arrays)
    )


def widen(xp: Any, *arrays: Array) -> Any:
    """Return arrays in the dtype in which their products are added: theirs, but at least float32.

    >>> import numpy as np
    >>> [array.dtype.name for array in widen(np, np.ones(2, np.float16), np.ones(2, np.float16))]
    ['float32', 'float32']
    """
    dtype = result_dtype(*arrays)
    wide = dtype if xp.finfo(dtype).bits >= 32 else xp.float32
    return tuple([cast(array, wide) for array in arrays])


def cast(array: Any, dtype: Any) -> Any:
    """Return an array in a dtype: itself, where it has that one.

    >>> import numpy as np
    >>> cast(np.ones(2), np.float32).dtype.name
    'float32'
    """
    return (
        array
        if array.dtype == dtype
        else namespace(array).astype(array, dtype)
    )


def constant(array: Any) -> Any:
    """Return an array through which torch sends no gradient.

    Only for values whose gradient is zero anyway: other libraries may still compute it.

    >>> import numpy as np
    >>> constant(np.ones(2)).tolist()
    [1.0, 1.0]
    """
    return array.detach() if is_torch(array) else array


def row_maximum(xp: Any, scores: Any) -> Any:
    """Return the largest score of every row, (..., q, 1), or -inf where there is none.

    It is a constant: what is taken away from all scores of a row changes no weight, so that the
    gradient does not pass through it.

    >>> import numpy as np
    >>> row_maximum(np, np.array([[1.0, 3.0, 2.0]]))
    array([[3.]])
    """
    if scores.shape[-1] == 0:
        shape = (*scores.shape[:-1], 1)
        return xp.full(
            shape, -math.inf, dtype=scores.dtype, device=device_of(scores)
        )
    return constant(xp.max(scores, axis=-1, keepdims=True))


def finite(xp: Any, maximum: Any) -> Any:
    """Replace -inf by 0, so that it can be taken away from something.

    >>> import numpy as np
    >>> finite(np, np.array([-np.inf, 2.0]))
    array([0., 2.])
    """
    return xp.where(maximum > -math.inf, maximum, 0.0)


def broadcast_shape(first: Shape, second: Shape) -> Shape | None:
    """Return the shape to which two shapes broadcast, or None where they do not.

    >>> broadcast_shape((2, 1, 5), (3, 1)), broadcast_shape((2,), (3,))
    ((2, 3, 5), None)
    """
    rank = max(len(first), len(second))
    padded = (
        (1,) * (rank - len(shape)) + tuple(shape) for shape in (first, second)
    )
    pairs = list(zip(*padded, strict=True))
    if any(one != other and one != 1 and other != 1 for one, other in pairs):
        return None
    return tuple(other if one == 1 else one for one, other in pairs)
