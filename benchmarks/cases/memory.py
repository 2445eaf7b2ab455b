"""What attention adds to a process's memory, at the peak, forward and with its gradients."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.cases import Case
from benchmarks.cases.attention import SHAPE, both_ways, inputs, matrix_bytes
from benchmarks.contest import Result, growth, lacking
from benchmarks.memory import MEGABYTE, extra_bytes
from benchmarks.peers.textbook import textbook
from benchmarks.records import Goal, Reading, Row
from benchmarks.timing import Protocol
from companion.cost.timing import Call
from companion.tiled import tiled_attention, window_attention

QUICK_LENGTHS = (256,)
ROUNDS = {1024: 3, 2048: 3, 4096: 2, 8192: 1, 16384: 1}
"""By length: long calls take half a minute, and what they add is far above the noise."""
WARM_UP = 64
MATRICES = {"forward": 2.2, "forward and backward": 4.0}
GOALS = {"forward": Goal(4.0, side="at most"), "forward and backward": Goal(1.1, side="at most")}
GROWTH = Goal(1.05, side="at most")
FUNCTIONS: Mapping[str, Callable[..., Tensor]] = {
    "tiled": tiled_attention,
    "SDPA": F.scaled_dot_product_attention,
    "textbook": textbook,
    "window": partial(window_attention, left=256),
}


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Measure everyone in processes of their own, and compare with the fused attention."""
    results: list[Reading] = []
    for passes in list(GOALS)[: 1 if quick else None]:
        for n in QUICK_LENGTHS if quick else ROUNDS:
            peaks: dict[str, float] = {}
            for name in list(FUNCTIONS)[: 2 if quick else None]:
                one = read(passes, n, name, ROUNDS.get(n, 1))
                if isinstance(one, Reading):
                    results.append(one)
                    peaks[name] = one.median
                yield one
            yield from compare(passes, n, peaks)
        for name in FUNCTIONS:
            goal = GROWTH if name == "tiled" else None
            yield from growth(results, name, f"{passes},", "MB", goal)


def read(passes: str, n: int, name: str, rounds: int) -> Result:
    """Measure one of them, or say why not."""
    said, setting = f"{passes}, n = {n}", {"passes": passes, "n": n, "name": name}
    too_little = lacking(matrix_bytes(n, MATRICES[passes])) if name == "textbook" else ""
    try:
        if too_little:
            raise MemoryError(too_little)
        peaks = [extra_bytes("benchmarks.cases.memory:calls", setting) for _ in range(rounds)]
    except MemoryError as problem:
        return Row(setting=said, ours=name, unit="MB", note=str(problem))
    return Reading.of(said, name, [peak / MEGABYTE for peak in peaks], n, unit="MB")


def compare(passes: str, n: int, peaks: Mapping[str, float]) -> Iterator[Row]:
    """Forward, count what is more than the fused one's; with gradients, what part of it."""
    if not {"tiled", "SDPA"} <= peaks.keys():
        return  # the rows before say why
    ours, fused = peaks["tiled"], peaks["SDPA"]
    forward = passes == "forward"
    yield Row(
        setting=f"{passes}, n = {n}",
        ours="tiled",
        peer="SDPA",
        unit="MB more" if forward else "of its memory",
        value=ours - fused if forward else ours / fused,
        goal=GOALS[passes],
        note=", ".join(f"{name} {peak:.0f} MB" for name, peak in peaks.items()),
    )


def calls(passes: str, n: int, name: str) -> list[Call]:
    """Return a small call and the call itself, for `extra_bytes`."""
    torch.set_num_threads(1)
    return [_call(passes, length, FUNCTIONS[name]) for length in (WARM_UP, n)]


def _call(passes: str, n: int, function: Callable[..., Tensor]) -> Call:
    *arrays, gradient = inputs(n, count=4)
    if passes == "forward":
        return partial(torch.no_grad()(function), *arrays)
    return partial(both_ways, function, [array.requires_grad_() for array in arrays], gradient)


UNIT = "MB at the peak, on top of the same process without the call"
CASES = {"memory": Case("Memory", SHAPE | {"unit": UNIT}, run)}
