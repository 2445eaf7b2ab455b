"""Attention on a GPU in bfloat16: by length, and a step of decoding beside what the card can do."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.cases import Case
from benchmarks.contest import Result, error, growth
from benchmarks.records import Reading, Row, row_of
from benchmarks.timing import Protocol, speed, spread
from companion.attention import scaled_dot_product_attention
from companion.cost.timing import Call
from companion.dispatch import definitions
from companion.tiled import tiled_attention

HEADS, KV_HEADS, WIDTH = 32, 8, 128
LENGTHS, QUICK_LENGTHS = (1024, 4096, 16384, 65536), (64,)
CACHE, BATCHES = 8192, (1, 8, 64)
SQUARE = 8192
"""Rows of the matrices whose product tells what the card computes in a second."""
ALLOWED = 0.01
"""Part of the truth by which bfloat16 may be off, with its 8 bits."""
GIB, MIB = 2**30, 2**20


def run(quick: bool, protocol: Protocol) -> Iterator[Result]:
    """Time everyone with the clock of the card, round by round, and read its memory at the peak."""
    if not torch.cuda.is_available():
        raise RuntimeError("gpu: torch finds no CUDA device")
    card = torch.cuda.get_device_properties(0)
    about = f"{card.name}, {card.total_memory / GIB:.0f} GiB, CUDA {torch.version.cuda}"
    yield Row(setting="the card, whose own clock is read", ours="", note=about)
    readings: list[Result] = []
    for n in QUICK_LENGTHS if quick else LENGTHS:
        for result in by_length(n, protocol.least):
            readings.append(result)
            yield result
    for name in ("ours", "tiled", "definition"):
        yield from growth(readings, name, "causal", "s", None)
    yield from decoding(QUICK_LENGTHS[0] if quick else CACHE, protocol.least)


@torch.no_grad()
def by_length(n: int, rounds: int) -> Iterator[Result]:
    """Attend from n tokens to n, and compare with the definition and with torch's own call."""
    query, key, value = (_draw(1, HEADS, n, WIDTH, seed=seed) for seed in range(3))
    calls: dict[str, Callable[[], Tensor]] = {
        name: partial(function, query, key, value, is_causal=True)
        for name, function in FUNCTIONS.items()
    }
    seen = slice(-64, None)
    places = torch.arange(n, device="cuda")
    last = [part[:, -1:].double() for part in (query[:, :, seen], key, value)]
    truth = F.scaled_dot_product_attention(last[0], last[1], last[2], places <= places[seen, None])
    setting = f"causal, n = {n}"
    errors, peaks = {}, {}
    for name, call in list(calls.items()):
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        try:
            output = call()
        except torch.OutOfMemoryError:
            note = "the card's memory is too small"
            yield Row(setting=setting, ours="ours", peer=name, note=note)
            del calls[name]
            continue
        peaks[name] = (torch.cuda.max_memory_allocated() - before) / MIB
        errors[name] = error((output[:, -1:, seen].cpu(),), (truth.cpu(),))
        assert errors[name] < ALLOWED, f"{setting}: {name} is off by {errors[name]:.2e}"
        del output
    seconds = interleaved(calls, rounds)
    for name, values in seconds.items():
        yield Reading.of(setting, name, values, n, errors[name])
        yield Reading.of(setting, name, [peaks[name]], n, unit="MB")
        if name != "ours":
            note = f"{peaks['ours']:.0f} MB more at the peak, {name} {peaks[name]:.0f} MB"
            ratio = speed(seconds["ours"], values)
            yield row_of(ratio, setting=setting, ours="ours", peer=name, note=note)


@torch.no_grad()
def decoding(n: int, rounds: int) -> Iterator[Result]:
    """Attend from one token to a cache, and say how fast the cache is read."""
    block, matrix = _draw(GIB // 2), _draw(SQUARE, SQUARE)
    copied = torch.empty_like(block)
    product = partial(torch.matmul, matrix, matrix)
    limits = interleaved({"copy": partial(copied.copy_, block), "product": product}, rounds)
    rates = {"copy": 4 * block.numel(), "product": 2 * SQUARE**3}
    for name, what in (("copy", "read and write, TB"), ("product", "bfloat16, TFLOP")):
        rate = spread([rates[name] / 1e12 / one for one in limits[name]])
        yield row_of(rate, setting=f"a {name}", ours="torch", unit=f"{what} a second")
    del block, copied, matrix
    for batch in BATCHES:
        query = _draw(batch, HEADS, 1, WIDTH)
        key, value = (_draw(batch, KV_HEADS, n, WIDTH, seed=seed) for seed in (1, 2))
        call = partial(scaled_dot_product_attention, query, key, value, enable_gqa=True)
        values = interleaved({"ours": call}, rounds)["ours"]
        setting = f"one token, {batch} texts of {n}"
        yield Reading.of(setting, "ours", values, n)
        rate = spread([2 * key.numel() * key.itemsize / 1e12 / one for one in values])
        yield row_of(rate, setting=setting, ours="ours", unit="TB of keys and values a second")


def interleaved(calls: Mapping[str, Call], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of every call by the card's clock, one after the other in every round."""
    repeats = {name: 1 if _seconds(call, 2) > 0.02 else 10 for name, call in calls.items()}
    readings = [
        {name: _seconds(call, repeats[name]) for name, call in calls.items()} for _ in range(rounds)
    ]
    return {name: [one[name] for one in readings] for name in calls}


def _seconds(call: Call, repeats: int) -> float:
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    first.record()
    for _ in range(repeats):
        call()
    last.record()
    torch.cuda.synchronize()
    return float(first.elapsed_time(last)) / 1e3 / repeats


def defined(query: Tensor, key: Tensor, value: Tensor, *, is_causal: bool) -> Tensor:
    """Attend with a matrix of all weights."""
    with definitions():
        return scaled_dot_product_attention(query, key, value, is_causal=is_causal)


FUNCTIONS: Mapping[str, Callable[..., Tensor]] = {
    "ours": scaled_dot_product_attention,
    "SDPA": F.scaled_dot_product_attention,
    "tiled": tiled_attention,
    "definition": defined,
}


def _draw(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(*shape, generator=generator, device="cuda", dtype=torch.bfloat16)


SETTINGS = {
    "heads": HEADS, "key heads when decoding": KV_HEADS, "width": WIDTH, "dtype": "bfloat16",
}  # fmt: skip
CASES = {"gpu": Case("On a GPU", SETTINGS, run)}
