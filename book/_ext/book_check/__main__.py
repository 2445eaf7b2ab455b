"""`python -m book_check`: run Lighthouse on the lessons and the heaviest pages, keep its answers.

`make lighthouse` runs it. The score moves with the load of the machine; the bytes and the shift of
the layout do not, and the tests of the book bound those for every page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from book_check.browser import BROWSERS, find_browser
from book_check.host import serve
from book_check.lighthouse import heaviest, lessons, middle, missing, run, summarize
from experiments.engine.record import processor

RECORD = Path(__file__).with_name("lighthouse.json")
RUNS = 3


def main() -> int:
    """Measure the pages, print the medians, and record them."""
    parser = argparse.ArgumentParser(prog="python -m book_check", description=__doc__)
    parser.add_argument("program", type=Path, help="the folder in which npm installed lighthouse")
    parser.add_argument("site", type=Path, help="the built book, as _build/html")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file to write")
    parser.add_argument(
        "--pages", nargs="+", help="measure these alone, and keep what is recorded of the others"
    )
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        parser.error(f"none of {', '.join(BROWSERS)} is installed")
    chosen = options.pages or dict.fromkeys([*heaviest(options.site), *lessons(options.site)])
    kept = json.loads(options.record.read_text("utf-8"))["pages"] if options.pages else {}
    pages: dict[str, Any] = dict(kept)
    last: dict[str, Any] = {}
    today = datetime.now(UTC).date().isoformat()
    with serve(options.site) as address:
        for page in chosen:
            reports = [run(options.program, browser, address + page) for _ in range(RUNS)]
            runs = [summarize(report) for report in reports]
            last = reports[-1]
            found = {"date": today, "median": middle(runs), "runs": runs, "missing": missing(last)}
            pages[page] = found
            print(page, json.dumps(pages[page]["median"]), *pages[page]["missing"], flush=True)
    record = {
        "command": "make lighthouse",
        "date": today,
        "machine": {
            "processor": processor(),
            "cores": os.cpu_count(),
            "system": platform.system(),
        },
        "versions": {
            "lighthouse": last["lighthouseVersion"],
            "browser": last["environment"]["hostUserAgent"].partition("Chrome/")[2].split()[0],
        },
        "pages": pages,
    }
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
