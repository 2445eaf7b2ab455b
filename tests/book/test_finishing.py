"""The story to finish in Chromium: its chances against the package, and how it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from bookkit.data.stories import stories
from bookkit.figures import finish_story
from bookkit.playables import finishing as live
from bookkit.playables.finishing import BEGINNINGS, END_SIGN, MODEL, SHOWN
from bookkit.playables.weights import load_language_model
from companion.decoding import greedy
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

STILL: dict[str, Any] = {"reduced_motion": "reduce"}
RUN = """([data, texts]) => {
  const model = readModel(data);
  return texts.map(ids => chancesAfter(model, ids));
}"""


def said(page: Page) -> str:
    return page.locator("[aria-live=polite]").inner_text()


def added(page: Page) -> str:
    return str(page.locator(".am-finisher-added").inner_text())


def next_words(page: Page) -> list[str]:
    return page.locator(".am-finisher-word").all_inner_texts()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def ids_of(words: list[str]) -> list[int]:
    vocab = load_language_model(MODEL)[1]
    return [vocab.bos_id, *vocab.encode(words)]


def by_the_package(words: list[str]) -> list[float]:
    model = load_language_model(MODEL)[0].double()
    with torch.no_grad():
        chances: list[float] = model(torch.tensor([ids_of(words)]))[0, -1].softmax(-1).tolist()
    return chances


def finished_by_the_package(words: list[str]) -> list[str]:
    model, vocab = load_language_model(MODEL)
    prompt = torch.tensor([ids_of(words)])
    found = greedy(
        model.step, model.start(prompt, max_len=60), batch_size=1, bos_id=prompt[:, -1],
        eos_id=vocab.eos_id, max_len=60,
    )  # fmt: skip
    return list(vocab.decode(found.sequences()[0]))


def test_the_browser_computes_the_chances_of_the_package(browser: Browser) -> None:
    texts = [list(story) for story in stories(6, seed=5)]
    texts += [text[:cut] for text, cut in zip(texts, (0, 1, 7, 14, 21, 26), strict=True)]
    folder = live.MODEL.parents[2]
    with playable.alone(browser) as page:
        for name in ("live.js", "story-model.js"):
            page.add_script_tag(content=(folder / name).read_text(encoding="utf-8"))
        data = finish_story().data
        found = page.evaluate(RUN, [data, [ids_of(text) for text in texts]])
    wanted = [by_the_package(text) for text in texts]
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert np.abs(np.array(wanted[0]) - np.array(wanted[1])).max() < 1e-2  # both have ended
    assert np.abs(np.array(wanted[-1]) - np.array(wanted[-2])).max() > 0.1


@pytest.mark.parametrize("place", range(len(BEGINNINGS)))
def test_every_beginning_shows_the_likeliest_words(browser: Browser, place: int) -> None:
    with playable.alone(browser, finish_story(), **STILL) as page:
        page.get_by_label("Beginning").select_option(index=place)
        words = BEGINNINGS[place].split()
        assert page.locator(".am-finisher-given").inner_text() == BEGINNINGS[place]
        chances = sorted(by_the_package(words), reverse=True)[:SHOWN]
        np.testing.assert_allclose(
            playable.exact_all(page.locator(".am-finisher-chance")), chances, atol=1e-6
        )


def test_a_click_and_the_buttons_write(browser: Browser) -> None:
    beginning = BEGINNINGS[1].split()
    with playable.alone(browser, finish_story(), **STILL) as page:
        page.get_by_label("Beginning").select_option(index=1)
        page.get_by_role("button", name="looks").click()
        assert added(page) == "looks"
        chances = sorted(by_the_package([*beginning, "looks"]), reverse=True)[:SHOWN]
        np.testing.assert_allclose(
            playable.exact_all(page.locator(".am-finisher-chance")), chances, atol=1e-6
        )
        best = next_words(page)[0]
        press(page, "take the likeliest")
        assert added(page) == f"looks {best}"
        press(page, "one word back")
        press(page, "one word back")
        assert added(page) == ""
        assert page.get_by_role("button", name="one word back").is_disabled()


def test_the_likeliest_words_are_those_of_greedy(browser: Browser) -> None:
    with playable.alone(browser, finish_story(), **STILL) as page:
        wanted = finished_by_the_package(BEGINNINGS[0].split())
        for _ in range(len(wanted) + 1):
            press(page, "take the likeliest")
        assert added(page).split() == [*wanted, END_SIGN]
        assert said(page) == "The story has ended."
        assert page.locator(".am-finisher-word").count() == 0
        for name in ("take the likeliest", "draw a word", "finish the story"):
            assert page.get_by_role("button", name=name).is_disabled()
        press(page, "start again")
        assert added(page) == ""
        assert len(next_words(page)) == SHOWN


@pytest.mark.parametrize("number", [0.0, 0.3, 0.62, 0.999])
def test_a_drawn_word_is_where_the_number_falls(browser: Browser, number: float) -> None:
    with playable.alone(browser, finish_story(), **STILL) as page:
        page.evaluate(f"Math.random = () => {number}")
        page.get_by_label("Beginning").select_option(index=1)
        press(page, "draw a word")
        chances = np.cumsum(by_the_package(BEGINNINGS[1].split()))
        vocab = load_language_model(MODEL)[1]
        assert added(page) == vocab.tokens[int(np.searchsorted(chances, number, side="right"))]


def test_a_story_is_finished_word_by_word(browser: Browser) -> None:
    with playable.alone(browser, finish_story(), **STILL) as page:
        press(page, "finish the story")
        assert added(page).endswith(END_SIGN)
    with playable.alone(browser, finish_story()) as page:
        page.clock.install()
        press(page, "finish the story")
        assert len(added(page).split()) == 1
        page.clock.run_for(260)
        assert len(added(page).split()) == 2
        press(page, "start again")
        page.clock.run_for(2000)
        assert added(page) == ""


def test_without_a_script_the_first_words_stand(browser: Browser) -> None:
    with playable.alone(browser, finish_story(), java_script_enabled=False) as page:
        assert page.locator("button, select").count() == 0
        assert page.locator(".am-live-state").is_visible()
        chances = sorted(by_the_package(BEGINNINGS[0].split()), reverse=True)[:SHOWN]
        np.testing.assert_allclose(
            playable.exact_all(page.locator(".am-finisher-chance")), chances, atol=1e-6
        )


def test_words_are_written_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, finish_story(), **STILL) as page:
        words = next_words(page)
        page.get_by_label("Beginning").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert added(page) == words[1]
        assert page.evaluate("document.activeElement.textContent") == next_words(page)[0]


@pytest.mark.parametrize("screen", playable.SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_is_accessible(browser: Browser, screen: str, scheme: Any) -> None:
    options: dict[str, Any] = {
        "viewport": playable.SCREENS[screen],
        "color_scheme": scheme,
        **STILL,
    }
    with playable.alone(browser, finish_story(), bypass_csp=True, **options) as page:
        press(page, "take the likeliest")
        playable.targets_can_be_hit(page.locator("button, select"))
        for part in page.locator("button, select").all():
            box = part.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= playable.SCREENS[screen]["width"]
        assert page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )
        playable.axe_finds_nothing(page)
