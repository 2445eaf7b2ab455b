"""The scaling figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figure import draw
from benchmarks.machine import stamp
from benchmarks.records import Reading, Record

pytestmark = pytest.mark.slow

LENGTHS = (1024, 4096, 16384)
POWERS = {"textbook": 2.4, "SDPA": 2.0, "tiled": 2.0, "window": 1.0}


def record(case: str, unit: str, names: tuple[str, ...], setting: str) -> Record:
    readings = [
        Reading(f"{setting} n = {n}", name, n, "s" if unit == "s" else "MB", [1.0],
                1e-8 * n ** POWERS[name], 0.0, 0.0)
        for name in names
        for n in LENGTHS
    ]  # fmt: skip
    return Record(
        case=case, title=case, command="", date="2026-01-02", quick=False, machine=stamp(1),
        settings={}, readings=readings,
    )  # fmt: skip


def records() -> list[Record]:
    return [
        record("forward", "s", ("textbook", "SDPA", "tiled"), "full,"),
        record("window", "s", ("window",), "window 256,"),
        record("memory", "MB", ("textbook", "SDPA", "tiled", "window"), "forward,"),
    ]


def test_the_figure_is_drawn_the_same_each_time(tmp_path: Path) -> None:
    path = draw(records(), tmp_path)
    assert path == tmp_path / "scaling.svg"
    first = path.read_bytes()
    draw(records(), tmp_path)
    assert path.read_bytes() == first
    assert b"<svg" in first


def test_there_is_no_figure_of_half_the_cases(tmp_path: Path) -> None:
    assert draw(records()[:2], tmp_path) is None
    assert list(tmp_path.iterdir()) == []
