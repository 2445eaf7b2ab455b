# mypy: disable-error-code="no-any-return"
# (array namespaces are untyped: whatever they return is Any)
"""What the encodings share: where a result lives, whole places, and the angles made of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from companion.arrays import (
    Array,
    check_integer,
    check_number,
    check_whole,
    device_of,
    is_number,
    namespace,
    numpy_namespace,
)


class Home(NamedTuple):
    """Where a result lives: its namespace, its device and its floating dtype."""

    xp: Any
    device: Any
    dtype: Any


def home_of(like: Array | None, offset: Any = 0) -> Home:
    """Take after `like`, else after an offset that is an array, else after NumPy.

    The dtype is that of `like` if it is floating, else the default one.
    """
    anchors = {"like": like, "offset": None if is_number(offset) else offset}
    given = [array for array in anchors.values() if array is not None]
    xp = namespace(**anchors) if given else numpy_namespace()
    device = device_of(given[0]) if given else None
    if like is not None and xp.isdtype(like.dtype, "real floating"):
        return Home(xp, device, like.dtype)
    return Home(xp, device, xp.empty(0, device=device).dtype)


def places_from(home: Home, length: int, offset: Any) -> Any:
    """Return offset, offset + 1, ...: (..., length), the leading axes those of the offset."""
    places = home.xp.arange(length, device=home.device)
    if is_number(offset):
        check_whole(offset=offset)
        return places + int(offset)  # a NumPy number would not do for every library
    check_integer(home.xp, offset=offset)
    return places + home.xp.astype(offset, places.dtype, copy=False)[..., None]


def angle_dtype(xp: Any, device: Any) -> Any:
    """Return float64, or float32 on a device that has nothing wider.

    Far places need it: at place 10^6 a float32 angle is wrong by hundredths of a radian.
    """
    floats = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    return floats.get("float64", xp.float32)


def geometric_frequencies(xp: Any, device: Any, width: int, base: float) -> Any:
    """Return base^(-2 i / width), one for every pair of features; an odd one out counts."""
    pairs = xp.arange((width + 1) // 2, dtype=angle_dtype(xp, device), device=device)
    return float(base) ** (pairs * (-2 / width))


def angles(xp: Any, places: Any, frequencies: Any) -> Any:
    """Return place times frequency, (..., n, pairs), in the dtype of the frequencies."""
    return xp.astype(places, frequencies.dtype, copy=False)[..., None] * frequencies


def check_base(base: object) -> None:
    """Refuse what is no finite number above 1: frequencies would not fall."""
    if not is_number(base):
        raise TypeError(f"base: got {type(base).__name__}, wanted a number")
    check_above(1, base=base)
    check_number(base=base)


def check_above(bound: float, **numbers: Any) -> None:
    """Refuse numbers that do not exceed the bound."""
    for name, number in numbers.items():
        if not number > bound:
            raise ValueError(f"{name}: got {number}, wanted a number above {bound}")
