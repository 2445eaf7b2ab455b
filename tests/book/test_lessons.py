"""Every lesson has the shape of one, as far as its parts can be counted.

A page is a lesson if its metadata say so and name its evidence, a page in the same folder:
`"lesson": {"evidence": "align_evidence"}`. How long it is and how much code it shows is a matter of
taste, of which `python -m tools.prose` warns.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml

from bookkit.contents import PARTS, Part, stops
from bookkit.records import load_result
from experiments.tools.fold import FOLDS, OUTPUTS
from tests.book.test_notebooks import ROOT, Page, pages, read, text

BEFORE = re.compile(r"^\W*(?:Before this lesson|You can start here)\b.*(?:\n.+)*", re.MULTILINE)
MEASURED = re.compile(r'lesson\.measured\("(\w+)/([\w/]+)"\)')
STRESSED = re.compile(r"\*\*(?=\S)[^*\n]*(?:\{glue:|\d)[^*\n]*(?<=\S)\*\*")
PLUMBING = re.compile(r"doc=False|masked_softmax|merge_attention|alibi_bias")
TABLE = re.compile(r"^\|\s*Claim\s*\|\s*Number\s*\|\s*Verdict\s*\|\s*Section\s*\|", re.MULTILINE)


def markdown(cell: Page) -> str:
    return text(cell["source"]) if cell["cell_type"] == "markdown" else ""


def html(cell: Page) -> Iterator[str]:
    """Yield what a cell of code shows as HTML."""
    tags = cell["metadata"].get("tags", ())
    if not any(OUTPUTS in FOLDS.get(tag, ()) for tag in tags):
        for output in cell.get("outputs", ()):
            yield text(output.get("data", {}).get("text/html", ""))


def can_be_touched(page: Page, _evidence: str) -> Iterator[str]:
    for cell in page["cells"]:
        if "## Exercises" in markdown(cell):
            break
        if any("data-play=" in shown for shown in html(cell)):
            return
    yield "nothing to touch before the exercises"


def says_what_to_have_read(page: Page, _evidence: str) -> Iterator[str]:
    opening = "\n".join(map(markdown, page["cells"])).partition("\n## ")[0]
    line = BEFORE.search(opening)
    if not line or not ("](" in line[0] or "nothing" in line[0]):
        yield 'no line "Before this lesson, ..." that has a link, or says that nothing is needed'


def links_its_evidence(page: Page, evidence: str) -> Iterator[str]:
    link = re.compile(rf"\]\({re.escape(evidence)}(?:\.\w+)?(?:#[^)]*)?\)")
    for number, cell in enumerate(page["cells"]):
        if cell["cell_type"] == "code" and "measured(" in text(cell["source"]):
            above = markdown(page["cells"][number - 1]).strip().rpartition("\n\n")[2]
            below = [markdown(one) for one in page["cells"][number + 1 : number + 2]]
            if not any(link.search(part) for part in (above, *below)):
                yield f"cell {cell.get('id')}: no link to {evidence} beside the result"


def asks_with_buttons(page: Page, _evidence: str) -> Iterator[str]:
    for cell in page["cells"]:
        if "**Guess first" in markdown(cell):
            yield f"cell {cell.get('id')}: a guess without buttons, wanted the directive `guess`"


def stresses_no_number(page: Page, _evidence: str) -> Iterator[str]:
    for cell in page["cells"]:
        for found in STRESSED.findall(markdown(cell)):
            yield f"cell {cell.get('id')}: {found} in bold"


def prints_no_plumbing(page: Page, _evidence: str) -> Iterator[str]:
    for cell in page["cells"]:
        if "show_source(" in (code := text(cell["source"])) and PLUMBING.search(code):
            yield f"cell {cell.get('id')}: lines that a reader is told to ignore"


def measures_two_things_at_most(page: Page, _evidence: str) -> Iterator[str]:
    """No box of a lesson leaves a question open, and one that compares shows what it compares."""
    code = "\n".join(text(cell["source"]) for cell in page["cells"] if cell["cell_type"] == "code")
    boxes = MEASURED.findall(code)
    if len(boxes) > 2:
        yield f"{len(boxes)} boxes, wanted two at most"
    for study, name in boxes:
        claim = load_result(study).claim(name)
        if claim.verdict == "undecided":
            yield f"the box {study}/{name} says that we cannot tell"
        number = claims_of(study)[name]["number"]
        compares = re.fullmatch(r"[\w/.-]+ - [\w/.-]+|distance\(.*\)", number)
        if compares and not (claim.finding and claim.finding.sides):
            yield f"the box {study}/{name} compares two numbers and shows neither"


@cache
def claims_of(study: str) -> dict[str, Page]:
    file = ROOT / "experiments" / study / "claims.yaml"
    claims: dict[str, Page] = yaml.safe_load(file.read_text(encoding="utf-8"))["claims"]
    return claims


RULES = (
    can_be_touched, says_what_to_have_read, links_its_evidence, asks_with_buttons,
    stresses_no_number, prints_no_plumbing, measures_two_things_at_most,
)  # fmt: skip


def opens_with_a_table(evidence: Page) -> bool:
    """Tell whether a page of evidence has its table of claims before the first section."""
    for cell in evidence["cells"]:
        opening, section, _ = f"\n{markdown(cell)}".partition("\n## ")
        if TABLE.search(opening) or any("am-claims" in shown for shown in html(cell)):
            return True
        if section:
            break
    return False


LESSONS = {
    name: page["metadata"]["lesson"]["evidence"]
    for name in pages()
    if "lesson" in (page := read(name))["metadata"]
}
EVIDENCE = {name: name.rpartition("/")[0] + f"/{one}.ipynb" for name, one in LESSONS.items()}


def test_every_lesson_has_the_shape_of_one() -> None:
    faults = [
        f"{name}: {rule.__name__}: {problem}"
        for name, evidence in LESSONS.items()
        for rule in RULES
        for problem in rule(read(name), evidence)
    ]
    assert faults == []


def test_every_evidence_opens_with_its_claims() -> None:
    assert [name for name in EVIDENCE.values() if not opens_with_a_table(read(name))] == []


# The reading map, and the table of contents


def pages_below(chapter: dict[str, Any]) -> list[str]:
    return [page["file"] for page in chapter.get("sections", ()) if "file" in page]


def listed() -> dict[str, list[tuple[str, list[str]]]]:
    """Return, for every part of `_toc.yml`, its chapters, each with the pages below it."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf8"))
    return {
        part["caption"]: [
            (one["file"], [page for page in pages_below(one) if page.endswith("_evidence")])
            for one in part["chapters"]
        ]
        for part in toc["parts"]
    }


def shown(part: Part) -> list[tuple[str, list[str]]]:
    """Return the pages of a part of the reading map, without their suffixes."""
    name = re.compile(r"\.\w+$")
    return [
        (name.sub("", stop.page), [name.sub("", stop.evidence_page)] if stop.evidence else [])
        for stop in part.stops
    ]


def test_the_map_has_the_pages_of_the_table_of_contents_with_evidence_below_lessons() -> None:
    assert [(part.name, shown(part)) for part in PARTS] == list(listed().items())
    pairs = {chapter: below for part in listed().values() for chapter, below in part}
    for name, evidence in LESSONS.items():
        page = name.removeprefix("book/").removesuffix(".ipynb")
        assert f"{page.rpartition('/')[0]}/{evidence}" in pairs[page], name


def test_a_stop_is_called_as_its_page_is() -> None:
    for stop in stops():
        path = ROOT / "book" / stop.page
        if stop.page != "appendices/api.md":  # the page is called after the package
            source = path.read_text(encoding="utf8")
            if path.suffix == ".ipynb":
                source = text(json.loads(source)["cells"][0]["source"])
            assert re.findall(r"(?m)^# (.+)", source)[0] == stop.title
