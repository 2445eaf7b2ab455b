"""The translator in Chromium: its sentences and weights against the package, and how it is used."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bookkit.figures import live_translator
from bookkit.playables import translator as live
from bookkit.playables.translator import BANDS, FILES, FOLDER
from bookkit.playables.weights import load_translator, save_translator
from companion import attend
from companion.interpret import erased, top_places
from companion.translation import Translation, Translator
from experiments.engine.settings import LIVE_TASK
from tests.book import playable
from tests.book.built import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page, Route

pytestmark = pytest.mark.browser

STILL: dict[str, Any] = {"reduced_motion": "reduce"}

UNROUNDED = ROOT / "tests/bookkit/playables/translator-16-bit.safetensors"
RUN = """([content, sentences, kind, share]) => {
  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0));
  const change = {cut: row => cutLargest(row, share), swap: row => swapLargest(row, share)}[kind];
  const translator = readTranslator(bytes.buffer);
  return sentences.map(words => translate(translator, words, change ? {change} : {}));
}"""


@cache
def sentences() -> list[tuple[list[str], list[str]]]:
    """The sentences that a page offers: English, and the grammar's Spanish."""
    lines = (FOLDER / FILES["sentences"]).read_text(encoding="utf-8").splitlines()
    return [(english.split(), spanish.split()) for english, spanish in
            (line.split("\t") for line in lines)]  # fmt: skip


def in_the_browser(
    browser: Browser, path: Path, english: Sequence[Sequence[str]], kind: str = "", share: float = 1
) -> list[dict[str, Any]]:
    """Translate with the script alone, outside of any page."""
    script = Path(live.__file__).with_name("seq2seq.js").read_text(encoding="utf-8")
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    with playable.alone(browser) as page:
        page.add_script_tag(content=script)
        found: list[dict[str, Any]] = page.evaluate(RUN, [content, english, kind, share])
    return found


def by_the_package(translator: Translator, english: Sequence[Sequence[str]]) -> list[Translation]:
    return translator.translate(english)


def farthest(found: Sequence[dict[str, Any]], wanted: Sequence[Translation]) -> float:
    """Return the largest difference of a weight, over the sentences that are the same."""
    differences = [
        np.abs(np.array(one["rows"]) - weights_of(other)).max(initial=0.0)
        for one, other in zip(found, wanted, strict=True)
        if tuple(one["written"]) == other.tokens and other.tokens
    ]
    return float(max(differences))


def weights_of(translation: Translation) -> NDArray[np.float32]:
    assert translation.weights is not None
    return np.asarray(translation.weights.numpy())


def same(found: Sequence[dict[str, Any]], wanted: Sequence[Translation]) -> float:
    """Return the share of sentences that are the same."""
    pairs = zip(found, wanted, strict=True)
    return float(np.mean([tuple(one["written"]) == other.tokens for one, other in pairs]))


# The computation


def test_with_float_weights_the_browser_computes_what_the_package_does(
    browser: Browser, tmp_path: Path
) -> None:
    translator, path = load_translator(UNROUNDED), tmp_path / "float.safetensors"
    save_translator(translator, path, bits=32, about={"gloss": []})
    english = [source for source, _ in sentences()]
    found, wanted = in_the_browser(browser, path, english), by_the_package(translator, english)
    assert same(found, wanted) == 1
    assert farthest(found, wanted) <= 1e-5


def test_eight_bits_change_hardly_a_sentence_and_hardly_a_weight(browser: Browser) -> None:
    english = [source for source, _ in sentences()]
    found = in_the_browser(browser, FOLDER / FILES["with"], english)
    wanted = by_the_package(load_translator(UNROUNDED), english)
    trained = [len(words) <= LIVE_TASK.max_length for words in english]
    assert sum(trained) >= 100
    assert same(found, wanted) >= 0.99
    assert farthest(list(compress(found, trained)), list(compress(wanted, trained))) <= 2e-2
    assert farthest(found, wanted) <= 1e-1, "longer sentences than it was trained on"


@pytest.mark.parametrize("name", ["with", "without"])
def test_python_and_the_browser_read_the_same_eight_bits(browser: Browser, name: str) -> None:
    english = [source for source, _ in sentences()[::2]] + [["the", "zebra", "sleeps"]]
    found = in_the_browser(browser, FOLDER / FILES[name], english)
    wanted = by_the_package(load_translator(FOLDER / FILES[name]), english)
    assert same(found, wanted) == 1
    if name == "with":
        assert farthest(found, wanted) <= 1e-5
    else:
        assert all(row is None for one in found for row in one["rows"])


class Changed(nn.Module):
    """Attention whose weights are changed before the memory is blended with them."""

    def __init__(self, attention: Any, kind: str, share: float) -> None:
        super().__init__()
        self.attention, self.kind, self.share = attention, kind, share

    def project(self, memory: Tensor) -> Tensor:
        projected: Tensor = self.attention.project(memory)
        return projected

    def forward(
        self, query: Tensor, keys: Tensor, memory: Tensor, **options: Any
    ) -> tuple[Tensor, Tensor]:
        _, weights = self.attention(query, keys, memory, **options)
        if self.kind == "cut":
            top = top_places(weights)[..., None]
            left = weights.scatter(-1, top, (1 - self.share) * weights.gather(-1, top))
            weights = left / left.sum(-1, keepdim=True)
        else:
            order = weights.argsort(-1, descending=True)
            other = order.clone()
            other[..., :2] = order[..., :2].flip(-1)
            swapped = weights.scatter(-1, order, weights.gather(-1, other))
            weights = (1 - self.share) * weights + self.share * swapped
        return attend(weights, memory), weights


@pytest.mark.parametrize("kind", ["cut", "swap"])
@pytest.mark.parametrize("share", [0.35, 0.95])
def test_changed_weights_are_read_as_the_package_would_read_them(
    browser: Browser, kind: str, share: float
) -> None:
    english = [source for source, _ in sentences()[::6]]
    found = in_the_browser(browser, FOLDER / FILES["with"], english, kind, share)
    translator = load_translator(FOLDER / FILES["with"])
    model: Any = translator.model
    plain = by_the_package(translator, english)
    model.attention = Changed(model.attention, kind, share)
    wanted = [translator.translate([words])[0] for words in english]
    assert same(found, wanted) == 1
    assert farthest(found, wanted) <= 1e-5
    if share > 0.5:
        assert same(found, plain) < 0.5, "the translator needs what it looks at"


def test_cut_to_the_end_a_weight_is_erased(browser: Browser) -> None:
    rows = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [1.0, 0.0, 0.0]], dtype=torch.float64)
    script = Path(live.__file__).with_name("seq2seq.js").read_text(encoding="utf-8")
    with playable.alone(browser) as page:
        page.add_script_tag(content=script)
        cut = page.evaluate("rows => rows.map(row => cutLargest(row, 1))", rows.tolist())
        swapped = page.evaluate("rows => rows.map(row => swapLargest(row, 1))", rows.tolist())
        alone_ = page.evaluate("swapLargest([1], 1)")
    np.testing.assert_allclose(cut, erased(rows, top_places(rows)), atol=1e-12)
    np.testing.assert_allclose(
        swapped, [[0.3, 0.5, 0.2], [0.8, 0.1, 0.1], [0.0, 1.0, 0.0]], atol=1e-12
    )
    assert alone_ == [1]


# The page


def spanish(page: Page, line: int = 0) -> list[str]:
    words = page.locator(".am-translator-line").nth(line).locator("ruby")
    return [str(word) for word in words.evaluate_all("all => all.map(e => e.firstChild.data)")]


def loaded(page: Page) -> None:
    page.get_by_role("button", name="Load the translator").click()
    page.get_by_label("English sentence").wait_for()


def compared(page: Page) -> Locator:
    return page.get_by_role("checkbox", name="Compare with the translator without attention")


def ask(page: Page, words: str) -> None:
    page.get_by_label("English sentence").fill(words)
    page.get_by_role("button", name="Translate", exact=True).click()


def rows_of(page: Page) -> dict[tuple[int, int], float]:
    """Return the weights of the ribbons, by the places of target and source word."""
    drawn = page.locator("path.rib").evaluate_all(
        "all => all.map(e => [e.dataset.amLink, Number(e.dataset.amValue)])"
    )
    return {tuple(map(int, link.split())): weight for link, weight in drawn}  # type: ignore[misc]


def embedded() -> Any:
    return live_translator(embedded=True)


@contextmanager
def on_a_site(browser: Browser, **options: Any) -> Iterator[tuple[Page, list[str]]]:
    """Open a page of a site in a folder; yield it, and the addresses of what it asks for."""
    context = browser.new_context(service_workers="block", **options)
    context.set_default_timeout(playable.PATIENCE)
    document = playable.document_of(live_translator()).replace(
        '<html lang="en">', '<html lang="en" data-content_root="../">'
    )
    document = document.replace("default-src 'none';", "default-src 'none'; connect-src 'self';")
    asked: list[str] = []

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path.removeprefix("/some/fork/")
        asked.append(path)
        stored = FOLDER / Path(path).name
        if path == "history/align.html":
            route.fulfill(body=document, content_type="text/html")
        elif path == f"_static/translator/{stored.name}" and stored.exists():
            route.fulfill(body=stored.read_bytes(), content_type="application/octet-stream")
        else:
            route.fulfill(status=404, body="")

    context.route("**/*", answer)
    page = context.new_page()
    page.goto("https://book.test/some/fork/history/align.html")
    yield page, asked
    context.close()


def test_without_scripts_the_picture_stays(browser: Browser) -> None:
    with playable.alone(browser, embedded(), java_script_enabled=False) as page:
        assert page.locator("button, input, select").count() == 0
        assert page.locator("svg").is_visible()
        assert spanish(page) == ["ella", "trabaja", "en", "la", "casa", "nueva"]
        assert page.locator(".am-live-state").is_visible()


def test_before_a_click_the_slider_writes_the_sentence_and_nothing_is_fetched(
    browser: Browser,
) -> None:
    with on_a_site(browser) as (page, asked):
        slider = page.get_by_role("slider", name="Words written")
        slider.focus()
        page.keyboard.press("Home")
        assert spanish(page) == []
        assert page.locator("path.rib").count() == 0
        page.keyboard.press("ArrowRight")
        assert spanish(page) == ["ella"]
        page.keyboard.press("End")
        assert spanish(page) == ["ella", "trabaja", "en", "la", "casa", "nueva"]
        data = live_translator().data
        drawn = rows_of(page)
        assert drawn == {
            (row, column): weight
            for row, line in enumerate(data["rows"])
            for column, weight in enumerate(line)
            if weight >= 0.02
        }
        assert asked == ["history/align.html"]


def test_a_click_says_what_it_fetches_and_fetches_it_from_the_site(browser: Browser) -> None:
    sizes = {name: said["bytes"] for name, said in live_translator().data["files"].items()}
    first = round((sizes["with"] + sizes["sentences"]) / 1000)
    with on_a_site(browser, **STILL) as (page, asked):
        button = page.get_by_role("button", name="Load the translator")
        assert f"({first} KB)" in button.inner_text()
        loaded(page)
        root = "_static/translator/"
        assert sorted(asked[1:]) == [root + FILES["sentences"], root + FILES["with"]]
        compare = compared(page)
        assert (
            compare.locator("..")
            .inner_text()
            .endswith(f"({round(sizes['without'] / 1000)} KB more)")
        )
        compare.check()
        page.locator(".am-translator-line").nth(1).wait_for()
        assert asked[3:] == [root + FILES["without"]]


def test_a_page_that_cannot_fetch_says_so_and_tries_again(browser: Browser) -> None:
    with on_a_site(browser) as (page, _):
        page.evaluate("document.documentElement.dataset.content_root = '../nowhere/'")
        page.get_by_role("button", name="Load the translator").click()
        page.get_by_text("could not be fetched").wait_for()
        page.evaluate("document.documentElement.dataset.content_root = '../'")
        loaded(page)


def test_in_a_notebook_a_line_says_how_to_get_the_controls(browser: Browser) -> None:
    with playable.alone(browser, live_translator()) as page:
        assert page.get_by_role("button").count() == 0
        assert page.get_by_text("live_translator(embedded=True)").is_visible()
        assert page.get_by_role("slider", name="Words written").is_visible()


def test_what_is_typed_is_translated_with_its_weights(browser: Browser) -> None:
    english, _ = sentences()[100]
    translator = load_translator(FOLDER / FILES["with"])
    (wanted,) = translator.translate([english])
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        ask(page, "  ".join(english).capitalize() + ".")
        assert tuple(spanish(page)) == wanted.tokens
        drawn = np.zeros((len(wanted.tokens), len(english)))
        for place, weight in rows_of(page).items():
            drawn[place] = weight
        np.testing.assert_allclose(drawn, weights_of(wanted), atol=0.02)
        assert playable.said(page).startswith(
            f"With attention: {' '.join(wanted.tokens)}, which is "
        )


def test_the_drawing_has_the_measures_of_the_static_one(browser: Browser) -> None:
    places = []
    for scripts in (False, True):
        with playable.alone(browser, embedded(), java_script_enabled=scripts) as page:
            if scripts:
                page.get_by_role("slider").focus()
                page.keyboard.press("Home")
                page.keyboard.press("End")
            places.append(page.locator("svg").evaluate(
                "e => [...e.querySelectorAll('text')].map(t => Number(t.getAttribute('x'))"
                " / e.viewBox.baseVal.width)"
            ))  # fmt: skip
    np.testing.assert_allclose(places[0], places[1], atol=0.03)


def test_words_are_written_one_after_another_unless_motion_is_unwanted(browser: Browser) -> None:
    with playable.alone(browser, embedded()) as page:
        loaded(page)
        page.clock.install(time=0)
        page.clock.pause_at(60)  # or it would go on while a busy machine looks
        ask(page, "the man sees the house")
        for count in range(1, 6):
            assert page.locator("ruby").count() == count
            assert playable.said(page).startswith("With attention") == (count == 5)
            page.clock.run_for(400)
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        ask(page, "the man sees the house")
        assert page.locator("ruby").count() == 5
        assert page.evaluate("document.getAnimations().length") == 0


def test_words_complete_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, embedded(), **STILL) as page:
        for _ in range(2):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        typed = page.get_by_label("English sentence")
        typed.wait_for()
        page.locator("input[type=text]:focus").wait_for()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("the hou")
        offers = page.get_by_role("group", name="Words that may come next").get_by_role("button")
        assert offers.all_inner_texts()[0] in ("house", "houses")
        page.keyboard.press("ArrowDown")
        while page.evaluate("document.activeElement.textContent") != "house":
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert typed.input_value() == "the house "
        assert typed.evaluate("e => e === document.activeElement")
        page.keyboard.type("sl")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        assert typed.evaluate("e => e === document.activeElement")
        page.keyboard.type("eeps")
        page.keyboard.press("Enter")
        translator = load_translator(FOLDER / FILES["with"])
        (wanted,) = translator.translate([["the", "house", "sleeps"]])
        assert tuple(spanish(page)) == wanted.tokens


def test_every_control_is_reached_by_keyboard(browser: Browser) -> None:
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        compared(page).check()
        page.locator(".am-translator-line").nth(1).wait_for()
        page.get_by_role("slider", name="Words written").focus()
        reached = set()
        for _ in range(20):
            reached.add(page.evaluate("document.activeElement.closest('label, button').innerText"))
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement === document.body"):
                break
        names = " ".join(reached)
        for name in ("Words written", "English sentence", "Translate", "Random sentence",
                     "Its length", "as learned", "cut the largest", "swap", "Compare",
                     "Translate all 300 sentences"):  # fmt: skip
            assert name in names


def test_unknown_words_and_none_are_told_and_not_translated(browser: Browser) -> None:
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        before = spanish(page)
        ask(page, "the zebra sleeps")
        assert "and not “zebra”" in playable.said(page)
        assert page.get_by_label("English sentence").get_attribute("aria-invalid") == "true"
        ask(page, " ")
        assert playable.said(page).startswith("Type an English sentence")
        assert page.get_by_label("English sentence").get_attribute("aria-invalid") == "false"
        ask(page, "the " * 41)
        assert "41 words" in playable.said(page)
        assert spanish(page) == before


def test_a_random_sentence_has_the_length_that_is_asked_for(browser: Browser) -> None:
    known = {" ".join(english): spanish for english, spanish in sentences()}
    lengths = {len(words.split()) for words in known}
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        slider = page.get_by_role("slider", name="Its length")
        seen = set()
        for key, wanted in (("Home", min(lengths)), ("End", max(lengths))):
            slider.press(key)
            for _ in range(3):
                page.get_by_role("button", name="Random sentence").click()
                words = page.get_by_label("English sentence").input_value()
                assert len(words.split()) == wanted
                seen.add(words)
                right = spanish(page) == known[words]
                assert ("which is right" in playable.said(page)) is right
        assert len(seen) >= 3


def test_changed_weights_change_the_ribbons_and_the_sentence(browser: Browser) -> None:
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        how_far = page.get_by_role("slider", name="How far")
        assert how_far.is_disabled()
        page.get_by_role("button", name="as learned").click()
        learned, words = rows_of(page), spanish(page)
        page.get_by_role("button", name="cut the largest").click()
        assert spanish(page) != words
        how_far.press("Home")
        assert spanish(page) == words
        assert rows_of(page) == pytest.approx(learned, abs=1e-12)
        page.get_by_role("button", name="swap the two largest").click()
        how_far.press("End")
        first = {place: weight for place, weight in rows_of(page).items() if place[0] == 0}
        before = {place: weight for place, weight in learned.items() if place[0] == 0}
        assert sorted(first.values()) == pytest.approx(sorted(before.values()), abs=1e-9)
        assert max(first, key=lambda place: first[place]) != max(
            before, key=lambda place: before[place]
        )


def test_both_translators_are_compared_by_length(browser: Browser) -> None:
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        compared(page).check()
        page.get_by_role("button", name="Translate all 300 sentences with both").click()
        page.get_by_text("Right with attention and without:").wait_for()
        lines = page.locator(".am-translator-counts tbody tr")
        shown = [[int(n) for n in playable.exact_all(line.locator("td"))] for line in lines.all()]
        wanted = []
        for low, high in BANDS:
            pairs = [pair for pair in sentences() if low <= len(pair[0]) <= high]
            wanted.append([counted_right(name, pairs) for name in ("with", "without")])
        assert shown == wanted
        (short, _), (long, _) = wanted[0], wanted[2]
        assert short - long < wanted[0][1] - wanted[2][1], "without attention, length hurts more"
        page.get_by_role("button", name="cut the largest").click()
        assert not lines.first.is_visible(), "what was counted before does not hold any more"


def counted_right(name: str, pairs: Sequence[tuple[list[str], list[str]]]) -> int:
    written = load_translator(FOLDER / FILES[name]).translate([source for source, _ in pairs])
    return sum(one.tokens == tuple(right) for one, (_, right) in zip(written, pairs, strict=True))


def test_wrong_words_are_marked_where_the_right_ones_are_known(browser: Browser) -> None:
    translator = load_translator(FOLDER / FILES["without"])
    english, right = next(
        (english, right)
        for english, right in sentences()
        if len(english) == 8 and translator.translate([english])[0].tokens != tuple(right)
    )
    with playable.alone(browser, embedded(), **STILL) as page:
        loaded(page)
        compared(page).check()
        ask(page, " ".join(english))
        line = page.locator(".am-translator-line").nth(1)
        marked = line.locator("ruby").evaluate_all(
            "all => all.map(e => [e.firstChild.data, e.classList.contains('am-translator-wrong')])"
        )
        kept, rest = [word for word, wrong in marked if not wrong], iter(right)
        assert all(word in rest for word in kept), "what is left stands in the right sentence"
        assert 0 < len(kept) < max(len(marked), len(right))
        assert line.inner_text().endswith("wrong")
        assert spanish(page, 2) == right


def test_a_phone_shows_all_and_its_targets_can_be_hit(browser: Browser) -> None:
    english = " ".join(sentences()[-1][0])
    with playable.alone(
        browser, embedded(), viewport=playable.SCREENS["phone"], has_touch=True, **STILL
    ) as page:
        page.get_by_role("button", name="Load the translator").tap()
        page.get_by_label("English sentence").wait_for()
        compared(page).tap()
        page.locator(".am-translator-line").nth(1).wait_for()
        page.get_by_role("button", name="Random sentence").tap()
        page.get_by_label("English sentence").fill(english)
        page.get_by_role("button", name="Translate", exact=True).tap()
        playable.fits_a_phone(page, "button:visible, input:visible")
        playable.letters_are_large(page.locator("svg text"), 15)
        page.get_by_label("English sentence").fill("the ")
        chip = page.get_by_role("group", name="Words that may come next").get_by_role("button")
        word = chip.first.inner_text()
        chip.first.tap()
        assert page.get_by_label("English sentence").input_value() == f"the {word} "


@playable.EVERY_VIEW
def test_axe_finds_nothing(browser: Browser, view: dict[str, Any]) -> None:
    with playable.alone(browser, embedded(), **STILL, **view) as page:
        loaded(page)
        compared(page).check()
        page.locator(".am-translator-line").nth(1).wait_for()
        ask(page, " ".join(sentences()[-1][0]))
        page.get_by_role("button", name="Translate all 300 sentences with both").click()
        playable.axe_finds_nothing(page)


def test_two_stay_apart_and_leave_nothing_behind(browser: Browser) -> None:
    with playable.alone(browser) as page:
        before = page.evaluate("Object.keys(window)")
    with playable.alone(browser, embedded(), embedded(), **STILL) as page:
        assert page.evaluate("Object.keys(window)") == before
        assert page.locator("[data-am-live] [id]").count() == 0
        first, second = page.locator(".am-translator").all()
        slider_of(second).press("Home")
        assert first.locator("ruby").count() == 6
        assert second.locator("ruby").count() == 0


def slider_of(root: Locator) -> Locator:
    return root.get_by_role("slider", name="Words written")
