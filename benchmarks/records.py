"""What a benchmark leaves behind: rows of the table, readings, and one file a case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.timing import Spread, spread

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Goal:
    """The bound that a number must reach, and what is hoped for beyond it."""

    must: float
    aim: float | None = None
    side: Literal["at least", "at most"] = "at least"

    def met(self, value: float, bound: float) -> bool:
        """Say whether a number lies on the right side of a bound."""
        return value >= bound if self.side == "at least" else value <= bound


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the table: what was computed, by whom of the package, and beside whom."""

    setting: str
    ours: str
    peer: str = ""
    unit: str = "x"
    value: float | None = None  # a number, or the median of several between its quartiles
    low: float | None = None
    high: float | None = None
    goal: Goal | None = None  # none where the number is only reported
    note: str = ""  # why there is no number, or what else must be known

    @property
    def verdict(self) -> str:
        """Say "yes", "aim" (better still), "no", or "-" where nothing is wanted or measured.

        >>> Row(setting="n = 8", ours="tiled", value=0.95, goal=Goal(0.9, aim=1.0)).verdict
        'yes'
        """
        if self.goal is None or self.value is None:
            return "-"
        if not self.goal.met(self.value, self.goal.must):
            return "no"
        aim = self.goal.aim
        return "aim" if aim is not None and self.goal.met(self.value, aim) else "yes"


def row_of(measured: Spread, **rest: Any) -> Row:
    """Return the row of a median and its quartiles."""
    return Row(value=measured.median, low=measured.low, high=measured.high, **rest)


@dataclass(frozen=True)
class Reading:
    """What was read of one entrant, one value a round: CPU time, or memory at the peak."""

    setting: str
    entrant: str
    length: int | None  # of the sequence
    unit: Literal["s", "MB"]
    values: Sequence[float]
    median: float
    low: float
    high: float
    error: float | None = None  # root mean square, as a part of that of the truth

    @classmethod
    def of(
        cls,
        setting: str,
        entrant: str,
        values: Sequence[float],
        length: int | None = None,
        error: float | None = None,
        *,
        unit: Literal["s", "MB"] = "s",
    ) -> Reading:
        """Return the reading of these values, with their median and quartiles."""
        return cls(setting, entrant, length, unit, values, *spread(values), error)


def medians(readings: Iterable[Reading], entrant: str, setting: str, unit: str) -> dict[int, float]:
    """Return an entrant's medians by length, of the settings that begin as said.

    Memory below what can be told apart is left out: it has no logarithm.
    """
    return {
        reading.length: reading.median
        for reading in readings
        if (reading.entrant, reading.unit) == (entrant, unit)
        and reading.setting.startswith(setting)
        and reading.length is not None
        and reading.median > 0
    }


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run of one case."""

    case: str
    title: str
    command: str
    date: str
    quick: bool
    machine: Mapping[str, Any]
    settings: Mapping[str, Any]
    rows: Sequence[Row] = ()
    readings: Sequence[Reading] = ()


def write(record: Record, directory: Path) -> Path:
    """Write a record, whole or not at all, and return its path."""
    # Brings SciPy: not for what is timed.
    from experiments.engine.record import layout, replace_file

    plain = json.loads(json.dumps(asdict(record), allow_nan=False))
    return replace_file(layout(plain) + "\n", directory / f"{record.case}.json")


def read(path: Path) -> Record:
    """Read a record.

    Raises:
        TypeError: a field is missing, or one is there that nobody knows.
    """
    plain = json.loads(path.read_text(encoding="utf-8"))
    rows = [
        Row(**{**row, "goal": None if row["goal"] is None else Goal(**row["goal"])})
        for row in plain.pop("rows")
    ]
    readings = [Reading(**reading) for reading in plain.pop("readings")]
    return Record(**plain, rows=rows, readings=readings)
