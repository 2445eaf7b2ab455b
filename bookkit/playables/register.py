"""The register of claims as a table that the reader can filter."""

import posixpath
from collections.abc import Iterable

from bookkit.contents import page_titles
from bookkit.notebook.verdicts import VERDICTS
from bookkit.playables.playable import Playable, playable
from bookkit.records import format_interval, format_number, with_unit
from bookkit.records.register import Entry

_TITLES = {
    "verdict": "Verdict", "sort": "Kind", "origin": "Source", "planned": "Planned", "code": "Code",
    "page": "Page",
}  # fmt: skip
"""The columns by which rows can be chosen."""


def claims_register(entries: Iterable[Entry], *, here: str = "start/measure.ipynb") -> Playable:
    """Show claims as a table with the number, verdict, history and page of each.

    Without scripts the whole table is there. With them the reader chooses rows by verdict, page
    and what else the records tell apart, and by words of the sentence.

    Args:
        entries: the claims, in the order of the table.
        here: the page on which it stands, from which its links are relative.

    >>> from bookkit.records.register import register
    >>> claims_register(register({"bottleneck": "history/bottleneck.ipynb"}))
    The register of claims: a drawing to play with.
    """
    rows = [(entry, _values(entry)) for entry in entries]
    if not rows:
        raise ValueError("entries: got none, wanted at least one claim")
    columns = {name: list(dict.fromkeys(values[name] for _, values in rows)) for name in _TITLES}
    for name in _TITLES.keys() - {"page"}:  # pages stay in the order of the book
        columns[name].sort()
        if name != "verdict" and len(columns[name]) == 1:  # it tells no two rows apart
            del columns[name]
    return playable(
        "register",
        "The register of claims",
        columns=[
            {"name": name, "title": _TITLES[name], "values": values}
            for name, values in columns.items()
        ],
        rows=[
            _row(entry, here) | {"values": [columns[name].index(values[name]) for name in columns]}
            for entry, values in rows
        ],
    )


def _values(entry: Entry) -> dict[str, str]:
    """Return, for each column, the value by which a row can be filtered."""
    return {
        "verdict": VERDICTS[entry.verdict],
        "sort": entry.claim.sort,
        "origin": entry.claim.origin,
        "planned": entry.claim.planned,
        "code": "named" if entry.study.code["of"] == "code" else "not named",
        "page": page_titles()[entry.page],
    }


def _row(entry: Entry, here: str) -> dict[str, str]:
    claim = entry.claim
    return {
        "claim": claim.claim,
        "number": with_unit(format_number(claim.mean, claim.digits), claim.unit),
        "more": f"{format_interval(claim.interval, claim.digits)}, claimed {claim.claimed}",
        "address": posixpath.relpath(entry.page, posixpath.dirname(here)),
    }
