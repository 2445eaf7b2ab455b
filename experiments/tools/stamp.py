"""Note in a page when and with what it ran: `python -m experiments.tools.stamp PAGE...`.

The note is a page's own, in its metadata, so that it can be shown wherever the page goes. A new run
overwrites it; nothing compares it.
"""

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any

from experiments.engine.record import processor, versions
from experiments.tools.fold import write

NAMESPACE, KEY = "am", "run"


def current_run() -> dict[str, Any]:
    """Return what there is to say of a run that ends now, in this environment.

    >>> sorted(current_run())
    ['date', 'processor', 'versions']
    """
    return {"date": date.today().isoformat(), "processor": processor(), "versions": versions()}


def stamp(path: Path, run: dict[str, Any]) -> None:
    """Write a run into the metadata of a notebook, and leave every other character as it is."""
    page = json.loads(path.read_text(encoding="utf-8"))
    page["metadata"].setdefault(NAMESPACE, {})[KEY] = run
    write(page, path)


def main() -> None:
    """Stamp the pages that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m experiments.tools.stamp", description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, help="notebooks that have just been run")
    for path in parser.parse_args().pages:
        stamp(path, current_run())


if __name__ == "__main__":
    main()
