"""The timeline: its data, its sources, its rows in Node, the list."""

import json
import re
from collections.abc import Callable
from pathlib import Path

from bookkit.figures import attention_timeline, timeline_steps
from bookkit.playables.timeline import KINDS, MAIN, TimelineStep
from tests.bookkit.bibliography import authors, entry
from tests.bookkit.playables.node import ask

BOOK = Path(__file__).parents[3] / "book"
STEPS = timeline_steps()


def test_the_line_goes_from_2013_to_2026_in_order() -> None:
    dates = [step.date for step in STEPS]
    assert dates == sorted(dates)
    assert all(re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", date) for date in dates)
    assert (STEPS[0].year, STEPS[-1].year) == (2013, 2026)
    assert {step.year for step in STEPS} == set(range(2013, 2027))
    for field in ("key", "name", "url"):
        assert len({getattr(step, field) for step in STEPS}) == len(STEPS), field


def test_every_step_has_its_source_in_the_bibliography() -> None:
    for step in STEPS:
        has_its_source(step)


def has_its_source(step: TimelineStep) -> None:
    assert entry(step.key)["url"] == step.url
    assert authors(step.key) == step.by
    if match := re.search(r"abs/(\d\d)(\d\d)\.", step.url):
        published = f"20{match[1]}-{match[2]}"
        # A number that is given in the last night of a month, or a version before the preprint.
        earlier = {"peng2023", "deepseek2025", "lahoti2026", "deepseek2026"}
        assert step.date == published or step.key in earlier


def test_every_step_has_its_name_and_a_dot_for_everything_that_it_changed() -> None:
    made = attention_timeline()
    shown = ask(made, *({"thread": thread} for thread in range(len(KINDS) + 2)))
    chosen: list[Callable[[TimelineStep], object]] = [
        lambda step: step.key in MAIN,
        *(lambda step, kind=kind: kind in step.kinds for kind in KINDS),
        bool,
    ]
    for rows, wanted in zip(shown, chosen, strict=True):
        places = [place for place, step in enumerate(STEPS) if wanted(step)]
        assert [row["place"] for row in rows] == places
        for row, step in zip(rows, (STEPS[place] for place in places), strict=True):
            assert row["changed"] == [kind in step.kinds for kind in KINDS]
            assert row["year"] == step.year
    assert {step.key for step in STEPS} >= MAIN


def test_the_lesson_or_its_evidence_cites_every_step() -> None:
    names = ("timeline", "timeline_evidence")
    texts = [(BOOK / "today" / f"{name}.ipynb").read_text(encoding="utf8") for name in names]
    cells = [cell for text in texts for cell in json.loads(text)["cells"]]
    text = "".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    cited = set(re.findall(r"\{cite:[tp]\}`(\w+)`", text))
    assert {step.key for step in STEPS} - cited == set()
