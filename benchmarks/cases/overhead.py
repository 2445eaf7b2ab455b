"""What a repeated small call costs beside the arithmetic: one query, as in a step of decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from operator import sub
from typing import Any, NamedTuple

import torch.nn.functional as F

from benchmarks.cases.tensors import HEADS, inputs
from benchmarks.contest import Found, error
from benchmarks.peers.textbook import numpy_textbook
from benchmarks.records import Goal, Reading, row_of
from benchmarks.timing import Protocol, reading, speed, spread
from companion.attention import scaled_dot_product_attention

TITLE = "Overhead of a repeated call"
KEYS, WIDTH = 33, 32
SETTINGS: dict[str, object] = {
    "query": [1, HEADS, 1, WIDTH], "keys": KEYS, "dtype": "float32",
    "protocol": "blocks of calls, interleaved; the least of a group, the median of the groups",
}  # fmt: skip
OURS = "scaled_dot_product_attention"
GOAL, NUMPY_GOAL = Goal(15.0, side="at most"), Goal(4.0, side="at most")

Functions = Mapping[str, Callable[..., Any]]


class Blocks(NamedTuple):
    """How often: groups of interleaved blocks of calls.

    Growing keys have one block a group: a second one would meet lengths that have been seen.
    """

    groups: int = 40
    blocks: int = 25
    calls: int = 25


QUICK = Blocks(2, 2, 3)


def run(quick: bool, protocol: Protocol) -> Iterator[Found]:
    """Time our call and torch's, with the same keys and with growing ones, then NumPy's."""
    blocks = QUICK if quick else Blocks()
    query, key, value = inputs(KEYS + (blocks.groups + 1) * blocks.calls, width=WIDTH)
    same = query[..., :1, :], key[..., :KEYS, :], value[..., :KEYS, :]
    growing = [
        (same[0], key[..., :n, :], value[..., :n, :]) for n in range(KEYS, key.shape[-2] + 1)
    ]
    torchs: Functions = {OURS: scaled_dot_product_attention, "SDPA": F.scaled_dot_product_attention}
    check(torchs, same)
    shape = f"query (1, {HEADS}, 1, {WIDTH})"
    for setting, seconds in (
        (f"{shape}, {KEYS} keys", repeated(torchs, same, blocks)),
        (f"{shape}, keys grow by one a call", grown(torchs, growing, blocks)),
    ):
        yield from readings(setting, seconds)
        ours, fused = seconds.values()
        more = [1e6 * seconds for seconds in map(sub, ours, fused)]
        yield row_of(
            spread(more), setting=setting, ours=OURS, peer="SDPA", unit="µs more", goal=GOAL
        )
    arrays = tuple(tensor.numpy() for tensor in same)
    numpys: Functions = {OURS: scaled_dot_product_attention, "five lines of NumPy": numpy_textbook}
    check(numpys, arrays)
    setting = f"NumPy, {shape}, {KEYS} keys"
    seconds = repeated(numpys, arrays, blocks)
    yield from readings(setting, seconds)
    ours, plain = seconds.values()
    yield row_of(
        speed(plain, ours),
        setting=setting,
        ours=OURS,
        peer="five lines of NumPy",
        unit="times as long",
        goal=NUMPY_GOAL,
    )


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


def grown(
    functions: Functions, arrays: Sequence[Sequence[Any]], blocks: Blocks
) -> dict[str, list[float]]:
    """Return the seconds of a call, block by block: no call meets a length that was seen before."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for group in range(blocks.groups):
        block = arrays[group * blocks.calls : (group + 1) * blocks.calls]
        for name, function in functions.items():
            seconds[name].append(reading(function, block))
    return seconds


def readings(setting: str, seconds: Mapping[str, list[float]]) -> Iterator[Reading]:
    """Return the reading of everyone."""
    for name, values in seconds.items():
        yield Reading(setting, name, None, "s", values, *spread(values))
