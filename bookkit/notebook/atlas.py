"""What the atlas says in lists and tables: how each row compares, and what is missing."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from html import escape
from itertools import groupby

from bookkit.atlas.census import PLAIN, Census, census
from bookkit.atlas.rows import SAME, Atlas, AtlasRow, Missing, load_atlas


class AtlasList:
    """Lines as a table; a notebook cell that ends with it shows them.

    Attributes:
        name: the class of the table, without the book's prefix.
        head: what its columns are called.
        lines: of words, one for each column.
    """

    def __init__(self, name: str, head: tuple[str, ...], lines: Sequence[tuple[str, ...]]) -> None:
        self.name, self.head, self.lines = name, head, lines

    def __repr__(self) -> str:
        return "\n".join("  ".join(line) for line in (self.head, *self.lines))

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(words)}</th>' for words in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(first)}</th>'
            + "".join(f"<td>{escape(words)}</td>" for words in others)
            + "</tr>"
            for first, *others in self.lines
        )
        return (
            f'<table class="table am-{self.name}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table>"
        )


def parity_table(atlas: Atlas | None = None) -> AtlasList:
    """Return how every architecture compares with its reference.

    >>> parity_table().head[0]
    'Architecture'
    """
    atlas = load_atlas() if atlas is None else atlas
    head = ("Architecture", "Largest logit", "Ours − reference", "Leak", "Cached − whole", "Bytes")
    return AtlasList("parity", head, [_parity(row) for row in atlas.rows])


def _parity(row: AtlasRow) -> tuple[str, ...]:
    gave = row.parity
    alike = gave.bytes == gave.reference_bytes
    return (
        f"{row.name} ({row.model_type})",
        f"{gave.size:g}",
        _small(gave.difference),
        _small(gave.leak),
        _small(gave.cached),
        f"{gave.bytes:,}" if alike else f"{gave.bytes:,}; reference {gave.reference_bytes:,}",
    )


def _small(number: float) -> str:
    """Write a difference that was rounded up to one digit.

    >>> _small(5e-06), _small(0.0), _small(0.2)
    ('0.000005', '0', '0.2')
    """
    return f"{Decimal(repr(number)).normalize():f}"


def disagreements(atlas: Atlas | None = None) -> AtlasList:
    """Return the architectures whose reference differs from itself, and by how much.

    >>> disagreements().head
    ('Architecture', 'Reference, cached − whole', 'Reference, leak')
    """
    atlas = load_atlas() if atlas is None else atlas
    lines = [
        (row.name, _small(row.parity.reference_cached), _small(row.parity.reference_leak))
        for row in atlas.rows
        if max(row.parity.reference_cached, row.parity.reference_leak) > SAME
    ]
    head = ("Architecture", "Reference, cached − whole", "Reference, leak")
    return AtlasList("disagree", head, lines or [("none", "", "")])


class CensusTable:
    """Counts by year as a table with bars; a notebook cell that ends with it shows it."""

    def __init__(self, counted: Census) -> None:
        self.counted = counted

    def __repr__(self) -> str:
        lines = [f"{mark}: {', '.join(self._told(mark))}" for mark in self._marks()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        years = "".join(
            f'<th scope="col">{year}<br><small>of {self.counted.rows[year]}</small></th>'
            for year in self.counted.years
        )
        body = "".join(self._line(mark) for mark in self._marks())
        return (
            f"<style>{_CENSUS_STYLE}</style>"
            f'<table class="table am-counted"><thead><tr><th scope="col">Has</th>{years}</tr>'
            f"</thead><tbody>{body}</tbody></table>"
        )

    def _marks(self) -> list[str]:
        return [mark for mark, years in self.counted.has.items() if any(years.values())]

    def _told(self, mark: str) -> Iterator[str]:
        for year in self.counted.years:
            yield f"{year} {self.counted.has[mark][year]} of {self.counted.rows[year]}"

    def _line(self, mark: str) -> str:
        cells = "".join(
            f"<td>{self.counted.has[mark][year]}{_bar(self.counted.share(mark, year))}</td>"
            for year in self.counted.years
        )
        name = f"{mark} beside attention" if mark == PLAIN else mark
        return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def _bar(share: float) -> str:
    """Draw a share as a bar below its number."""
    width = 40 * share
    return (
        '<svg viewBox="0 0 40 6" aria-hidden="true"><path class="am-bar-all" d="M0 5.5h40"/>'
        f'<path class="am-bar" d="M0 3h{width:.1f}"/></svg>'
    )


_CENSUS_STYLE = (
    ".am-counted svg{display:block;width:2.5rem;height:.4rem}"
    ".am-counted .am-bar{stroke:var(--am-petrol,#1d6571);stroke-width:5;fill:none}"
    ".am-counted .am-bar-all{stroke:var(--am-hair,#d3dbe0);stroke-width:1;fill:none}"
)


def census_table(atlas: Atlas | None = None) -> CensusTable:
    """Return how many architectures of each year have what.

    >>> str(census_table()).partition(":")[0]
    'nothing'
    """
    return CensusTable(census(atlas))


class MissingList:
    """The architectures of the library that are no rows; a cell that ends with it lists them.

    A name comes once: kinds that share it stand together, and what is known of one of them is said
    of all.
    """

    def __init__(self, missing: tuple[Missing, ...]) -> None:
        self.missing = missing

    def __repr__(self) -> str:
        known = [f"{name} ({types}): {reason}" for name, types, reason in self._known()]
        return "\n".join([*known, *(f"{year}: {names}" for year, names in self._by_year())])

    def _repr_html_(self) -> str:
        known = "".join(
            f"<li><strong>{escape(name)}</strong> ({escape(types)}): {escape(reason)}</li>"
            for name, types, reason in self._known()
        )
        rest = "".join(
            f"<dt>{escape(year)}</dt><dd>{escape(names)}</dd>" for year, names in self._by_year()
        )
        reasons = f"<ul>{known}</ul>" if known else ""
        return f'{reasons}<dl class="am-missing">{rest}</dl>'

    def _known(self) -> Iterator[tuple[str, str, str]]:
        """Yield the names that have a reason, each with its kinds and with the reason."""
        for name, members in groupby(self.missing, key=lambda one: one.name):
            kinds = list(members)
            if reasons := [one.reason for one in kinds if one.reason]:
                yield name, ", ".join(one.model_type for one in kinds), " ".join(reasons)

    def _by_year(self) -> Iterator[tuple[str, str]]:
        """Yield the years from the last to the first, each with the names that have no reason."""
        known = {name for name, _, _ in self._known()}
        rest = [one for one in self.missing if one.name not in known]
        rest.sort(key=lambda one: (-(one.year or 0), one.name.lower()))
        for year, members in groupby(rest, key=lambda one: one.year):
            names = dict.fromkeys(one.name for one in members)
            yield str(year or "no year"), ", ".join(names)


def missing_list(atlas: Atlas | None = None) -> MissingList:
    """Return the library's architectures that are no rows, with the reason where we know it.

    >>> len(missing_list().missing) > 50
    True
    """
    return MissingList((load_atlas() if atlas is None else atlas).missing)
