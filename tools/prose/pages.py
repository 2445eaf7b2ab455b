"""The pages of the book, as the warnings read them."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
Page = dict[str, Any]


@cache
def pages() -> dict[str, Page]:
    """Return the notebooks that `_toc.yml` names, by their paths within the book."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf8")
    names = [f"{name}.ipynb" for name in re.findall(r"(?m)^[\s-]*(?:root|file): (\S+)", toc)]
    return {n: json.loads((BOOK / n).read_text("utf8")) for n in names if (BOOK / n).exists()}


def said(cell: Page) -> str:
    """Return what a cell says, if it is text."""
    return "".join(cell["source"]) if cell["cell_type"] == "markdown" else ""


def prose(page: Page) -> str:
    """Return the text of a page."""
    return "\n\n".join(filter(None, map(said, page["cells"])))


def before_exercises(page: Page) -> Iterator[Page]:
    """Yield the cells of a page up to its exercises."""
    for cell in page["cells"]:
        before, exercises, _ = f"\n{said(cell)}".partition("\n## Exercises")
        yield cell if cell["cell_type"] == "code" else cell | {"source": before}
        if exercises:
            break
