"""A small corpus, and what it is counted with."""

from collections import defaultdict

from companion.data.pairs import Pair

PAIRS = [
    Pair(("the", "house"), ("la", "casa")),
    Pair(("the", "red", "house"), ("la", "casa", "roja")),
    Pair(("the", "house", "and", "the", "book"), ("la", "casa", "y", "el")),
    Pair(("book",), ("el", "libro")),
    Pair(("the", "book"), ("el", "libro")),  # as long as the first: both are counted at once
]
Table = dict[tuple[str, str], float]


def shares_of_sources(counts: Table) -> Table:
    """Divide the counts of links by those of their source words."""
    totals: dict[str, float] = defaultdict(float)
    for (source, _), count in counts.items():
        totals[source] += count
    return {(source, target): n / totals[source] for (source, target), n in counts.items()}
