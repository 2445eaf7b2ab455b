"""What a phone loads of every page, whether anything moves, and how long the page is busy.

Bytes, requests and shifts are the same on every machine. The time is that of the processor, which
other programs do not lengthen; its bound is wide, for slower ones.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.book import built
from tests.book.conftest import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZE = {"width": 412, "height": 823}
PHONE: dict[str, Any] = {"viewport": SIZE, "is_mobile": True, "has_touch": True}
LIMITS = {
    "KiB": 175,  # of a first visit, without figures and the words of the whole book to search
    "requests": 15,  # without figures; a page with playables loads the kit, and up to three
    "shift": 0.01,
    "busy": 2000,  # milliseconds; the heaviest page takes 400 where this was set
}

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
    sent: list[Any] = []
    loaded: list[Any] = []
    session.on("Network.requestWillBeSent", lambda event: sent.append(event))
    session.on("Network.loadingFinished", lambda event: loaded.append(event))
    page.goto(address, wait_until="load")
    seen: dict[str, Any] = page.evaluate(SETTLED)
    metrics = session.send("Performance.getMetrics")["metrics"]
    (busy,) = (one["value"] for one in metrics if one["name"] == "TaskDuration")
    addresses = {event["requestId"]: event["request"]["url"] for event in sent}
    sizes = {event["requestId"]: event["encodedDataLength"] for event in loaded}
    left_out = re.compile("^data:|/_images/|/searchindex.js")
    counted = [size for one, size in sizes.items() if not left_out.search(addresses[one])]
    return seen | {"busy": 1000 * busy, "KiB": sum(counted) / 1024, "requests": len(counted)}


def test_pages_are_light_and_keep_still(
    some: list[built.Page], few: list[built.Page], server: str, browser: Browser
) -> None:
    """Of the API reference, which one program writes, few pages."""
    faults: list[str] = []
    for one in some:
        if "/api/" in one.name and one not in few:
            continue
        with browser.new_context(service_workers="block", **PHONE) as context:
            context.set_default_timeout(PATIENCE)
            context.add_init_script(NOTES)
            measured = first_visit(context, server + one.name)
        faults += [
            f"{one.name}: {name} {measured[name]:.4g}, at most {limit}"
            for name, limit in LIMITS.items()
            if measured[name] > limit
        ]
    assert not faults
