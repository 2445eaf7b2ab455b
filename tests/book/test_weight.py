"""What a phone loads of every page, whether anything moves, and how long the page is busy.

Bytes, requests and shifts are the same on every machine. The time is that of the processor, which
other programs do not lengthen; its bound is wide, for slower ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.book import built

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE: dict[str, Any] = {
    "viewport": {"width": 412, "height": 823},
    "is_mobile": True,
    "has_touch": True,
}
KIB = 155  # of a first visit, without figures and without the words of the whole book to search
REQUESTS = 15  # without figures; a page with playables loads the kit, and up to three of them
SHIFT = 0.01
BUSY = 2000  # milliseconds; the heaviest page takes 400 where this was set
PATIENCE = 120_000

NOTES = """window.seen = {shift: 0};
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) seen.shift += entry.value;
}).observe({type: "layout-shift", buffered: true});"""
SETTLED = """async () => {
  await document.fonts.ready;
  for (let i = 0; i < 5; i++) await new Promise(done => setTimeout(done, 40));
  return seen;
}"""


def first_visit(context: BrowserContext, address: str) -> dict[str, Any]:
    """Open a page with nothing kept; return KiB and requests without figures, shift, busy time."""
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    addresses: dict[str, str] = {}
    sizes: dict[str, float] = {}

    def sent(event: Any) -> None:
        addresses[event["requestId"]] = event["request"]["url"]

    def loaded(event: Any) -> None:
        sizes[event["requestId"]] = event["encodedDataLength"]

    session.on("Network.requestWillBeSent", sent)
    session.on("Network.loadingFinished", loaded)
    page.goto(address, wait_until="load")
    seen: dict[str, Any] = page.evaluate(SETTLED)
    metrics = session.send("Performance.getMetrics")["metrics"]
    (busy,) = (one["value"] for one in metrics if one["name"] == "TaskDuration")
    page.close()
    counted = [
        size
        for number, size in sizes.items()
        if not addresses[number].startswith("data:")
        and not any(part in addresses[number] for part in ("/_images/", "/searchindex.js"))
    ]
    return seen | {"busy": 1000 * busy, "KiB": sum(counted) / 1024, "requests": len(counted)}


def test_pages_are_light_and_keep_still(
    some: list[built.Page], server: str, browser: Browser
) -> None:
    faults: list[str] = []
    for one in some:
        context = browser.new_context(service_workers="block", **PHONE)
        context.set_default_timeout(PATIENCE)
        context.add_init_script(NOTES)
        measured = first_visit(context, server + one.name)
        context.close()
        limits = {"KiB": KIB, "requests": REQUESTS, "shift": SHIFT, "busy": BUSY}
        faults += [
            f"{one.name}: {name} {measured[name]:.4g}, at most {limit}"
            for name, limit in limits.items()
            if measured[name] > limit
        ]
    assert not faults
