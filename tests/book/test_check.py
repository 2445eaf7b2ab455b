"""What is measured of the built book, and how it is served for that."""

import gzip
import json
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from book_check.__main__ import measured, missing, summarize
from book_check.host import serve


def test_figures_are_counted_apart_and_what_is_missing_is_named() -> None:
    times = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time")
    scores = {"a": (1, 1), "b": (1, 0.5), "c": (0, 0), "d": (1, None)}  # each with its weight
    parts = [{"id": name, "weight": weight} for name, (weight, _) in scores.items()]
    loaded = [
        {"url": "http://127.0.0.1/_static/book.css", "transferSize": 2048},
        {"url": "http://127.0.0.1/_images/a.png", "transferSize": 1024},
    ]
    report = {
        "environment": {"benchmarkIndex": 1500},
        "categories": {
            name: {"score": 0.98, "auditRefs": parts if name == "seo" else []}
            for name in ("performance", "accessibility", "best-practices", "seo")
        },
        "audits": {
            **{name: {"numericValue": 12.4} for name in times},
            **{name: {"score": score} for name, (_, score) in scores.items()},
            "cumulative-layout-shift": {"numericValue": 0.00123},
            "network-requests": {"details": {"items": loaded}},
        },
    }
    said = summarize(report)
    assert (said["KiB"], said["KiB without figures"], said["requests"]) == (3.0, 2.0, 2)
    assert (said["performance"], said["layout-shift"]) == (98, 0.0012)
    assert missing(report) == ["b"]


def test_the_heaviest_pages_and_the_lessons_are_measured(tmp_path: Path) -> None:
    lesson = {"lesson": {"evidence": "c"}}
    for name, text, metadata in (
        ("start/start", "x", {}),
        ("mathematics/few", "<math>" + 50 * "x", lesson),
        ("mathematics/many", "<math><math>", {}),
        ("history/long", 99 * "x", {}),
        ("history/short", "x", lesson),
    ):
        for path, content in (
            (tmp_path / f"{name}.html", text),
            (tmp_path / f"_sources/{name}.ipynb", json.dumps({"metadata": metadata})),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    assert measured(tmp_path) == [
        "start/start.html", "mathematics/many.html", "history/long.html",
        "history/short.html", "mathematics/few.html",
    ]  # fmt: skip


def test_files_are_served_as_by_a_static_host(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("é" * 999, encoding="utf-8")
    (tmp_path / "font.woff2").write_bytes(b"wOF2")
    with serve(tmp_path) as address:
        asked = Request(address + "page.html?v=1", headers={"Accept-Encoding": "gzip"})
        with urlopen(asked) as answer:
            body = answer.read()
            assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
            assert int(answer.headers["Content-Length"]) == len(body) < 100
        assert gzip.decompress(body).decode() == "é" * 999
        with urlopen(address + "font.woff2") as answer:
            assert answer.headers["Content-Encoding"] is None
        with pytest.raises(HTTPError, match="404"):
            urlopen(address + "nothing.html")
