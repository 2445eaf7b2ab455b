"""What a benchmark leaves behind: rows of the table, readings, and one file a case."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.timing import Spread

RESULTS = Path(__file__).parent / "results"

Side = Literal["at least", "at most"]


@dataclass(frozen=True)
class Goal:
    """What a number must reach, and what it should.

    Attributes:
        must: the bound.
        aim: what is hoped for; None where that is the bound itself.
        side: on which side of the bound the number must lie.
    """

    must: float
    aim: float | None = None
    side: Side = "at least"

    def met(self, value: float, bound: float) -> bool:
        """Say whether a number lies on the right side of a bound."""
        return value >= bound if self.side == "at least" else value <= bound


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the table.

    Attributes:
        setting: what was computed.
        ours: who of the package.
        peer: beside whom; "" where there is nobody.
        unit: of the value.
        value: the number, the median of several; None where there is none.
        low: its lower quartile; None where the number is not the median of several.
        high: its upper quartile.
        goal: what it must reach; None where it is only reported.
        note: why there is no number, or what else must be known.
    """

    setting: str
    ours: str
    peer: str = ""
    unit: str = "x"
    value: float | None = None
    low: float | None = None
    high: float | None = None
    goal: Goal | None = None
    note: str = ""

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
    """What was read of one entrant.

    Attributes:
        setting: what was computed.
        entrant: who computed it.
        length: the sequence's length n; None where there is none.
        unit: "s" of CPU time, "MB" of memory at the peak.
        values: one a round.
        median: of the values.
        low: their lower quartile.
        high: their upper quartile.
        error: root mean square of its error, as a part of that of the truth; None for memory.
    """

    setting: str
    entrant: str
    length: int | None
    unit: Literal["s", "MB"]
    values: Sequence[float]
    median: float
    low: float
    high: float
    error: float | None = None


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
    rows: Sequence[Row] = field(default_factory=tuple)
    readings: Sequence[Reading] = field(default_factory=tuple)

    def medians(self, entrant: str, setting: str, unit: str) -> dict[int, float]:
        """Return an entrant's medians above 0 by length, of the settings that begin as said."""
        return {
            reading.length: reading.median
            for reading in self.readings
            if (reading.entrant, reading.unit) == (entrant, unit)
            and reading.length is not None
            and reading.median > 0
            and reading.setting.startswith(setting)
        }


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
