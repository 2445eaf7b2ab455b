"""The calculator in Chromium: every model and every config.json as the package counts them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bookkit.figures import LiveOutput, calculator, cost_of
from bookkit.playables.calculator import LENGTHS, in_words
from companion.cost import token_cost
from companion.models.atlas import ModelSpec, read_config
from experiments.atlas.check import default_config, toy_config
from experiments.atlas.record import stored_spec
from experiments.atlas.rows import ROWS
from tests.book import playable

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

SPECS = {row.name: stored_spec(row)[0] for row in ROWS}
WHOLE = [row for row in ROWS if not stored_spec(row)[1]]  # whose class has all sizes by default
PASTED = [
    *(default_config(row).to_dict() for row in WHOLE),
    *(toy_config(row).to_dict() for row in ROWS),
]


def output(**options: Any) -> LiveOutput:
    models = [cost_of(name, name.title(), spec) for name, spec in SPECS.items()]
    return calculator(models, shown="qwen3", **options)


def shown(page: Page) -> tuple[int, int, int]:
    """Read what is kept, and the operations and weights of a token."""
    token = page.locator(".am-calculator-token")
    return (
        int(page.locator(".am-calculator-finding").get_attribute("data-am-value") or -1),
        int(token.get_attribute("data-am-value") or -1),
        int(token.get_attribute("data-am-weights") or -1),
    )


def counted(spec: ModelSpec, length: int, batch_size: int = 1, itemsize: int = 2) -> Any:
    cost = token_cost(spec, length, batch_size=batch_size, itemsize=itemsize)
    return cost.bytes, cost.operations, cost.weights


# Choose a model, or paste a file, and move the sliders as a reader would; all in one go.
_ASK = """([given, settings]) => {
  const one = name => document.querySelector(name);
  const move = (which, to) => {
    const range = document.querySelectorAll("input[type=range]")[which];
    range.value = to;
    range.dispatchEvent(new Event("input"));
  };
  if (typeof given === "number") {
    one("select").selectedIndex = given;
    one("select").dispatchEvent(new Event("change"));
  } else {
    one("textarea").value = given;
    one(".am-calculator-paste button").click();
  }
  const fault = one(".am-calculator-fault").textContent;
  return settings.map(([length, texts, precision]) => {
    move(0, length);
    move(1, texts);
    document.querySelectorAll(".am-live-choice button")[precision].click();
    const token = one(".am-calculator-token").dataset;
    return [fault, one(".am-calculator-finding").dataset.amValue, token.amValue, token.amWeights];
  });
}"""
SETTINGS = [(0, 0, 1), (8, 3, 0), (len(LENGTHS) - 1, 8, 2)]  # length, texts, precision


def answers(page: Page, given: int | str) -> list[Any]:
    said = page.evaluate(_ASK, [given, SETTINGS])
    assert [fault for fault, *_ in said] == [""] * len(SETTINGS), given
    return [tuple(map(int, numbers)) for _, *numbers in said]


def wanted(spec: ModelSpec) -> list[Any]:
    return [
        counted(spec, LENGTHS[length], 2**texts, (4, 2, 1)[precision])
        for length, texts, precision in SETTINGS
    ]


def test_every_model_is_counted_as_the_package_counts_it(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        for at, (name, spec) in enumerate(SPECS.items()):
            assert answers(page, at) == wanted(spec), name


def test_every_pasted_file_is_counted_as_the_package_counts_it(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        for fields in PASTED:
            assert answers(page, json.dumps(fields)) == wanted(read_config(fields)), fields


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "This is no JSON"),
        ('{"model_type": "mamba"}', 'model_type is "mamba", and this reads only'),
        ('{"model_type": "qwen3", "num_hidden_layers": 2}', "The file has no num_attention_heads"),
    ],
)
def test_a_file_that_cannot_be_read_says_why_and_changes_nothing(
    browser: Browser, text: str, said: str
) -> None:
    with playable.alone(browser, output()) as page:
        before = shown(page)
        page.locator("summary").click()
        page.locator("textarea").fill(text)
        page.get_by_role("button", name="Read it").click()
        assert said in page.locator(".am-calculator-fault").inner_text()
        assert shown(page) == before


def test_the_keyboard_reaches_everything(browser: Browser) -> None:
    with playable.alone(browser, output()) as page:
        before = shown(page)
        page.locator("input[type=range]").first.focus()
        page.keyboard.press("ArrowRight")
        assert shown(page)[0] == 2 * before[0]
        page.locator("select").focus()
        page.keyboard.press("ArrowDown")
        assert shown(page) != before


def test_without_a_script_the_point_is_made(browser: Browser) -> None:
    with playable.alone(browser, output(), java_script_enabled=False) as page:
        kept = SPECS["qwen3"].state_bytes(32_768)
        assert in_words(kept) in page.locator(".am-calculator-finding").inner_text()
        assert in_words(kept) in page.locator("td").last.inner_text()


test_everyone_can_use_it = playable.axe_test(lambda: output(caption="What a model keeps."))


def test_it_fits_a_phone(browser: Browser) -> None:
    with playable.on_a_phone(browser, output(), targets="input, select") as page:
        page.locator("summary").click()
        playable.fits_a_phone(page, targets="button, input, select, summary")
