"""Answers to single test items: how a record holds them, and what error of a number they show.

Two models that are asked the same sentences tend to get the same ones right, so their difference
depends less on which sentences were drawn than either share does. How much less can only be told
from the answers by item. A record holds them, for those measures that claims compare, as one string
a seed: four items a digit where an item is right or wrong, else two digits an item, in base 16.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bookkit.records import Measure

_MOST = 255


class Answered(NamedTuple):
    """The answers of all seeds to test items that they share."""

    points: NDArray[np.float64]  # what was scored of every item, (seeds, items)
    of: NDArray[np.float64]  # of how much, (seeds, items); 1 where an item is right or wrong

    @property
    def influences(self) -> NDArray[np.float64]:
        """By how much each item moves the number of each seed, in points of a hundred.

        The number is a ratio of sums, 100 * points / of, and this is its linear part. For items
        that are right or wrong it is the distance of each from the share.
        """
        ratio = self.points.sum(1, keepdims=True) / self.of.sum(1, keepdims=True)
        moved: NDArray[np.float64] = self.points - ratio * self.of
        per_cent: NDArray[np.float64] = 100 * moved / self.of.mean(1, keepdims=True)
        return per_cent

    @property
    def farthest(self) -> float:
        """The influence of the item that is farthest out, at least that of a single point."""
        return max(100 / float(self.of.mean()), float(np.abs(self.influences).max()))


Slopes = Mapping[str, Sequence[float]]
"""By how much a number changes with each measure that it is computed of, one slope a seed."""


def answered(runs: Sequence[Sequence[tuple[float, float]]]) -> Answered:
    """Return answers as they come from the runs, one list of points and of how many a seed."""
    both = np.array(runs, dtype=float)
    return Answered(both[..., 0], both[..., 1])


def error(slopes: Slopes, answers: Mapping[str, Answered], alike: Callable[[str], object]) -> float:
    """Return the standard error that shared test items give a number, from the answers to them.

    The number changes by its slopes with the measures that it is computed of. Those of the same
    items, as `alike` tells, are taken together, item by item. For each measure one more answer is
    added that is as far out as any, and by a point at least, since no error among m answers does
    not show that there never is one.

    >>> same = answered([[(1, 1), (0, 1), (1, 1), (1, 1)]] * 2)
    >>> apart = answered([[(0, 1), (1, 1), (1, 1), (1, 1)]] * 2)
    >>> slopes = {"a": [1, 1], "b": [-1, -1]}
    >>> error(slopes, {"a": same, "b": same}, len) < error(slopes, {"a": same, "b": apart}, len)
    True
    """
    groups: dict[object, list[str]] = defaultdict(list)
    for name in slopes:
        groups[alike(name), answers[name].points.shape[1]].append(name)
    return math.hypot(*(_error(names, slopes, answers) for names in groups.values()))


def _error(names: list[str], slopes: Slopes, answers: Mapping[str, Answered]) -> float:
    moved = [np.array(slopes[name])[:, None] * answers[name].influences for name in names]
    by_item = np.mean(sum(moved), axis=0)
    outliers = [float(np.mean(np.abs(slopes[name]))) * answers[name].farthest for name in names]
    items, squares = len(by_item), float(np.sum(by_item**2)) + math.hypot(*outliers) ** 2
    return math.sqrt(squares / (items + 2) / items)


def as_entry(answers: Answered) -> dict[str, list[str]]:
    """Return what a record holds of answers.

    Raises:
        ValueError: an answer is not a whole number from 0 to 255.

    >>> as_entry(answered([[(1, 1), (0, 1), (1, 1), (1, 1), (1, 1)]]))
    {'answers': ['b8']}
    >>> as_entry(answered([[(3, 12), (0, 9)]]))
    {'answers': ['0300'], 'of': ['0c09']}
    """
    points, of = (_whole(values) for values in answers)
    if (of == 1).all() and (points <= 1).all():
        return {"answers": [_hex(np.packbits(row))[: -(-len(row) // 4)] for row in points]}
    return {"answers": [*map(_hex, points)], "of": [*map(_hex, of)]}


def from_entry(entry: Mapping[str, Any]) -> Answered | None:
    """Return the answers that an entry of a record holds; None if it holds none.

    >>> from_entry({"answers": ["b8"], "items": 5}).points.tolist()
    [[1.0, 0.0, 1.0, 1.0, 1.0]]
    """
    if "answers" not in entry:
        return None
    items = int(entry["items"])
    if "of" in entry:
        points, of = (
            np.array([list(bytes.fromhex(row)) for row in entry[part]], dtype=float)
            for part in ("answers", "of")
        )
        return Answered(points, of)
    rows = [bytes.fromhex(row + "0" * (len(row) % 2)) for row in entry["answers"]]
    bits = [np.unpackbits(np.frombuffer(row, dtype=np.uint8))[:items] for row in rows]
    right = np.array(bits, dtype=float)
    return Answered(right, np.ones_like(right))


def from_measure(measure: Measure) -> Answered | None:
    """Return the answers that a measure of a record holds; None if it holds none."""
    held = {"answers": measure.answers, "of": measure.of, "items": measure.items}
    return from_entry({name: value for name, value in held.items() if value})


def _whole(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    whole = values.round()
    if not (np.allclose(values, whole) and (whole >= 0).all() and (whole <= _MOST).all()):
        raise ValueError(f"answers: got {values}, wanted whole numbers from 0 to {_MOST}")
    return whole.astype(np.uint8)


def _hex(row: NDArray[np.uint8]) -> str:
    return bytes(row).hex()
