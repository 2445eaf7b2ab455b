"""The exercises of "Five rooms"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function, Value

_READ = {"stone", "chair"}

check_words = Value(
    "The words, of five, in which what came before a frame tells which letter is next.",
    right=_READ, mistakes={
        "in \"onion\", n is followed by i, and later by silence": _READ | {"onion"},
        "in \"level\", e is followed by v, and later by l": _READ | {"level"},
        "in \"murmur\", r is followed by m, and later by silence": _READ | {"murmur"},
        "that is the words in which it loses its way": {"level", "onion", "murmur"},
    }, otherwise="not yet: is there a letter that is followed by two different things?",
)  # fmt: skip


def _entered(weights: Numbers) -> list[int]:
    """Return the frames at which the best path enters each row."""
    rows, frames = weights.shape
    best = np.full((rows, frames), -np.inf)
    best[0] = np.cumsum(weights[0])
    for row in range(1, rows):
        for frame in range(row, frames):
            before = best[[row, row - 1], frame - 1].max()
            best[row, frame] = weights[row, frame] + before
    found, frame = [0] * rows, frames - 1
    for row in range(rows - 1, 0, -1):
        while best[row - 1, frame - 1] < best[row, frame - 1]:
            frame -= 1
        found[row] = frame
        frame -= 1
    return found


def _listed(got: Any, *_: Any) -> list[int]:
    try:
        return [int(one) for one in got]
    except (TypeError, ValueError):
        refuse(got, "a list of frames")


def _greedy(weights: Numbers) -> list[int]:
    found = [0]
    for frame in range(1, weights.shape[1]):
        row = len(found)
        if row < len(weights) and weights[row, frame] > weights[row - 1, frame]:
            found.append(frame)
    return found


_MAPS = (
    np.array([[0.6, 0.4, 0, 0, 0, 0], [0, 0, 0.5, 0, 0, 0.5], [0, 0, 0, 0.3, 0.4, 0.3]]),
    np.array([[0.3, 0.1, 0.3, 0.2, 0.1], [0.1, 0.2, 0.1, 0.5, 0.1], [0.1, 0.1, 0.2, 0.2, 0.4]]),
    np.array([[0.2, 0.5, 0.1, 0.2], [0.4, 0.1, 0.3, 0.2], [0.1, 0.2, 0.3, 0.4]]),
)

check_stamps = Function(
    "`stamps(weights)`, the frames at which the best path enters the rows of a map (q, k): a list "
    "of q whole numbers.",
    right=_entered, cases=[(one,) for one in _MAPS], mistakes={
        "the path may not go back: the largest weight of a row is not enough":
            lambda weights: weights.argmax(1).tolist(),
        "the path with the most weight in all is not found by looking one frame ahead": _greedy,
        "frames are counted from 0": lambda weights: [one + 1 for one in _entered(weights)],
        "the frames at which rows are entered, not the row of each frame":
            lambda weights: np.searchsorted(
                _entered(weights), np.arange(weights.shape[1]), side="right") - 1,
    }, read=_listed, otherwise="got {got}, wanted {wanted}",
)  # fmt: skip

check_drift = Value(
    "Centimetres after 100 steps of the token nearest to 0, of 256 bins from -1 to 1.",
    right=100 / 256, mistakes={
        "the middle of a bin is half a bin away from its edge": 200 / 256,
        "0 is an edge between two bins, so no token means it": 0,
        "that is one step: there are 100": 1 / 256,
        "the bins go from -1 to 1, so that one is 2/256 cm wide": 50 / 256,
    }, otherwise="got {got:g}: how far is the middle of the nearest bin from 0?", rtol=0, atol=2e-3,
)  # fmt: skip
