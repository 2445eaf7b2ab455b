"""What Lighthouse measures of the built book."""

from book_check.__main__ import missing, summarize


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
