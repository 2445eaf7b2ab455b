"""What is measured of the built book, and how it is served for that."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from book_check.host import serve
from book_check.lighthouse import heaviest, lessons, missing, summarize


def report() -> dict[str, Any]:
    """Return as much of a report of Lighthouse as is read."""
    request = "http://127.0.0.1/"
    times = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")
    parts = [
        {"id": name, "weight": weight} for name, weight in (("a", 1), ("b", 1), ("c", 0), ("d", 1))
    ]
    return {
        "environment": {"benchmarkIndex": 1500},
        "categories": {
            name: {"score": 0.98, "auditRefs": parts if name == "seo" else []}
            for name in ("performance", "accessibility", "best-practices", "seo")
        },
        "audits": {
            **{name: {"numericValue": 12.4} for name in times},
            **{
                name: {"score": score}
                for name, score in zip("abcd", (1, 0.5, 0, None), strict=True)
            },
            "cumulative-layout-shift": {"numericValue": 0.00123},
            "network-requests": {
                "details": {
                    "items": [
                        {"url": request + "_static/book.css", "transferSize": 2048},
                        {"url": request + "_images/a.png", "transferSize": 1024},
                    ]
                }
            },
        },
    }


def test_figures_are_counted_apart() -> None:
    said = summarize(report())
    assert (said["KiB"], said["KiB without figures"], said["requests"]) == (3.0, 2.0, 2)
    assert (said["performance"], said["layout-shift"], said["total-blocking-time"]) == (
        98,
        0.0012,
        12,
    )


def test_what_a_page_does_not_pass_is_named() -> None:
    assert missing(report()) == ["b"]


def test_the_heaviest_pages_are_measured(tmp_path: Path) -> None:
    for name, text in (
        ("start/start", "x"),
        ("mathematics/few", "<math>" + 50 * "x"),
        ("mathematics/many", "<math><math>"),
        ("history/long", 99 * "x"),
        ("appendices/api/longer", 999 * "x"),
    ):
        page = tmp_path / f"{name}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        if "api" not in name:
            source = tmp_path / "_sources" / f"{name}.ipynb"
            source.parent.mkdir(parents=True, exist_ok=True)
            source.touch()
    assert heaviest(tmp_path) == ["start/start.html", "mathematics/many.html", "history/long.html"]


def test_every_lesson_is_measured(tmp_path: Path) -> None:
    for name, metadata in (("b", {"lesson": {"evidence": "c"}}), ("c", {}), ("a", {"lesson": {}})):
        source = tmp_path / "_sources" / "history" / f"{name}.ipynb"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(json.dumps({"metadata": metadata}), encoding="utf-8")
    assert lessons(tmp_path) == ["history/a.html", "history/b.html"]


def test_files_are_served_as_by_a_static_host(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("é" * 999, encoding="utf-8")
    (tmp_path / "font.woff2").write_bytes(b"wOF2")
    with serve(tmp_path) as address:
        asked = Request(address + "page.html?v=1", headers={"Accept-Encoding": "gzip"})
        with urlopen(asked) as answer:
            body = answer.read()
            assert answer.headers["Content-Encoding"] == "gzip"
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert int(answer.headers["Content-Length"]) == len(body) < 100
        assert gzip.decompress(body).decode() == "é" * 999
        for name in ("page.html", "font.woff2"):
            with urlopen(address + name) as answer:
                assert answer.headers["Content-Encoding"] is None
                assert answer.read() == (tmp_path / name).read_bytes()
        with pytest.raises(HTTPError, match="404"):
            urlopen(address + "nothing.html")
