"""The timeline in Python: its data, its sources, the picture without a script, the list."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from bookkit.figures import (
    TimelineStep,
    attention_timeline,
    timeline_list,
    timeline_steps,
)
from bookkit.playables.timeline import KINDS

BOOK = Path(__file__).parents[3] / "book"
STEPS = timeline_steps()
BY_KEY = pytest.mark.parametrize("step", STEPS, ids=[step.key for step in STEPS])
PLACE = re.compile(
    r"(and )?(sections?|equations?|algorithm|appendix) "
    r"[A-Z\d.]+((,| and| to) [\d.]+)*( for [\w ]+|, on [\w ]+)?(, |$)"
)


def entry(key: str) -> dict[str, str]:
    """Return the fields of an entry of the bibliography."""
    text = (BOOK / "references.bib").read_text(encoding="utf8")
    found = re.search(rf"^@\w+\{{{key},\n(.*?)\n\}}", text, re.MULTILINE | re.DOTALL)
    assert found, f"{key} is not in the bibliography"
    return dict(re.findall(r"^  (\w+) = \{(.*)\},$", found[1], re.MULTILINE))


def drawing() -> Tag:
    found = BeautifulSoup(attention_timeline()._repr_html_(), "html.parser").figure
    assert found is not None
    return found


def test_the_line_goes_from_2013_to_2026_in_order() -> None:
    dates = [step.date for step in STEPS]
    assert dates == sorted(dates)
    assert all(re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", date) for date in dates)
    assert (STEPS[0].year, STEPS[-1].year) == (2013, 2026)
    assert {step.year for step in STEPS} == set(range(2013, 2027))
    for field in ("key", "name", "url"):
        assert len({getattr(step, field) for step in STEPS}) == len(STEPS), field


@BY_KEY
def test_a_step_has_its_source_in_the_bibliography(step: TimelineStep) -> None:
    fields = entry(step.key)
    assert fields["url"] == step.url
    surnames = [
        re.sub(r"\{\\.(\w)\}", r"\1", name.split(",")[0].strip("{}"))
        for name in fields["author"].split(" and ")
    ]
    wanted = {
        1: surnames[0],
        2: " and ".join(surnames[:2]),
    }.get(len(surnames), f"{surnames[0]} et al.")
    assert step.by == wanted
    if match := re.search(r"abs/(\d\d)(\d\d)\.", step.url):
        published = f"20{match[1]}-{match[2]}"
        # A number that is given in the last night of a month, or a report before its preprint.
        assert step.date == published or step.key in {"peng2023", "deepseek2026"}


@BY_KEY
def test_a_step_is_told_in_sentences(step: TimelineStep) -> None:
    assert step.kinds
    assert step.kinds == tuple(kind for kind in KINDS if kind in step.kinds)
    for said in (step.kept, step.changed):
        assert re.fullmatch(r"[A-Z][^.!?]*\.", said), said
        assert 5 <= len(said.split()) <= 35, said
    assert len(step.name) <= 28
    assert PLACE.sub("", step.where) == ""


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ("section 5.1, equations 46 to 51", ""),
        ("section 3.3, on reading backwards", ""),
        ("section 3.1, and appendix A.1.2 for the score", ""),
        ("somewhere in section 3", "somewhere in "),
        ("page", "page"),
    ],
)
def test_a_place_is_a_section_or_an_equation(where: str, left: str) -> None:
    assert PLACE.sub("", where) == left


def test_every_step_has_a_dot_on_each_of_its_lines() -> None:
    lanes = drawing().select(".am-timeline-lane")
    assert [lane["data-am-kind"] for lane in lanes] == list(KINDS)
    for lane in lanes:
        kind = str(lane["data-am-kind"])
        dots = lane.select("circle")
        numbers = [int(str(dot["data-am-step"])) for dot in dots]
        assert numbers == [n for n, step in enumerate(STEPS) if kind in step.kinds]
        assert [dot.get_text() for dot in dots] == [STEPS[n].name for n in numbers]
        places = [(float(str(dot["cx"])), float(str(dot["cy"]))) for dot in dots]
        assert [x for x, _ in places] == sorted(x for x, _ in places)
        for one, (x, y) in enumerate(places):
            for other_x, other_y in places[:one]:
                assert (x - other_x) ** 2 + (y - other_y) ** 2 >= 8.4**2


def test_dots_stand_in_their_year() -> None:
    figure = drawing()
    rules = [float(str(line["x1"])) for line in figure.select(".am-timeline-rule")]
    assert len(rules) == 15
    for dot in figure.select("circle"):
        year = STEPS[int(str(dot["data-am-step"]))].year
        assert rules[year - 2013] <= float(str(dot["cx"])) <= rules[year - 2012]


def test_all_names_are_there_without_a_script() -> None:
    figure = drawing()
    for row in figure.select(".am-timeline-year"):
        number, names = row.select_one(".am-timeline-number"), row.select(".am-timeline-step")
        assert number is not None
        wanted = [step.name for step in STEPS if str(step.year) == number.get_text()]
        assert [name.get_text() for name in names] == wanted
    assert len(figure.select(".am-timeline-step")) == len(STEPS)
    state = figure.select_one(".am-live-state")
    assert state is not None
    assert state.get_text() == "All steps are shown."
    static = str(figure.select_one(".am-live-drawing"))
    assert not re.search(r"style=|<button| id=| on\w+=", static)


def test_the_words_count_the_steps() -> None:
    said = repr(attention_timeline())
    assert said.startswith(f"Timeline of attention. {len(STEPS)} steps from 2013 to 2026: ")
    counts = dict(re.findall(r"(\d+) changed the (\w+)", said))
    assert {kind: int(number) for number, kind in counts.items()} == {
        kind: len([step for step in STEPS if kind in step.kinds]) for kind in KINDS
    }


def test_the_script_gets_every_word() -> None:
    figure = drawing()
    found = figure.select_one("script[type='application/json']")
    assert found is not None
    data = json.loads(found.get_text())
    assert data["kinds"] == KINDS
    assert [step["changed"] for step in data["steps"]] == [step.changed for step in STEPS]
    assert data["steps"][0]["month"] == "August 2013"


def test_the_same_call_gives_the_same_bytes() -> None:
    page = attention_timeline()._repr_html_()
    assert page == attention_timeline()._repr_html_()
    assert len(page.encode()) < 60_000


def test_the_list_tells_every_step_with_its_source() -> None:
    shown = timeline_list()
    assert len(repr(shown).splitlines()) == len(STEPS)
    parts = BeautifulSoup(shown._repr_html_(), "html.parser").select("dl > div")
    assert len(parts) == len(STEPS)
    for step, part in zip(STEPS, parts, strict=True):
        link, term = part.a, part.dt
        assert link is not None
        assert term is not None
        assert (link["href"], link.get_text()) == (step.url, step.by)
        assert term.get_text() == f"{step.month}: {step.name}"
        words = part.get_text()
        assert step.kept in words
        assert step.changed in words
        assert step.where in words
        assert f"Changed ({', '.join(step.kinds)}): " in words


def test_the_lesson_or_its_evidence_cites_every_step() -> None:
    names = ("timeline", "timeline_evidence")
    texts = [(BOOK / "history" / f"{name}.ipynb").read_text(encoding="utf8") for name in names]
    cells = [cell for text in texts for cell in json.loads(text)["cells"]]
    text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    cited = set(re.findall(r"\{cite:[tp]\}`(\w+)`", text))
    assert {step.key for step in STEPS} - cited == set()
