"""Gradients under editable numbers in Chromium: they are those of autograd, by any control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from bookkit.figures import LiveOutput, gradient_flow
from companion import attend, dot_score, masked_softmax
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WORDS = ["the", "new", "house"]
MEMORY = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]


def output() -> LiveOutput:
    return gradient_flow(WORDS, [2, 3], MEMORY, [1, 1])


def shows(
    page: Page, query: Any = (2, 3), memory: Any = MEMORY, wanted: Any = (1, 1), nudge: Any = 0
) -> None:
    """Compare every number and every gradient with the package and autograd."""
    q, m, t = (torch.tensor(x, dtype=torch.float64) for x in (query, memory, wanted))
    q.requires_grad_()
    m.requires_grad_()
    scores = dot_score(q[None], m) + torch.as_tensor(nudge, dtype=torch.float64)
    weights = masked_softmax(scores)
    context = attend(weights, m)
    loss = ((context - t) ** 2).sum() / 2
    at = torch.autograd.grad(loss, (q, m, scores, weights, context))
    rows = torch.cat([m, scores.T, weights.T], 1).flatten()
    numbers = torch.cat([q, rows, context[0], loss[None], t]).detach()
    slopes = torch.cat([at[0], torch.cat([at[1], at[2].T, at[3].T], 1).flatten(), at[4][0]])
    for part, right in (("number", numbers), ("slope", slopes)):
        found = playable.exact_all(page.locator(f".am-gradient-flow-{part}"))
        np.testing.assert_allclose(found, right, atol=1e-6)
    wide = page.locator(".am-gradient-flow-bar").evaluate_all(
        "all => all.map(e => +e.width.baseVal.value)"
    )
    np.testing.assert_allclose(wide, 50 * (at[2][0].abs() / 0.15).clamp(max=1), atol=0.01)


def field(page: Page, label: str) -> Any:
    return page.get_by_role("spinbutton", name=label, exact=True)


def test_without_a_script_the_numbers_stand_there(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        assert page.locator("button, input").count() == 0
        shows(page)
        assert page.locator(".am-live-state:visible").inner_text().startswith("Loss 0.042.")


def test_a_number_is_changed_by_arrow_keys_by_typing_and_by_the_slider(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        shows(page)
        field(page, "score of house").press("ArrowUp")
        shows(page, nudge=[0, 0, 0.1])
        field(page, "score of house").press("PageDown")
        shows(page, nudge=[0, 0, -0.9])
        field(page, "query, second number").fill("-1.25")
        shows(page, query=(2, -1.25), nudge=[0, 0, -0.9])
        field(page, "house, first number").focus()
        page.get_by_role("slider").press("ArrowRight")
        changed = [*MEMORY[:2], [2.1, 0.0]]
        shows(page, (2, -1.25), changed, nudge=[0, 0, -0.9])
        field(page, "wanted, first number").fill("2")
        shows(page, (2, -1.25), changed, (2, 1), [0, 0, -0.9])
        page.get_by_role("button", name="Reset").click()
        shows(page)


def test_what_cannot_be_read_or_is_too_large_changes_little(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        first = field(page, "query, first number")
        first.fill("")
        shows(page)
        first.fill("1000")
        first.press("Tab")
        shows(page, query=(9, 3))
        assert first.input_value() == "9.0"


def test_a_step_downhill_follows_the_gradients_at_the_scores(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        losses = []
        nudge = np.zeros(3)
        for _ in range(3):
            slopes = playable.exact_all(page.locator(".am-gradient-flow-slope"))
            losses.append(playable.exact_all(page.locator(".am-gradient-flow-loss > span"))[0])
            nudge -= [slopes[4], slopes[8], slopes[12]]
            page.get_by_role("button", name="One step downhill").click()
            shows(page, nudge=nudge)
        assert losses == sorted(losses, reverse=True)


def test_it_foretells_the_change_of_the_loss(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        assert playable.said(page) == (
            "Loss 0.0419. Score of house: gradient +0.077. Raise this number by 0.1, and the loss "
            "should change by about +0.0077; it would change by +0.0083. The gradients at the "
            "scores sum to 0.000."
        )
        before = playable.exact_all(page.locator(".am-gradient-flow-loss > span"))[0]
        field(page, "score of house").press("ArrowUp")
        after = playable.exact_all(page.locator(".am-gradient-flow-loss > span"))[0]
        assert after - before == pytest.approx(0.0083, abs=5e-5)


test_axe_finds_nothing = playable.axe_test(output)


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    with playable.alone(
        browser, output(), viewport=playable.SCREENS["phone"], has_touch=True
    ) as page:
        playable.fits_a_phone(page)
        field(page, "score of the").tap()
        page.get_by_role("slider").press("ArrowRight")
        shows(page, nudge=[0.1, 0, 0])


@playable.EVERY_SCREEN
def test_nothing_jumps(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, output(), reduced_motion="reduce", **view) as page:
        playable.nothing_has_shifted(page)
        tall = set()
        for label in ("score of the", "query, first number", "wanted, second number"):
            for key in ("PageUp", "PageDown", "ArrowDown"):
                field(page, label).press(key)
                tall.add(playable.height(page))
        assert len(tall) == 1
