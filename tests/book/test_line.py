"""The timeline in Chromium: by mouse, by keyboard, by touch, without scripts and on paper."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from bookkit.figures import attention_timeline, timeline_steps
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.browser

STEPS = timeline_steps()
KINDS = ("score", "position", "memory", "cost")


def filter_button(page: Page | Locator, name: str) -> Locator:
    return page.locator(".am-live-choice").get_by_role("button", name=name)


def step_button(page: Page | Locator, name: str) -> Locator:
    return page.locator(".am-timeline-years").get_by_role("button", name=name, exact=True)


def pressed(page: Page | Locator) -> list[str]:
    return page.locator(".am-live-choice [aria-pressed=true]").all_inner_texts()


def emphasised(page: Page | Locator) -> list[str]:
    return page.locator(".am-timeline-step.am-timeline-on").all_inner_texts()


def test_without_scripts_all_names_and_dots_are_there(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline(), java_script_enabled=False) as page:
        assert page.locator("button").count() == 0
        assert page.locator("svg").is_visible()
        names = page.locator(".am-timeline-step")
        assert names.all_inner_texts() == [step.name for step in STEPS]
        assert all(name.is_visible() for name in names.all())
        assert page.locator(".am-live-state:visible").all_inner_texts() == ["All steps are shown."]


def test_each_thread_by_mouse(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline()) as page:
        assert pressed(page) == ["anything"]
        assert playable.said(page).startswith(f"All {len(STEPS)} steps.")
        for kind in KINDS:
            filter_button(page, kind).click()
            wanted = [step for step in STEPS if kind in step.kinds]
            assert pressed(page) == [kind]
            assert emphasised(page) == [step.name for step in wanted]
            assert f": {len(wanted)} of {len(STEPS)} steps" in playable.said(page)
            assert playable.said(page).endswith(f"to {wanted[-1].month} ({wanted[-1].name}).")
            bright = page.locator(".am-timeline-lane:not(.am-timeline-off)")
            assert bright.get_attribute("data-am-kind") == kind
        filter_button(page, "anything").click()
        assert emphasised(page) == []
        assert page.locator(".am-timeline-off").count() == 0


def test_a_name_opens_its_words_below_its_year(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline()) as page:
        words = page.locator(".am-timeline-words")
        for number in (0, 2, len(STEPS) - 1):
            step = STEPS[number]
            step_button(page, step.name).click()
            assert words.count() == 1
            shown = words.inner_text()
            assert all(part in shown for part in (step.month, step.kept, step.changed, step.where))
            assert words.get_by_role("link").get_attribute("href") == step.url
            year = page.locator(".am-timeline-year").filter(has=words)
            assert year.locator(".am-timeline-number").inner_text() == str(step.year)
            opened = page.locator("[aria-expanded=true]").all_inner_texts()
            assert opened == [step.name]
            assert page.locator(".am-timeline-here").count() == len(step.kinds)
        step_button(page, STEPS[-1].name).click()
        assert words.count() == 0
        assert page.locator(".am-timeline-here").count() == 0


def test_a_step_closes_when_its_thread_is_left(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline()) as page:
        rotary = next(step for step in STEPS if step.kinds == ("position",))
        step_button(page, rotary.name).click()
        filter_button(page, "position").click()
        assert page.locator(".am-timeline-words").count() == 1
        filter_button(page, "cost").click()
        assert page.locator(".am-timeline-words").count() == 0


def test_everything_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline()) as page:
        focus = "document.activeElement.textContent"
        page.keyboard.press("Tab")
        assert page.evaluate(focus) == "anything"
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        assert pressed(page) == ["score"]
        for _ in range(3):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert pressed(page) == ["cost"]

        page.keyboard.press("Tab")  # into the years: one tab stop, arrow keys from name to name
        assert page.evaluate(focus) == STEPS[0].name
        page.keyboard.press("ArrowRight")
        assert page.evaluate(focus) == STEPS[1].name
        page.keyboard.press("ArrowDown")
        below = [step for step in STEPS if step.year == STEPS[1].year + 1]
        assert page.evaluate(focus) == below[1].name
        page.keyboard.press("Enter")
        assert below[1].changed in page.locator(".am-timeline-words").inner_text()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.href") == below[1].url
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        assert page.locator(".am-timeline-words").count() == 0


def test_arrow_keys_reach_every_step_and_every_year(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline()) as page:
        focus = "document.activeElement.textContent"
        step_button(page, STEPS[0].name).focus()
        seen = [page.evaluate(focus)]
        for _ in STEPS[1:]:
            page.keyboard.press("ArrowRight")
            seen.append(page.evaluate(focus))
        assert seen == [step.name for step in STEPS]
        page.keyboard.press("Home")
        assert page.evaluate(focus) == STEPS[0].name
        firsts = [next(s.name for s in STEPS if s.year == year) for year in range(2013, 2027)]
        down, up = [firsts[0]], [firsts[-1]]
        for key, names in (("ArrowDown", down), ("ArrowUp", up)):
            for _ in firsts[1:]:
                page.keyboard.press(key)
                names.append(page.evaluate(focus))
        assert down == firsts
        assert up == firsts[::-1]
        tab_stops = page.locator(".am-timeline-step").evaluate_all(
            "all => all.map(e => e.tabIndex)"
        )
        assert sorted(tab_stops) == [-1] * (len(STEPS) - 1) + [0]


@playable.EVERY_SCREEN
def test_everything_fits_and_can_be_hit(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, attention_timeline(), has_touch=True, **view) as page:
        step_button(page, STEPS[5].name).tap()
        filter_button(page, "memory").tap()
        assert pressed(page) == ["memory"]
        playable.fits_a_phone(page, "button")
        playable.letters_are_large(page.locator("svg text"))
        boxes = [playable.box_of(text) for text in page.locator(".am-timeline-scale").all()]
        spans = [(box["x"], box["x"] + box["width"]) for box in boxes]
        assert all(end < start for (_, end), (start, _) in pairwise(spans))


@playable.EVERY_SCREEN
def test_the_threads_do_not_move_the_line(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, attention_timeline(), **view) as page:
        tops = set()
        for name in ("anything", *KINDS):
            filter_button(page, name).click()
            box = playable.box_of(page.locator(".am-timeline-years"))
            tops.add((round(box["y"]), round(box["height"])))
        assert len(tops) == 1


def test_two_lines_stay_apart_and_leave_nothing_behind(browser: Browser) -> None:
    with playable.alone(browser) as page:
        before = page.evaluate("Object.keys(window)")
    with playable.alone(browser, attention_timeline(), attention_timeline()) as page:
        assert page.evaluate("Object.keys(window)") == before
        first, second = page.locator(".am-timeline").all()
        filter_button(first, "cost").click()
        step_button(second, STEPS[0].name).click()
        assert (pressed(first), pressed(second)) == (["cost"], ["anything"])
        assert first.locator(".am-timeline-words").count() == 0
        assert second.locator(".am-timeline-words").count() == 1
        assert page.locator("[data-am-live] [id]").count() == 0


def test_paper_says_which_thread_is_shown(browser: Browser) -> None:
    with playable.alone(browser, attention_timeline()) as page:
        filter_button(page, "position").click()
        page.emulate_media(media="print")
        state = page.locator(".am-live-state:visible").inner_text()
        assert state.startswith("Position, how the place of a word counts: ")
        assert not page.locator(".am-live-controls").is_visible()


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, attention_timeline(), attention_timeline(), **view) as page:
        first = page.locator(".am-timeline").first
        filter_button(first, "memory").click()
        step_button(first, STEPS[2].name).click()
        playable.axe_finds_nothing(page)
