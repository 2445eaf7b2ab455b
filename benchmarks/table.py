"""One table of everything that was measured, in plain text that is also Markdown."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.cases import NAMES
from benchmarks.machine import fingerprint
from benchmarks.records import Goal, Record, Row, read

HEADER = ("what", "ours", "beside", "number", "wanted", "reached")


def read_all(directory: Path) -> list[Record]:
    """Read the records of a folder, in the order of the table."""
    paths = (directory / f"{name}.json" for name in NAMES)
    return [read(path) for path in paths if path.exists()]


def render(records: Iterable[Record]) -> str:
    """Return the table, with a paragraph below on where and how it was measured."""
    records = list(records)
    lines: list[tuple[str, ...]] = [HEADER]
    for record in records:
        lines += [(f"**{record.title}**", "", "", "", "", ""), *map(cells, record.rows)]
    return "\n".join([*_aligned(lines), "", *dict.fromkeys(map(origin, records))]) + "\n"


def cells(row: Row) -> tuple[str, ...]:
    """Return the cells of a row.

    >>> cells(Row(setting="n = 8", ours="tiled", peer="SDPA", value=0.95, goal=Goal(0.9, 1.0)))
    ('n = 8', 'tiled', 'SDPA', '0.95 x', 'at least 0.9 (aim 1)', 'yes')
    """
    number = "; ".join(filter(None, [_number(row), row.note]))
    return row.setting, row.ours, row.peer, number, _wanted(row.goal), row.verdict


def missed(records: Iterable[Record]) -> list[Row]:
    """Return the rows that fall short of what they must reach."""
    return [row for record in records for row in record.rows if row.verdict == "no"]


def origin(record: Record) -> str:
    """Say on what machine and when a record was made, and whether the code is another by now."""
    machine = record.machine
    versions = ", ".join(f"{name} {number}" for name, number in sorted(machine["versions"].items()))
    threads = f"{machine['threads']} thread{'' if machine['threads'] == 1 else 's'}"
    current = machine["code"] == fingerprint("companion", "benchmarks")
    age = "" if current else " The code has changed since."
    clock = "the card's time" if record.case == "gpu" else "CPU time"
    quick = " A quick run: the numbers mean nothing." if record.quick else ""
    return (
        f"{record.date}, {machine['processor']}, {threads}, {clock}, medians (quartiles); "
        f"{versions}; code {machine['code']}.{age}{quick}"
    )


def _number(row: Row) -> str:
    if row.value is None:
        return ""
    text = _rounded(row.value)
    if row.low is not None and row.high is not None:
        text += f" ({_rounded(row.low)} to {_rounded(row.high)})"
    return f"{text} {row.unit}".strip()


def _rounded(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}" if abs(value) >= 1 else f"{value:.2f}"


def _wanted(goal: Goal | None) -> str:
    if goal is None:
        return ""
    aim = "" if goal.aim is None else f" (aim {goal.aim:g})"
    return f"{goal.side} {goal.must:g}{aim}"


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = tuple("-" * width for width in widths)
    return [
        "| " + " | ".join(map(str.ljust, line, widths)) + " |"
        for line in (lines[0], rule, *lines[1:])
    ]
