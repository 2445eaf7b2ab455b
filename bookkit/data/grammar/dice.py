"""Random choices that are the same in every version of Python."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws everything from `random()`, the one method whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def yes(self, chance: float) -> bool:
        """Return True with a chance between 0 and 1."""
        return self._random() < chance

    def pick(self, choices: Sequence[T]) -> T:
        """Choose one of at least one."""
        return choices[int(self._random() * len(choices))]

    def between(self, low: int, high: int) -> int:
        """Choose an integer from low to high, both included."""
        return low + int(self._random() * (high - low + 1))
