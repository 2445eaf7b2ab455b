"""The register's table without a script: one row a claim, links that lead on, what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.playables.register import claims_register
from bookkit.records.register import Entry, register

SMALL = register({"bottleneck": "history/bottleneck.ipynb", "scores": "mathematics/scores.ipynb"})


def drawn(entries: list[Entry], **options: Any) -> Tag:
    page = BeautifulSoup(claims_register(entries, **options)._repr_html_(), "html.parser")
    assert page.figure is not None
    return page.figure


def data(figure: Tag) -> Any:
    script = figure.find("script", type="application/json")
    assert script is not None
    return json.loads(script.get_text())


def told_as(entry: Entry, **history: Any) -> Entry:
    """Return a claim that comes from elsewhere, of a record that names its code."""
    study = replace(entry.study, code={**entry.study.code, "of": "code"})
    return replace(entry, study=study, claim=replace(entry.claim, **history))


def test_every_claim_is_a_row_with_its_number_and_verdict() -> None:
    rows = drawn(SMALL).select("tbody tr")
    assert len(rows) == len(SMALL)
    for row, entry in zip(rows, SMALL, strict=True):
        said = row.get_text(" ")
        assert entry.claim.claim in said
        assert f"{entry.claim:number}" in said
        assert f"claimed {entry.claim.claimed}" in said
        assert row["data-am-verdict"] == entry.verdict


def test_the_whole_book_is_in_it() -> None:
    figure = drawn(register())
    assert len(figure.select("tbody tr")) == len(register())
    heads = [head.get_text() for head in figure.select("thead th")]
    assert heads[:3] == ["Claim", "Measured", "Verdict"]
    assert heads[-1] == "Page"


def test_a_row_leads_to_the_page_that_shows_it() -> None:
    links = drawn(SMALL).select("tbody a")
    pages = [str(link["href"]) for link in links]
    assert pages == [f"../{entry.page}" for entry in SMALL]
    assert links[0].get_text() == "The bottleneck"
    near = drawn(SMALL, here="history/timeline.ipynb").select("tbody a")
    assert near[0]["href"] == "bottleneck.ipynb"


def test_columns_that_tell_nothing_apart_are_left_out() -> None:
    alike = {"sort": "hypothesis", "origin": "ours", "source": "", "planned": "before the runs"}
    silent = [told_as(entry, **alike) for entry in SMALL]
    assert [one["name"] for one in data(drawn(silent))["filters"]] == ["verdict", "page"]
    changed = {"sort": "check", "origin": "paper", "planned": "added later"}
    told = [told_as(silent[0], **changed), *silent[1:]]
    filters = data(drawn(told))["filters"]
    assert [one["name"] for one in filters] == ["verdict", "sort", "origin", "planned", "page"]
    assert filters[2]["words"] == ["ours", "paper"]
    cells = drawn(told).select("tbody tr")[0].select(".am-register-origin")
    assert [cell.get_text() for cell in cells] == ["paper"]


def test_choices_are_those_of_the_rows() -> None:
    figure = drawn(SMALL)
    for one in data(figure)["filters"]:
        found = {str(row[f"data-am-{one['name']}"]) for row in figure.select("tbody tr")}
        assert found == set(one["values"])
        assert len(one["words"]) == len(one["values"])


def test_as_text_it_counts() -> None:
    said = repr(claims_register(SMALL))
    assert said.startswith(f"The register of claims. {len(SMALL)} claims on 2 pages: ")
    numbers = [int(word) for word in said.partition("pages: ")[2].split() if word.isdigit()]
    assert sum(numbers) == len(SMALL)


def test_a_sentence_cannot_leave_its_place() -> None:
    nasty = replace(SMALL[0], claim=replace(SMALL[0].claim, claim="<b onclick=alert(1)>\"'&"))
    assert not drawn([nasty]).select(".am-register-claim b")
    assert "&lt;b onclick" in claims_register([nasty])._repr_html_()


def test_the_same_call_gives_the_same_bytes() -> None:
    assert claims_register(SMALL)._repr_html_() == claims_register(iter(SMALL))._repr_html_()


@pytest.mark.parametrize(
    ("entries", "hint"),
    [
        ([], "at least one claim"),
        ([SMALL[0], SMALL[0]], "bottleneck/additive_or_dot twice"),
        ([replace(SMALL[0], page="nowhere.ipynb")], r"titles: got none for nowhere\.ipynb"),
    ],
)
def test_what_cannot_be_shown_is_refused(entries: list[Entry], hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        claims_register(entries)
