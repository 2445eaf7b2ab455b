"""Measure speed and memory beside others', each case in a fresh process with one thread."""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.cases import NAMES, ON_REQUEST
from benchmarks.machine import ONE_THREAD, ROOT
from benchmarks.records import RESULTS
from benchmarks.table import missed, read_all, render


def main() -> int:
    """Run the cases, print the table, and draw the figure where its cases have been run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    usual = [name for name in NAMES if name not in ON_REQUEST]
    said = f"of {', '.join(NAMES)}; all but {', '.join(ON_REQUEST)}"
    parser.add_argument("cases", nargs="*", metavar="CASE", help=said)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, nothing is kept")
    parser.add_argument("--table", action="store_true", help="run nothing, show what was recorded")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(NAMES):
        parser.error(f"CASE: got {', '.join(sorted(unknown))}, wanted any of {', '.join(NAMES)}")
    cases = [] if options.table else options.cases or usual
    with tempfile.TemporaryDirectory() as nowhere:
        results = Path(nowhere) if options.quick else RESULTS
        failed = [name for name in cases if not run(name, results, options.quick)]
        return report(results, failed, keep=not options.quick)


def run(name: str, results: Path, quick: bool) -> bool:
    """Run one case; say whether it ended as it should."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.run", name, str(results), *["--quick"] * quick]
    return subprocess.call(command, env=os.environ | ONE_THREAD, cwd=ROOT) == 0


def report(results: Path, failed: list[str], *, keep: bool) -> int:
    """Print the table, with what falls short; return the status of the process."""
    records = read_all(results)
    table = render(records)
    print(table)
    for row in missed(records):
        print(f"falls short: {row.setting}, {row.ours} beside {row.peer or 'nobody'}")
    for name in failed:
        print(f"did not end: {name}; what it had measured stands above")
    if keep and records:
        from benchmarks.figure import draw

        (results / "table.md").write_text(table, encoding="utf-8")
        draw(records, results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
