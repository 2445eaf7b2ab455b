"""Code to be shown."""

import functools
from typing import Any


def decorate(function: Any) -> Any:
    """Wrap a function."""

    @functools.wraps(function)
    def inner(*args: Any) -> Any:
        return function(*args)

    return inner


# fmt: off
@decorate
def decorated(x: int) -> str:
    """Say nothing."""
    # A comment stays.
    text = """no docstring"""
    return text
# fmt: on


class OnlyWordsError(ValueError):
    """There is nothing else here."""


class Box:
    """Hold things.

    For a while.
    """

    size = 3

    @property
    def method(self) -> int:
        """Return it."""
        return self.size
