"""The register of claims as a table that the reader can filter."""

import posixpath
from collections.abc import Iterable

from bookkit.contents import page_titles
from bookkit.notebook.verdicts import VERDICTS
from bookkit.playables.playable import Playable, playable
from bookkit.records import format_interval, format_number
from bookkit.records.register import Entry, families

_WITHDRAWN = "✕ withdrawn"
_OPEN = [said for verdict, said in VERDICTS.items() if verdict not in ("fails", "holds")]
_VERDICTS = (VERDICTS["fails"], _WITHDRAWN, *_OPEN, VERDICTS["holds"])
"""What a claim can be, in the order of the rows: first what failed."""
_SORTS = ("hypothesis", "check", "demonstration")
_TITLES = {
    "verdict": "Verdict", "planned": "Made", "page": "Page", "sort": "Kind", "origin": "Source",
}  # fmt: skip
"""By what rows can be chosen; the first three are columns, too."""


def claims_register(entries: Iterable[Entry]) -> Playable:
    """Show claims as a table with the number, unit, verdict and page of each, ten rows at a time.

    What failed comes first, then what was withdrawn and what is undecided. Claims that ask the same
    after another training or with other seeds share a row. On paper the whole table is there.

    Args:
        entries: the claims.

    >>> from bookkit.records.register import register
    >>> claims_register(register({"bottleneck": "history/bottleneck.ipynb"}))
    The register of claims: a drawing to play with.
    """
    gathered = [sorted(one, key=lambda e: (_order(e), len(e.key))) for one in families(entries)]
    rows = sorted(gathered, key=lambda row: _order(row[0]))
    if not rows:
        raise ValueError("entries: got none, wanted at least one claim")
    said = [[_values(one) for one in row] for row in rows]
    columns = {
        name: list(dict.fromkeys(one[name] for row in said for one in row)) for name in _TITLES
    }
    columns["verdict"].sort(key=_VERDICTS.index)
    columns["page"].sort(key=list(page_titles().values()).index)
    places = [
        [
            list(dict.fromkeys(names.index(one[name]) for one in row))
            for name, names in columns.items()
        ]
        for row in said
    ]
    return playable(
        "register",
        "The register of claims",
        columns=[
            {"name": name, "title": _TITLES[name], "values": values}
            for name, values in columns.items()
        ],
        rows=[_row(row) | {"values": one} for row, one in zip(rows, places, strict=True)],
    )


def _order(entry: Entry) -> tuple[int, int]:
    """Put what failed first, and hypotheses before other claims."""
    return _VERDICTS.index(_values(entry)["verdict"]), _SORTS.index(entry.claim.sort)


def _values(entry: Entry) -> dict[str, str]:
    """Return, for each column, the value by which a row can be filtered."""
    return {
        "verdict": _WITHDRAWN if entry.withdrawn else VERDICTS[entry.verdict],
        "planned": entry.claim.planned,
        "page": page_titles()[entry.page],
        "sort": entry.claim.sort,
        "origin": entry.claim.origin,
    }


def _row(family: list[Entry]) -> dict[str, object]:
    """Return a row: its first claim, what else there is to say of it, and the other claims."""
    entry, *others = family
    claim = entry.claim
    notes = [
        f"{one.claim.claim} {one.claim}: {VERDICTS[one.verdict][2:]}, {one.claim.planned}."
        for one in others
    ]
    if entry.withdrawn:
        notes.insert(0, f"When it was withdrawn, its verdict was: {VERDICTS[entry.verdict][2:]}.")
    return {
        "claim": claim.claim,
        "number": format_number(claim.mean, claim.digits),
        "interval": format_interval(claim.interval, claim.digits),
        "claimed": f"claimed {claim.claimed}",
        "unit": claim.unit or "–",
        "notes": notes,
        "address": posixpath.relpath(entry.page, "start"),
    }
