"""Run one case in this process and write its record as it grows."""

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path

from benchmarks.cases import load
from benchmarks.machine import stamp
from benchmarks.records import Reading, Record, Row, write
from benchmarks.timing import QUICK, Protocol

THREADS = 1


def run_case(name: str, *, quick: bool) -> Iterator[Record]:
    """Run a case, and yield its record each time that it has one more row or reading.

    A quick run is about whether everything runs: its rows have no goals.

    Raises:
        AssertionError: values of ours that are wrong.
    """
    import torch

    torch.set_num_threads(THREADS)
    case = load(name)
    protocol = QUICK if quick else Protocol()
    rows: list[Row] = []
    readings: list[Reading] = []
    record = Record(
        case=name,
        title=case.title,
        command=f"python -m benchmarks {name}{' --quick' if quick else ''}",
        date=date.today().isoformat(),
        quick=quick,
        machine=stamp(THREADS),
        settings={**case.settings, "protocol": asdict(protocol)},
    )
    for result in case.run(quick, protocol):
        if isinstance(result, Reading):
            readings.append(result)
        else:
            rows.append(replace(result, goal=None) if quick else result)
        yield replace(record, rows=tuple(rows), readings=tuple(readings))


if __name__ == "__main__":
    name, results, *quick = sys.argv[1:]
    for record in run_case(name, quick=bool(quick)):
        write(record, Path(results))
