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
from experiments.record import processor

RECORD = Path(__file__).with_name("lighthouse.json")
RUNS = 3


def main() -> int:
    """Measure the pages, print the medians, and record them."""
    parser = argparse.ArgumentParser(prog="python -m book_check", description=__doc__)
    parser.add_argument("program", type=Path, help="the folder in which npm installed lighthouse")
    parser.add_argument("site", type=Path, help="the built book, as _build/html")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file to write")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        parser.error(f"none of {', '.join(BROWSERS)} is installed")
    pages: dict[str, Any] = {}
    last: dict[str, Any] = {}
    with serve(options.site) as address:
        for page in dict.fromkeys([*heaviest(options.site), *lessons(options.site)]):
            reports = [run(options.program, browser, address + page) for _ in range(RUNS)]
            runs = [summarize(report) for report in reports]
            last = reports[-1]
            pages[page] = {"median": middle(runs), "runs": runs, "missing": missing(last)}
            print(page, json.dumps(pages[page]["median"]), *pages[page]["missing"], flush=True)
    record = {
        "command": "make lighthouse",
        "date": datetime.now(UTC).date().isoformat(),
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
