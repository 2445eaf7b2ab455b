"""What single playables do beyond their controls, in Chromium."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.book.playable import box_of, broken_rules, letters_are_large
from tests.book.test_playables import document, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser


def test_a_number_is_typed_stepped_and_slid(browser: Browser) -> None:
    with opened(browser, document("gradient-flow"), "desk", "light") as page:
        name = "house, first number"
        field = page.get_by_role("spinbutton", name=name)
        field.fill("-1.25")  # as it stands there while somebody types
        assert field.input_value() == "-1.25"
        assert page.get_by_role("spinbutton", name="score of house").input_value() == "-2.50"
        field.press("ArrowUp")
        assert field.input_value() == "-1.15"
        field.press("PageDown")
        assert field.input_value() == "-2.15"
        field.fill("")  # no number: nothing changes
        assert page.get_by_role("spinbutton", name="score of house").input_value() == "-4.30"
        field.fill("1000")
        field.press("Tab")
        assert field.input_value() == "9.0"
        assert page.locator(".am-play-slider").inner_text().startswith("house, second number")
        field.focus()
        page.get_by_role("slider", name=name).press("ArrowLeft")
        assert field.input_value() == "8.9"
        assert "House, first number: gradient" in page.locator(".am-play-said").inner_text()
        page.get_by_role("button", name="Reset").click()
        losses = []
        for _ in range(3):
            losses.append(float(page.locator(".am-gradient-loss > span").inner_text()))
            page.get_by_role("button", name="One step downhill").click()
        assert losses == sorted(losses, reverse=True)
        assert losses[0] == 0.0419


def test_a_stroke_paints_several_cells_by_mouse_and_by_finger(browser: Browser) -> None:
    with opened(browser, document("paint-mask"), "phone", "light") as page:
        cells = page.locator(".am-play [data-cell]")
        cells.nth(1).hover()  # of the causal mask, whose first row sees one word
        page.mouse.down()
        for place in (2, 3):
            cells.nth(place).hover()
        page.mouse.up()
        assert "she may look at 4 of 6" in page.locator(".am-play-said").inner_text()
        cells.nth(3).tap()
        assert "she may look at 3 of 6" in page.locator(".am-play-said").inner_text()
        cells.nth(3).press("ArrowLeft")
        page.keyboard.press("Space")
        assert "she may look at 2 of 6" in page.locator(".am-play-said").inner_text()


def test_a_word_is_dragged_to_another_column(browser: Browser) -> None:
    with opened(browser, document("word-order"), "desk", "light") as page:
        heads = page.locator("thead button")
        words = heads.all_inner_texts()
        heads.first.hover()
        page.mouse.down()
        heads.nth(2).hover()
        page.mouse.up()
        moved = [*words[1:3], words[0], *words[3:]]
        assert heads.all_inner_texts() == moved
        assert heads.nth(2).get_attribute("aria-pressed") == "true"
        assert f"Order: {' '.join(moved)}." in page.locator(".am-play-said").inner_text()
        heads.nth(1).press("Enter")
        assert f"From {moved[1]}:" in page.locator(".am-play-said").inner_text()


def test_a_config_is_pasted_and_one_that_cannot_be_read_says_why(browser: Browser) -> None:
    with opened(browser, document("calculator"), "desk", "light") as page:
        said, text = page.locator(".am-play-said"), page.locator("textarea")
        page.locator("summary").first.click()
        for given, fault in (
            ("{", "This is not valid JSON"),
            ("", "Paste the text of a config.json"),
            ("null", "config: config.json has null, wanted an object"),
            ('{"model_type": "mamba"}', 'model_type: config.json has "mamba", wanted one of'),
            (
                '{"model_type": "qwen3", "num_hidden_layers": 2}',
                "hidden_size: config.json has none",
            ),
        ):
            text.fill(given)
            assert fault in page.get_by_role("alert").inner_text()
            assert said.inner_text().startswith("Nothing is counted")
            assert page.locator("table").count() == 0
        sizes = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 64}
        sizes |= {"num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 99}
        text.fill(json.dumps({"model_type": "llama", **sizes}))
        assert page.get_by_role("alert").inner_text() == ""
        assert "this model keeps 8.00 MiB" in said.inner_text()  # 2 layers, 64 numbers, 2 bytes


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_an_architecture_opens_into_its_drawing_and_closes(browser: Browser, screen: str) -> None:
    with opened(browser, document("atlas"), screen, "light") as page:
        button = page.get_by_role("button", name="GptOss", exact=True)
        button.click()
        more = page.locator(".am-atlas-more")
        assert "64 query heads of 64" in str(more.locator("svg").text_content())
        assert "1 part in" in more.inner_text()
        assert more.locator('a[href$="modeling_gpt_oss.py"]').count() == 1
        letters_are_large(more.locator("svg text"))
        assert not broken_rules(page)
        page.get_by_label("Words").fill("YaRN window")
        assert more.is_visible()
        page.get_by_label("Words").fill("Mamba2")
        assert more.count() == 0
        page.get_by_role("button", name="Show all").click()
        button.click()
        assert more.count() == 0
        page.get_by_role("button", name="KimiLinear The layers").click()
        assert "Kimi Linear 48B-A3B" in page.locator('[data-row="kimi_linear"]').inner_text()
        assert "a state each" in str(more.locator("svg").text_content())


def test_a_story_is_finished_word_by_word_until_somebody_else_writes(browser: Browser) -> None:
    motion = {"reduced_motion": "no-preference"}
    with opened(browser, document("story-finisher"), "desk", "light", **motion) as page:
        page.clock.install()
        added = page.locator(".am-finisher-story b")
        page.get_by_role("button", name="start again").click()
        page.get_by_role("button", name="finish the story").click()
        assert len(added.inner_text().split()) == 1
        page.clock.run_for(260)
        assert len(added.inner_text().split()) == 2
        page.get_by_role("button", name="start again").click()
        page.clock.run_for(2000)
        assert added.inner_text() == ""
    with opened(browser, document("story-finisher"), "phone", "light") as page:
        page.get_by_role("button", name="finish the story").tap()
        assert page.locator(".am-finisher-story b").inner_text().endswith("(end)")
        assert page.locator(".am-play-said").inner_text() == "The story has ended."
        page.get_by_role("button", name="one word back").tap()
        page.locator(".am-finisher-word").nth(1).press("Enter")
        assert page.locator(".am-finisher-story b").inner_text() != ""


def translates(page: Page, words: str) -> str:
    page.get_by_label("English sentence").fill(words)
    page.get_by_role("button", name="Translate", exact=True).click()
    return page.locator(".am-play-said").inner_text()


@pytest.mark.parametrize("screen", ["desk", "phone"])
def test_the_translator_is_fetched_and_translates_what_is_typed(
    browser: Browser, screen: str
) -> None:
    with opened(browser, document("translator"), screen, "light") as page:
        said = page.locator(".am-play-said")
        page.get_by_role("button", name="no such sentence").click()
        assert "so it makes up “his garden”" in said.inner_text()
        page.get_by_role("button", name="Load the translator").press("Enter")
        typed = page.get_by_label("English sentence")
        page.locator("input[type=text]:focus").wait_for()
        assert "“zebra”" in translates(page, "the zebra sleeps")
        assert typed.get_attribute("aria-invalid") == "true"
        assert not page.locator(".am-translator-ribbons").is_visible()
        assert "with “the the”, but it has to" in translates(page, "the the")
        assert "Type an English sentence" in translates(page, " ")
        assert "41 words" in translates(page, "the " * 41)
        assert "With attention: el hombre ve la casa." in translates(page, "the man sees the house")
        page.get_by_role("button", name="cut the largest").click()
        assert "el hombre ve la casa" not in said.inner_text()
        page.get_by_role("slider", name="How far").press("Home")
        assert "el hombre ve la casa" in said.inner_text()
        typed.fill("the hou")
        typed.press("ArrowDown")
        page.locator("[data-cell]:focus").press("Enter")
        assert typed.input_value() in ("the house ", "the houses ")
        typed.press("ArrowDown")
        page.locator("[data-cell]:focus").press("Escape")
        page.locator("input[type=text]:focus").wait_for()
        page.get_by_role("checkbox", name="Compare with the translator without").check()
        page.locator(".am-translator-line").nth(1).wait_for()
        page.get_by_role("button", name="Random sentence").click()
        assert " which is " in said.inner_text()
        assert page.locator("figure ruby:visible").count() > 1
        assert not broken_rules(page)
        page.get_by_role("button", name="Translate all 300 sentences with both").click()
        page.get_by_role("slider", name="Words written").press("Home")  # and it counts on
        page.get_by_text("Right with attention and without:").wait_for()
        counts = page.locator(".am-translator-counts td").all_inner_texts()
        right = [int(one.partition(" of ")[0]) for one in counts]
        assert right[0] - right[4] < right[1] - right[5], "without, length hurts more"


def test_real_sentences_are_cut_and_translated_with_what_must_be_said(browser: Browser) -> None:
    with opened(browser, document("real-translator"), "phone", "light") as page:
        said, pieces = page.locator(".am-play-said"), page.locator(".am-real-pieces")
        page.get_by_role("button", name="a name").click()
        assert "It reads “Zbigniew” in 6 pieces." in said.inner_text()
        page.get_by_role("button", name="Load the translator").press("Enter")
        typed = page.locator("input[type=text]:focus")
        typed.fill("where’s Zbigniew’s 😀")
        assert pieces.inner_text().startswith("14 pieces:")
        assert page.locator("figure span.am-rare").count() == 6
        typed.press("Enter")
        assert typed.input_value() == "Where's Zbigniew's 😀."
        assert "straightened the quotation marks, began with a capital and ad" in said.inner_text()
        assert "no piece for “😀”" in said.inner_text()
        assert "It cannot decline" in said.inner_text()
        page.get_by_role("button", name="as learned").click()
        learned = page.locator(".am-translator-line b").inner_text()
        page.get_by_role("button", name="cut the largest").click()
        assert page.locator(".am-translator-line b").inner_text() != learned
        page.get_by_role("slider", name="How far").press("Home")
        assert page.locator(".am-translator-line b").inner_text() == learned
        assert not broken_rules(page)
        assert "There is no sentence yet" in translates(page, " ")
        assert "61 pieces; 60 are the most" in translates(page, "1" * 60)
        assert page.locator("input[aria-invalid=true]").count() == 1
        assert not page.locator(".am-translator-ribbons").is_visible()


def test_the_networks_of_the_phrase_book_are_fetched_and_answer(browser: Browser) -> None:
    with opened(browser, document("phrase-finger"), "phone", "light") as page:
        typed, said = page.get_by_label("An English phrase"), page.locator(".am-play-said")
        typed.fill("excuse me")
        assert "The network writes" not in said.inner_text()
        page.get_by_role("button", name="Load both networks").press("Enter")
        page.locator("input[type=text]:focus").wait_for()
        typed.fill("Excuse me")
        assert "writes “me gusta la música”" in said.inner_text()
        typed.fill("good nigth")
        assert page.locator("figure :is(ins, del)").all_inner_texts()
        page.get_by_role("button", name="the shuffled book").click()
        assert "the finger copies “tengo hambre”" in said.inner_text()
        assert not broken_rules(page)


def test_a_translation_is_written_word_by_word(browser: Browser) -> None:
    motion = {"reduced_motion": "no-preference"}
    with opened(browser, document("translator"), "desk", "light", **motion) as page:
        page.get_by_role("button", name="Load the translator").click()
        page.get_by_label("English sentence").wait_for()
        page.clock.install(time=0)
        page.clock.pause_at(60)  # or it would go on while a busy machine looks
        translates(page, "the man sees the house")
        for count in range(1, 6):
            assert page.locator("ruby:not(.am-none)").count() == count
            page.clock.run_for(400)
        assert "el hombre ve la casa" in page.locator(".am-play-said").inner_text()


def test_a_weight_is_dragged_by_mouse_set_by_finger_and_stepped_by_key(browser: Browser) -> None:
    with opened(browser, document("move-weights"), "phone", "light") as page:
        bars, said = page.locator(".am-play .am-handle"), page.locator(".am-play-said")
        page.get_by_role("button", name="level").click()
        bars.first.press("ArrowUp")  # from 1/5
        assert bars.first.get_attribute("aria-valuenow") == "0.25"
        knob = box_of(bars.first.locator(".am-knob"))
        page.mouse.move(knob["x"] + knob["width"] / 2, knob["y"] + knob["height"] / 2)
        page.mouse.down()
        page.mouse.move(knob["x"], 0)
        page.mouse.up()
        assert "The largest weight, 1.00, is on word 1" in said.inner_text()
        chart, third = box_of(page.locator(".am-play .am-chart")), box_of(bars.nth(2))
        page.touchscreen.tap(third["x"] + third["width"] / 2, chart["y"] + chart["height"] / 3)
        assert "is on word 3" in said.inner_text()
        page.get_by_role("button", name="its own").click()
        assert "These are the model's own weights" in said.inner_text()


def test_a_knob_is_dragged_by_finger_and_takes_the_other_along(browser: Browser) -> None:
    with opened(browser, document("make-win"), "phone", "light", is_mobile=True) as page:
        knobs = page.locator(".am-handle")
        knobs.first.scroll_into_view_if_needed()
        box, finger = box_of(knobs.first), page.context.new_cdp_session(page)
        for step in range(20):
            at = {"x": box["x"] + box["width"] / 2 + 18 * step, "y": box["y"] + box["height"] / 2}
            touch = {"type": "touchMove" if step else "touchStart", "touchPoints": [at]}
            finger.send("Input.dispatchTouchEvent", touch)
            page.wait_for_timeout(30)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        assert [one.get_attribute("aria-valuenow") for one in knobs.all()] == ["36", "40"]
        said = page.locator(".am-play-said")
        assert "concat wins" in said.inner_text()
        page.get_by_role("button", name="Reset").click()
        assert "additive wins" in said.inner_text()
        assert "Crowned so far: 2 of 8." in said.inner_text()  # what was won is kept


def test_a_letter_is_said_longer_by_hand(browser: Browser) -> None:
    """The number of cells changes on the way, and the knob stays in the hand."""
    with opened(browser, document("spoken-word"), "phone", "light") as page:
        knob = page.locator(".am-handle").nth(2)
        knob.scroll_into_view_if_needed()
        box = box_of(knob)
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.mouse.down()
        page.mouse.move(box["x"] + 90, box["y"], steps=8)
        page.mouse.up()
        assert int(knob.get_attribute("aria-valuenow") or 0) > 15
