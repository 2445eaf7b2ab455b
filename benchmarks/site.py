"""Lighthouse on the built book: what a phone loads of the heaviest pages, and how long it waits.

`make lighthouse` runs it. Its score moves with the load of the machine; the bytes and the shift of
the layout do not, and the tests of the book bound those for every page.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.machine import ROOT, stamp

SITE = ROOT / "_build" / "html"
RECORD = ROOT / "benchmarks" / "results" / "site.json"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
RUNS = 3
FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"

_CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
_TIMES = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")
_PACKED = (".html", ".css", ".js", ".svg", ".json", ".txt", ".xml")


@lru_cache(maxsize=512)
def _packed(path: str, changed: float) -> bytes:
    return gzip.compress(Path(path).read_bytes(), 6, mtime=0)


class StaticHost(SimpleHTTPRequestHandler):
    """Serves files as a static host does: text compressed, and to be kept for ten minutes."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer with a file, compressed where that helps and is understood."""
        path = Path(self.translate_path(self.path))
        accepted = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepted and path.is_file() and path.suffix in _PACKED):
            super().do_GET()
            return
        body = _packed(str(path), path.stat().st_mtime)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        """Serve until the browser has had enough."""
        with suppress(ConnectionError):
            super().handle()

    def end_headers(self) -> None:
        """Add for how long a browser may keep what it gets."""
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def guess_type(self, path: str | os.PathLike[str]) -> str:
        """Name the encoding of text, as hosts do."""
        kind = super().guess_type(path)
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine while the context lasts; yield its address."""
    handler = partial(StaticHost, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}/"
        listening.shutdown()


def find_browser() -> str | None:
    """Return the Chromium of this machine, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def heaviest(site: Path) -> list[str]:
    """Return the pages to measure: the start, most formulas in mathematics, largest notebook.

    Args:
        site: the folder of the built book.
    """
    mathematics = max(site.glob("mathematics/*.html"), key=_formulas)
    notebooks = [
        site / path.relative_to(site / "_sources").with_suffix(".html")
        for path in (site / "_sources").rglob("*.ipynb")
    ]
    largest = max(notebooks, key=lambda page: page.stat().st_size)
    pages = [site / "start/start.html", mathematics, largest]
    return [page.relative_to(site).as_posix() for page in dict.fromkeys(pages)]


def _formulas(page: Path) -> int:
    return page.read_text(encoding="utf-8").count("<math")


def summarize(report: dict[str, Any]) -> dict[str, float]:
    """Return what counts of a report of Lighthouse: scores, milliseconds, KiB, requests.

    Figures are the pictures in `_images`; everything else is what a reader waits for.
    """
    audits = report["audits"]
    requests = audits["network-requests"]["details"]["items"]
    figures = sum(one["transferSize"] for one in requests if "/_images/" in one["url"])
    scores = {name: round(100 * report["categories"][name]["score"]) for name in _CATEGORIES}
    times = {name: round(audits[name]["numericValue"]) for name in _TIMES}
    total = sum(one["transferSize"] for one in requests)
    return (
        scores
        | times
        | {
            "layout-shift": round(audits["cumulative-layout-shift"]["numericValue"], 4),
            "KiB": round(total / 1024, 1),
            "KiB without figures": round((total - figures) / 1024, 1),
            "requests": len(requests),
            "machine index": report["environment"]["benchmarkIndex"],
        }
    )


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


def middle(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the median of every number over some runs.

    >>> middle([{"seo": 99}, {"seo": 100}, {"seo": 100}])
    {'seo': 100}
    """
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def run(program: Path, browser: str, address: str) -> dict[str, Any]:
    """Run Lighthouse once, as on a slow phone; return its report."""
    with TemporaryDirectory() as folder:
        target = Path(folder, "report.json")
        command = ["node", str(program / "node_modules/lighthouse/cli/index.js"), address]
        command += [
            "--quiet",
            "--output=json",
            f"--output-path={target}",
            f"--chrome-flags={FLAGS}",
        ]
        environment = os.environ | {"CHROME_PATH": browser}
        subprocess.run(command, env=environment, check=True, timeout=600)
        report: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return report


def main() -> int:
    """Measure the pages, print the medians, and record them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.site", description=__doc__)
    parser.add_argument("program", type=Path, help="the folder in which npm installed lighthouse")
    parser.add_argument("--site", type=Path, default=SITE, help="the built book")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file to write")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        parser.error(f"none of {', '.join(BROWSERS)} is installed")
    pages: dict[str, Any] = {}
    last: dict[str, Any] = {}
    with serve(options.site) as address:
        for page in heaviest(options.site):
            reports = [run(options.program, browser, address + page) for _ in range(RUNS)]
            runs = [summarize(report) for report in reports]
            last = reports[-1]
            pages[page] = {"median": middle(runs), "runs": runs, "missing": missing(last)}
            print(page, json.dumps(pages[page]["median"]), *pages[page]["missing"], flush=True)
    machine = stamp(threads=1)
    record = {
        "command": "make lighthouse",
        "date": datetime.now(UTC).date().isoformat(),
        "machine": {name: machine[name] for name in ("processor", "cores", "system")},
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
