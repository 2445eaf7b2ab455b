"""What a repeated small call costs beside the arithmetic: one query, as in a step of decoding."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import truediv
from typing import Any, NamedTuple

import torch.nn.functional as F

from benchmarks.cases import Case
from benchmarks.cases.attention import HEADS, inputs
from benchmarks.contest import Result, error
from benchmarks.peers.textbook import numpy_textbook
from benchmarks.records import Goal, Reading, row_of
from benchmarks.timing import Protocol, reading, spread
from companion.attention import scaled_dot_product_attention

KEYS, WIDTH = 33, 32
GROWING_BLOCK = 8
OURS = "scaled_dot_product_attention"
GOAL, NUMPY_GOAL = Goal(2.5, aim=1.75, side="at most"), Goal(4.0, side="at most")
"""Torch's own call takes 20 µs on an old processor, and less on a new one."""

Functions = Mapping[str, Callable[..., Any]]


class Blocks(NamedTuple):
    """How often: groups of interleaved blocks of calls, and the calls of growing keys."""

    groups: int = 40
    blocks: int = 25
    calls: int = 25
    growing: int = 512


QUICK = Blocks(2, 2, 3, 2 * GROWING_BLOCK)


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time our call and torch's, with the same keys and with growing ones, then NumPy's."""
    blocks = QUICK if quick else Blocks()
    query, key, value = inputs(KEYS + blocks.growing, width=WIDTH)
    same = query[..., :1, :], key[..., :KEYS, :], value[..., :KEYS, :]
    growing = [(same[0], key[..., :n, :], value[..., :n, :]) for n in range(KEYS, key.shape[-2])]
    arrays = tuple(tensor.numpy() for tensor in same)
    ours: Functions = {OURS: scaled_dot_product_attention}
    torchs: Functions = {**ours, "SDPA": F.scaled_dot_product_attention}
    numpys: Functions = {**ours, "five lines of NumPy": numpy_textbook}
    check(torchs, same)
    check(numpys, arrays)
    shape = f"query (1, {HEADS}, 1, {WIDTH})"
    for setting, goal, seconds in (
        (f"{shape}, {KEYS} keys", GOAL, repeated(torchs, same, blocks)),
        (f"{shape}, keys grow by one a call", GOAL, grown(torchs, growing)),
        (f"NumPy, {shape}, {KEYS} keys", NUMPY_GOAL, repeated(numpys, arrays, blocks)),
    ):
        for name, values in seconds.items():
            yield Reading.of(setting, name, values)
        peer, theirs = list(seconds.items())[1]
        ratio = spread(list(map(truediv, seconds[OURS], theirs)))
        yield row_of(ratio, setting=setting, ours=OURS, peer=peer, unit="times as long", goal=goal)


def check(functions: Functions, arrays: Sequence[Any]) -> None:
    """Compare what both return.

    Raises:
        AssertionError: they differ.
    """
    ours, theirs = (function(*arrays) for function in functions.values())
    assert error((ours,), (theirs,)) < 1e-5, f"{', '.join(functions)}: got different values"


def repeated(functions: Functions, arrays: Sequence[Any], blocks: Blocks) -> dict[str, list[float]]:
    """Return the seconds of a call: of every group the least of its blocks."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(blocks.groups):
        group: dict[str, list[float]] = {name: [] for name in functions}
        for _ in range(blocks.blocks):
            for name, function in functions.items():
                group[name].append(reading(function, repeat(arrays, blocks.calls)))
        for name, values in group.items():
            seconds[name].append(min(values))
    return seconds


def grown(functions: Functions, arrays: Sequence[Sequence[Any]]) -> dict[str, list[float]]:
    """Return the seconds of a call, block by block: no call meets a length that was seen before.

    Who calls first fetches the keys from memory, so they call first alternately.
    """
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    order = list(functions)
    for start in range(0, len(arrays), GROWING_BLOCK):
        for name in order:
            block = arrays[start : start + GROWING_BLOCK]
            seconds[name].append(reading(functions[name], block))
        order.reverse()
    return seconds


SETTINGS: dict[str, object] = {
    "query": [1, HEADS, 1, WIDTH], "keys": KEYS, "dtype": "float32",
    "protocol": "blocks of calls, interleaved; the least of a group, the median of the groups; "
    "growing keys: blocks of 8 calls, no length twice, the median of the blocks",
}  # fmt: skip
CASES = {"overhead": Case("Overhead of a repeated call", SETTINGS, run)}
