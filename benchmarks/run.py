"""Run one case in this process and write its record as it grows."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import date
from importlib import import_module
from pathlib import Path

from benchmarks.cases import NAMES
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
    module = import_module(f"benchmarks.cases.{name}")
    protocol = QUICK if quick else Protocol()
    rows: list[Row] = []
    readings: list[Reading] = []
    record = Record(
        case=name,
        title=module.TITLE,
        command=f"python -m benchmarks {name}{' --quick' if quick else ''}",
        date=date.today().isoformat(),
        quick=quick,
        machine=stamp(THREADS),
        settings={**module.SETTINGS, "protocol": asdict(protocol)},
    )
    for result in module.run(quick, protocol):
        if isinstance(result, Reading):
            readings.append(result)
        else:
            rows.append(replace(result, goal=None) if quick else result)
        yield replace(record, rows=tuple(rows), readings=tuple(readings))


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=NAMES)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", type=Path, required=True)
    options = parser.parse_args()
    for record in run_case(options.case, quick=options.quick):
        write(record, options.results)


if __name__ == "__main__":
    main()
