"""The register of claims as a table that the reader can filter."""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bookkit.contents import page_titles
from bookkit.playables.playable import Playable, playable
from bookkit.records import format_interval, format_number, with_unit
from bookkit.records.register import Entry

_VERDICTS = {"holds": "● holds", "fails": "○ does not hold"}


class _Column(NamedTuple):
    """A column of the table by which rows can be chosen.

    Attributes:
        name: of the attribute that tells a row's value, and of its cells.
        title: what its head says, and its list of choices.
    """

    name: str
    title: str


_VERDICT, _PAGE = _Column("verdict", "Verdict"), _Column("page", "Page")
_CODE = _Column("code", "Code")
_HISTORY = (
    _Column("sort", "Kind"), _Column("origin", "Source"), _Column("planned", "Planned"), _CODE,
)  # fmt: skip


def claims_register(
    entries: Iterable[Entry],
    *,
    here: str = "start/measure.ipynb",
    titles: Mapping[str, str] | None = None,
    label: str = "The register of claims",
    caption: str = "",
) -> Playable:
    """Show claims as a table with the number, verdict, history and page of each.

    Without scripts the whole table is there. With them the reader chooses rows by verdict, page
    and what else the records tell apart, and by words of the sentence.

    Args:
        entries: the claims, in the order of the table.
        here: the page on which it stands, from which its links are relative.
        titles: what each page is called; by default as on the reading map.
        label: what is shown, in a few words.
        caption: the words below.

    Raises:
        ValueError: there is no claim, one comes twice, or a page has no title.

    >>> from bookkit.records.register import register
    >>> claims_register(register({"bottleneck": "history/bottleneck.ipynb"}))
    The register of claims: a drawing to play with.
    """
    rows = list(entries)
    names = page_titles() if titles is None else titles
    _check(rows, names)
    # A column that tells no two rows apart is left out.
    told = [column for column in _HISTORY if len({_value(row, column) for row in rows}) > 1]
    columns = [_VERDICT, *told, _PAGE]
    values = [_values(column, rows) for column in columns]
    return playable(
        "register",
        label,
        caption=caption,
        columns=[
            {
                "name": column.name,
                "title": column.title,
                "values": [_words(value, column, names) for value in those],
            }
            for column, those in zip(columns, values, strict=True)
        ],
        rows=[
            _row(row, here)
            | {
                "values": [
                    those.index(_value(row, column))
                    for column, those in zip(columns, values, strict=True)
                ]
            }
            for row in rows
        ],
    )


def _check(rows: Sequence[Entry], names: Mapping[str, str]) -> None:
    if not rows:
        raise ValueError("entries: got none, wanted at least one claim")
    keys = [row.key for row in rows]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"entries: got {', '.join(twice)} twice, wanted every claim once")
    nameless = sorted({row.page for row in rows} - names.keys())
    if nameless:
        raise ValueError(f"titles: got none for {', '.join(nameless)}, wanted one for every page")


def _value(row: Entry, column: _Column) -> str:
    """Return what a row is chosen by."""
    if column is _VERDICT:
        return row.verdict
    if column is _PAGE:
        return row.page
    if column is _CODE:
        return "named" if row.study.code["of"] == "code" else "not named"
    return str(getattr(row.claim, column.name))


def _words(value: str, column: _Column, names: Mapping[str, str]) -> str:
    """Return how a value is shown."""
    if column is _VERDICT:
        return _VERDICTS.get(value, f"◐ {value}")
    return names[value] if column is _PAGE else value


def _values(column: _Column, rows: Sequence[Entry]) -> list[str]:
    """Return what the rows can be chosen by; pages stay in the order of the book."""
    values = list(dict.fromkeys(_value(row, column) for row in rows))
    return values if column is _PAGE else sorted(values)


def _row(row: Entry, here: str) -> dict[str, str]:
    digits = row.claim.digits
    interval = format_interval(row.claim.interval, digits)
    return {
        "claim": row.claim.claim,
        "number": with_unit(format_number(row.claim.mean, digits), row.claim.unit),
        "more": f"{interval}, claimed {row.claim.claimed}",
        "address": posixpath.relpath(row.page, posixpath.dirname(here)),
    }
