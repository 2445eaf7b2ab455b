"""What folds on the screen: on paper it lies open, or it is left out."""

from book_site.solutions import PAGE
from bs4 import Tag
from bs4.element import AttributeValueList

from book_print.volumes import Volume

_ON_SCREEN = (
    "script, template, iframe, button:not(.guess-option), .guess-said, .headerlink, "
    ".toctree-wrapper, .run-here"
)
# Code, what stands behind a finding, the last run, and what a drawing keeps for who types.
_FOLDED = "details.hide, details.m-how, .am-run, .am-play details"
_SHORT = 14  # lines of code that stay together


def leave_out(article: Tag, name: str, volume: Volume) -> None:
    """Take away what is only for the screen, and what this volume does not show.

    Solutions stand in chapters of their own.
    """
    for part in article.select(_ON_SCREEN if volume.everything else f"{_ON_SCREEN}, {_FOLDED}"):
        part.decompose()
    for summary in article.select("details.hide > summary"):
        summary.decompose()
    if not name.startswith(PAGE):
        for solution in article.select(".solution"):
            solution.decompose()


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
