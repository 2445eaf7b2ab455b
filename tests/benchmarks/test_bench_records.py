"""Verdicts, the table, the figure, and the files that results are kept in."""

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import table
from benchmarks.cases import NAMES
from benchmarks.figure import MEMORY, TIME, draw
from benchmarks.machine import fingerprint, stamp
from benchmarks.records import RESULTS, Goal, Reading, Record, Row, read, write

pytestmark = pytest.mark.slow

ROWS = (
    Row(setting="full, n = 8", ours="tiled", peer="SDPA", value=0.9512, low=0.93, high=0.97,
        goal=Goal(0.9, aim=1.0)),
    Row(setting="full, n = 8", ours="tiled", peer="x-transformers", note="not installed"),
    Row(setting="exponent", ours="tiled", unit="", value=2.1, goal=Goal(2.05, side="at most")),
    Row(setting="memory", ours="tiled", peer="SDPA", unit="MB more", value=-3.0,
        goal=Goal(4.0, side="at most"), note="tiled 1 MB"),
)  # fmt: skip
READING = Reading("full, n = 8", "tiled", 8, "s", [0.1, 0.2, 0.4], 0.2, 0.15, 0.3, 1e-7)


def sample(**changes: object) -> Record:
    record = Record(
        case="forward", title="Attention forward", command="python -m benchmarks forward",
        date="2026-01-02", quick=False, machine=stamp(1), settings={"heads": 8}, rows=ROWS,
        readings=(READING,),
    )  # fmt: skip
    return replace(record, **changes)  # type: ignore[arg-type]


def test_verdicts() -> None:
    rows: list[tuple[float | None, Goal | None, str]] = [
        (0.89, Goal(0.9, aim=1.0), "no"),
        (0.90, Goal(0.9, aim=1.0), "yes"),
        (1.00, Goal(0.9, aim=1.0), "aim"),
        (2.30, Goal(2.3), "yes"),
        (2.05, Goal(2.05, side="at most"), "yes"),
        (2.06, Goal(2.05, side="at most"), "no"),
        (0.8, Goal(0.9, aim=0.85, side="at most"), "aim"),
        (None, Goal(0.9), "-"),
        (0.1, None, "-"),
    ]
    for value, goal, verdict in rows:
        assert Row(setting="", ours="tiled", value=value, goal=goal).verdict == verdict


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    path = write(sample(), tmp_path)
    assert path == tmp_path / "forward.json"
    again = read(path)
    assert tuple(again.rows) == ROWS
    assert again.readings[0] == READING
    assert replace(again, rows=(), readings=()) == sample(rows=(), readings=())
    assert platform.node() not in path.read_text(encoding="utf-8")


def test_the_table_says_what_was_reached_and_what_was_not(tmp_path: Path) -> None:
    write(sample(), tmp_path)
    records = table.read_all(tmp_path)
    lines = table.render(records).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:7]]
    assert cells[0] == list(table.HEADER)
    assert cells[3][3:] == ["0.95 (0.93 to 0.97) x", "at least 0.9 (aim 1)", "yes"]
    assert cells[4][2:] == ["x-transformers", "not installed", "", "-"]
    assert cells[5][3:] == ["2.1", "at most 2.05", "no"]
    assert cells[6][3:] == ["-3 MB more; tiled 1 MB", "at most 4", "yes"]
    assert len({len(line) for line in lines[:7]}) == 1
    assert [row.setting for row in table.missed(records)] == ["exponent"]


def test_the_table_says_where_it_comes_from() -> None:
    now = sample()
    assert now.machine["code"] == fingerprint("companion", "benchmarks") != fingerprint("companion")
    old, quick = sample(machine={**now.machine, "code": "another"}), sample(quick=True)
    for record, warning in ((now, ""), (old, "has changed since."), (quick, "mean nothing.")):
        said = table.origin(record)
        assert "1 thread," in said
        assert ["has changed" in said, "mean nothing" in said] == [record is old, record is quick]
        assert said.endswith(warning)


def test_what_is_recorded_can_be_read() -> None:
    for record in table.read_all(RESULTS):
        assert record.case in NAMES
        assert not record.quick
        assert record.machine["threads"] == 1
        assert all(reading.values for reading in record.readings)


def test_the_figure_is_drawn_the_same_each_time_and_not_of_half_the_cases(tmp_path: Path) -> None:
    powers = {"textbook": 2.4, "SDPA": 2.0, "tiled": 2.0, "window": 1.0}
    readings = {
        case: [
            Reading(f"{one.setting} n = {n}", one.entrant, n, "MB" if case == "memory" else "s",
                    [1.0], 1e-8 * n ** powers[one.entrant], 0.0, 0.0)
            for one in curves if one.case == case for n in (1024, 4096, 16384)
        ]
        for case, curves in (("forward", TIME), ("window", TIME), ("memory", MEMORY))
    }  # fmt: skip
    records = [sample(case=case, readings=values) for case, values in readings.items()]
    assert draw(records[:2], tmp_path) is None
    assert list(tmp_path.iterdir()) == []
    path = draw(records, tmp_path)
    assert path == tmp_path / "scaling.svg"
    first = path.read_bytes()
    draw(records, tmp_path)
    assert path.read_bytes() == first
    assert b"<svg" in first
