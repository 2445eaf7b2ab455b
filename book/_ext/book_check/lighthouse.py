"""What Lighthouse says of lessons and the heaviest pages: what a phone loads, how long it waits."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

FLAGS = "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage"

_CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
_TIMES = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")


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


def lessons(site: Path) -> list[str]:
    """Return the pages that are lessons, by what their notebooks say of themselves.

    Args:
        site: the folder of the built book, which holds the notebooks in `_sources`.
    """
    sources = site / "_sources"
    return [
        path.relative_to(sources).with_suffix(".html").as_posix()
        for path in sorted(sources.rglob("*.ipynb"))
        if "lesson" in json.loads(path.read_text(encoding="utf-8"))["metadata"]
    ]


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
    """Run Lighthouse as on a slow phone; return its report."""
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
