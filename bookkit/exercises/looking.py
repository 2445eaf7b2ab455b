"""The exercises of "Looking is not seeing"."""

from typing import Any

import numpy as np

from bookkit.exercises.answers import Numbers, refuse
from bookkit.exercises.exercise import Function, Several, Value, Verdict

check_colours = Value(
    "After how many of the five other colours a network that says only combinations of training "
    "can call a green triangle a triangle.", right=4, mistakes={
        "one more of the five colours never came with a triangle in training": 5,
        "one of the six combinations has another triangle, and no more than one": (2, 3),
        "after green it cannot: but you change the word": (0, 1),
    }, otherwise="got {got:g}, wanted a number of colours from 0 to 5",
)  # fmt: skip

HEAVY = np.full((4, 4), 0.01)
HEAVY[1, 3] = 0.85  # its centre is 6 pixels down and 14 across


def _truth(got: Any) -> bool:
    if got is None or got is ... or np.ndim(got):
        refuse(got, "True or False")
    return bool(got)


check_points = Verdict(
    "`points(weights, box, size)`, from (rows, columns) weights over a square picture of `size` "
    "pixels and a box (top, left, bottom, right), whose bottom and right lie just outside, to "
    "whether the centre of the heaviest cell lies in the box.",
    suspects=[
        ((HEAVY, box, 16), inside, hint)
        for box, inside, hint in (
            ((2, 10, 11, 16), True, "the heaviest cell lies in the box, and you say it does not"),
            ((12, 4, 16, 8), False, "weights have rows first: row is down, column is across"),
            ((3, 11, 5, 13), False, "the centre of a cell counts, half a cell below and right of "
             "its corner"),
            ((1, 3, 2, 4), False, "a cell is size / rows pixels high: turn the cell's number into "
             "pixels"),
            ((2, 10, 6, 16), False, "bottom and right lie just outside the box"),
            ((2, 10, 11, 14), False, "bottom and right lie just outside the box"),
        )
    ], read=_truth, says="box {1}: {hint}",
)  # fmt: skip

check_blend = Several(
    "The two numbers of the blend of three cells.",
    green=Value("green", right=0.6, mistakes={
        "green: that is a score; the weights are its exponential, divided by the sum": 1.791759,
        "green: divide by the sum of all three exponentials": (6, 0.75),
    }, otherwise="green: got {got:g}, which is not it", rtol=0, atol=1e-3),
    pointed=Value("pointed", right=0.4, mistakes={
        "pointed: the circle counts, too, with -1 times its weight": 0.6,
        "pointed: the ground is neither pointed nor round, and adds nothing": (0.2, 0.8),
    }, otherwise="pointed: got {got:g}, which is not it", rtol=0, atol=1e-3),
)  # fmt: skip


def _folded(weights: Numbers, side: int) -> Numbers:
    return np.asarray(weights).reshape(side, side)


check_fold = Function(
    "`fold(weights, side)`, the map (side, side) of the (side * side,) weights of the cells, which "
    "come row by row.",
    right=_folded, cases=[(np.arange(9.0), 3), (np.arange(16.0) ** 2, 4)], mistakes={
        "nothing has changed: the cells come row by row, and this fills the columns first":
            lambda weights, side: _folded(weights, side).T,
        "turning the picture upside down is a different mistake":
            lambda weights, side: _folded(weights, side)[::-1],
    }, atol=1e-12,
)  # fmt: skip
