"""No page says of its runs and claims what the labels of these claims deny."""

import re

from bookkit.records.register import register
from tests.book.test_notebooks import markdown, read

DENIED = re.compile(
    r"\b(?:run|ran|trained|measured),? once\b|\bno threshold (?:was )?(?:changed|moved)\b"
    r"|\b(?:claims?|settings|protocol)\b.*\bbefore (?:\w+ ){1,4}?(?:runs?|ran)\b"
    r"|\bbefore (?:anybody|anything) (?:had|was)\b"
)
# What a sentence says of some claims, or of an earlier study, it says with one of these words.
LIMITED = re.compile(r"\b(?:again|added|after|between|but|first|later|new|only|these|those)\b")


def test_no_page_says_that_its_claims_came_first_if_they_did_not() -> None:
    labels: dict[str, set[str]] = {"start/measure.ipynb": set(), "start/register.ipynb": set()}
    for entry in register():
        labels.setdefault(entry.page, set()).add(entry.claim.planned)
    denied = [
        f"{page}: {sentence}"
        for page, made in labels.items()
        if made != {"before the runs"}
        for sentence in re.split(r"(?<=[.?!:*]) ", " ".join(markdown(read(f"book/{page}")).split()))
        if DENIED.search(sentence.lower()) and not LIMITED.search(sentence.lower())
    ]
    assert denied == []
