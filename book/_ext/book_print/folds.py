"""What folds on the screen: on paper it lies open, or it is left out."""

from collections.abc import Sequence

from book_site.solutions import PAGE, section_id
from bs4 import Tag
from bs4.element import AttributeValueList

from book_print.links import element, full_id, in_words
from book_print.volumes import Volume

_ON_SCREEN = (
    "script, template, iframe, button:not(.guess-option), .guess-said, .headerlink, "
    ".toctree-wrapper, .sd-stretched-link, .run-here"
)
_FOLDED = "details.hide, details.m-how, .am-run"  # code, what stands behind a finding, the last run
# Tables of many sheets, in which nobody reads on.
_LOOKED_UP = 'figure:is([data-play="register"], [data-play="atlas"])'
_SHORT = 24  # lines of code that stay together


def leave_out(article: Tag, name: str, volume: Volume, others: Sequence[Volume] = ()) -> None:
    """Take away what is only for the screen, and what this volume does not show.

    Solutions stand in chapters of their own, which have those of the volume. A table to look things
    up in stands in one volume, and a page that stands in both refers to it.
    """
    for part in article.select(_ON_SCREEN if volume.everything else f"{_ON_SCREEN}, {_FOLDED}"):
        part.decompose()
    for summary in article.select("details.hide > summary"):
        summary.decompose()
    for other in others:
        if other.everything and other.holds(name):
            for table in article.select(_LOOKED_UP):
                table.replace_with(_reference(table, name, other))
    mine = {section_id(chapter.name) for chapter in volume.chapters}
    for part in article.select('section[id^="solutions-"]' if PAGE in name else ".solution"):
        if part.get("id") not in mine:
            part.decompose()


def _reference(table: Tag, name: str, volume: Volume) -> Tag:
    section = table.find_parent("section", id=True)
    place = in_words(volume, full_id(name, str(section["id"]) if section else ""))
    return element(f"<p>The table is printed in the {place}.</p>")


def unfold(article: Tag) -> None:
    """Show what a reader would open, and what stands there for a script's work."""
    for part in article.select("noscript"):
        part.unwrap()
    for part in article.select("details"):
        part.name = "div"
        part.attrs.pop("open", None)
        for summary in part.find_all("summary", recursive=False):
            summary.name = "div"
            summary["class"] = AttributeValueList(["am-summary"])
    for option in article.select("button.guess-option"):
        option.name = "span"
    for part in article.select(".dropdown, .toggle"):
        kept = [one for one in part["class"] if one not in ("dropdown", "toggle")]
        part["class"] = AttributeValueList(kept)
    for code in article.select("pre"):
        if code.get_text().count("\n") <= _SHORT:
            code["class"] = AttributeValueList((*(code.get("class") or ()), "am-whole"))
