"""`python -m book_check`: run Lighthouse on the lessons and the heaviest pages, keep its answers.

`make lighthouse` runs it. The score moves with the load of the machine; the bytes and the shift of
the layout do not, and the tests of the book bound those for every page.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from book_check.browser import MISSING, find_browser
from book_check.host import serve
from experiments.engine.record import processor

RECORD = Path(__file__).with_name("lighthouse.json")
RUNS = 3
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"

_CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
_TIMES = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m book_check", description=__doc__)
    parser.add_argument("program", type=Path, help="the folder in which npm installed lighthouse")
    parser.add_argument("site", type=Path, help="the built book, as _build/html")
    parser.add_argument("pages", nargs="*", help="as history/align.html; all by default")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        parser.error(MISSING)
    known = measured(options.site)
    pages: dict[str, Any] = {}
    if options.pages:
        stored = json.loads(RECORD.read_text(encoding="utf-8"))["pages"]
        pages = {page: stored[page] for page in known if page in stored}
    today = datetime.now(UTC).date().isoformat()
    last: dict[str, Any] = {}
    with serve(options.site) as address:
        for page in options.pages or known:
            reports = [run(options.program, browser, address + page) for _ in range(RUNS)]
            runs, last = [summarize(report) for report in reports], reports[-1]
            median = {name: statistics.median(one[name] for one in runs) for name in runs[0]}
            lacks = missing(last)
            pages[page] = {"date": today, "median": median, "runs": runs, "missing": lacks}
            print(page, json.dumps(median), *lacks, flush=True)
    versions = {
        "lighthouse": last["lighthouseVersion"],
        "browser": last["environment"]["hostUserAgent"].partition("Chrome/")[2].split()[0],
    }
    machine = {"processor": processor(), "cores": os.cpu_count(), "system": platform.system()}
    record = {"command": "make lighthouse", "date": today, "machine": machine}
    text = json.dumps(record | {"versions": versions, "pages": pages}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")
    return 0


def measured(site: Path) -> list[str]:
    """Return the pages to measure: the start, the heaviest ones, and every lesson.

    The heaviest are the page of mathematics with most formulas and the largest notebook.
    """

    def formulas(page: Path) -> int:
        return page.read_text(encoding="utf-8").count("<math")

    sources = {
        site / path.relative_to(site / "_sources").with_suffix(".html"): path
        for path in sorted((site / "_sources").rglob("*.ipynb"))
    }
    pages = [
        site / "start/start.html",
        max(site.glob("mathematics/*.html"), key=formulas),
        max(sources, key=lambda page: page.stat().st_size),
    ]
    for page, source in sources.items():
        if "lesson" in json.loads(source.read_text(encoding="utf-8"))["metadata"]:
            pages.append(page)
    return [page.relative_to(site).as_posix() for page in dict.fromkeys(pages)]


def summarize(report: dict[str, Any]) -> dict[str, float]:
    """Return what counts of a report of Lighthouse: scores, milliseconds, KiB, requests.

    Figures are the pictures in `_images`; everything else is what a reader waits for.
    """
    audits = report["audits"]
    requests = audits["network-requests"]["details"]["items"]
    figures = sum(one["transferSize"] for one in requests if "/_images/" in one["url"])
    total = sum(one["transferSize"] for one in requests)
    scores = {name: round(100 * report["categories"][name]["score"]) for name in _CATEGORIES}
    times = {name: round(audits[name]["numericValue"]) for name in _TIMES}
    return {
        **scores,
        **times,
        "layout-shift": round(audits["cumulative-layout-shift"]["numericValue"], 4),
        "KiB": round(total / 1024, 1),
        "KiB without figures": round((total - figures) / 1024, 1),
        "requests": len(requests),
        "machine index": report["environment"]["benchmarkIndex"],
    }


def missing(report: dict[str, Any]) -> list[str]:
    """Return the checks of access, practice and findability that a page does not pass in full."""
    names = {
        part["id"]
        for category in _CATEGORIES[1:]
        for part in report["categories"][category]["auditRefs"]
        if part["weight"]
    }
    scores = {name: report["audits"][name]["score"] for name in names}
    return sorted(name for name, score in scores.items() if score is not None and score < 1)


def run(program: Path, browser: str, address: str) -> dict[str, Any]:
    """Run Lighthouse as on a slow phone; return its report."""
    with TemporaryDirectory() as folder:
        target = Path(folder, "report.json")
        command = ["node", str(program / "node_modules/lighthouse/cli/index.js"), address]
        command += ["--quiet", "--output=json", f"--output-path={target}"]
        command += [f"--chrome-flags={FLAGS}"]
        environment = os.environ | {"CHROME_PATH": browser}
        subprocess.run(command, env=environment, check=True, timeout=600)
        report: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return report


if __name__ == "__main__":
    sys.exit(main())
