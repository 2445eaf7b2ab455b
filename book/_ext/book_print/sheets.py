"""On which sheet of a PDF its anchors are, read from what Chromium writes: no library is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator

_BRANCH = re.compile(rb"(\d+) 0 obj\s*<<\s*/Type /Pages\b(.*?)endobj", re.DOTALL)
_OBJECT = re.compile(rb"(?:^|\s)(\d+) 0 obj\b(.*?)endobj", re.DOTALL)
_ANCHOR = re.compile(rb"/([^\s/\[\]<>()]+)\s*\[(\d+) 0 R")


def sheets(pdf: bytes) -> dict[str, int]:
    """Return the number of the sheet, from 1, for every anchor in a PDF that a link leads to.

    Args:
        pdf: a file of Chromium's: its objects lie open, only their streams are packed.
    """
    named = re.search(rb"/Dests (\d+) 0 R", pdf)
    anchors = objects(pdf).get(int(named[1]), b"") if named else b""
    order = {sheet: number for number, sheet in enumerate(sheet_numbers(pdf), start=1)}
    return {
        _plain(name): order[int(sheet)]
        for name, sheet in _ANCHOR.findall(anchors)
        if int(sheet) in order
    }


def objects(pdf: bytes) -> dict[int, bytes]:
    """Return the objects of a PDF by their numbers."""
    return {int(number): body for number, body in _OBJECT.findall(pdf)}


def sheet_numbers(pdf: bytes) -> Iterator[int]:
    """Yield the objects that are sheets, in their order."""
    branches = {int(number): body for number, body in _BRANCH.findall(pdf)}
    root = next((one for one, body in branches.items() if b"/Parent" not in body), None)

    def leaves(number: int) -> Iterator[int]:
        if number not in branches:
            yield number
            return
        kids = re.search(rb"/Kids\s*\[(.*?)\]", branches[number], re.DOTALL)
        for kid in re.findall(rb"(\d+) 0 R", kids[1] if kids else b""):
            yield from leaves(int(kid))

    return leaves(root) if root is not None else iter(())


def _plain(name: bytes) -> str:
    r"""Return a name of a PDF as it was before it was written there.

    >>> _plain(b"mathematics#2Fscores")
    'mathematics/scores'
    """
    return re.sub(rb"#([0-9A-F]{2})", lambda sign: bytes([int(sign[1], 16)]), name).decode()
