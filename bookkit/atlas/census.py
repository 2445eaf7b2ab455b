"""How many architectures of each year have what: counts over the rows of the atlas."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from bookkit.atlas.rows import Atlas, load_atlas
from bookkit.atlas.words import MARKS, marks

PLAIN = "nothing"
"""What architectures without a mark are said to have beside plain attention."""

WORDS: Mapping[str, str] = {
    PLAIN: "Every layer is full: it reads all earlier tokens and keeps their keys and values, which"
    " grow in proportion to the text; none of the other words applies.",
    **MARKS,
}
"""What each word means that is counted: a sentence."""


@dataclass(frozen=True)
class Census:
    """Counts by year."""

    years: tuple[int, ...]  # in which an architecture is stamped, ascending
    rows: Mapping[int, int]  # number of architectures by year
    # By mark, and `PLAIN`, the number of architectures that have it by year
    has: Mapping[str, Mapping[int, int]]

    def share(self, mark: str, year: int) -> float:
        """Return which share of a year's architectures has a mark."""
        return self.has[mark][year] / self.rows[year]


def census(atlas: Atlas | None = None) -> Census:
    """Count the rows of the atlas, which are not a random sample of the world's models.

    >>> counted = census()
    >>> sum(counted.rows.values()) == len(load_atlas().rows)
    True
    """
    atlas = load_atlas() if atlas is None else atlas
    found = [(row.year, marks(row.spec) or {PLAIN}) for row in atlas.rows]
    years = tuple(sorted({year for year, _ in found}))
    has = {
        mark: {year: sum(mark in those for then, those in found if then == year) for year in years}
        for mark in (PLAIN, *MARKS)
    }
    return Census(years, Counter(year for year, _ in found), has)
