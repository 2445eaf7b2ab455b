"""A key that leads all others, in a text of two keys or a million."""

from collections.abc import Sequence

from bookkit.playables.playable import Playable, playable

COUNTS = tuple(
    count
    for power in range(7)
    for tenths in (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
    if 2 <= (count := tenths * 10**power // 10) <= 1_000_000 and (tenths * 10**power) % 10 == 0
)
"""How many keys a text can have, and how many of them can be read."""


def needle_hay(
    heads: Sequence[tuple[str, float, Sequence[tuple[int, float]]]] = (),
    *,
    n: int = 150,
    lead: float = 5.0,
    k: int = 50,
    caption: str = "",
) -> Playable:
    """Show the weight of one key whose score leads all others by the same number.

    A reader changes the number of keys and the lead, adds needles of the same score, and lets only
    the best keys be read. If the k best do not hold all needles, chance decides which are read, and
    the weight shown is the mean.

    Args:
        heads: of a real model, for each its name, its lead, and keys and weight where it was
            measured.
        n: how many keys the text has to begin with, one of `COUNTS`.
        lead: by how much the needle leads, 0 to 16.
        k: how many keys are read, once only the best are, one of `COUNTS`.

    >>> needle_hay(n=150, lead=5.0)
    A needle in the hay: a drawing to play with.
    """
    return playable(
        "needle-hay",
        "A needle in the hay",
        caption=caption,
        counts=COUNTS,
        heads=[
            {"name": name, "lead": own, "dots": [list(dot) for dot in dots]}
            for name, own, dots in heads
        ],
        n=COUNTS.index(n),
        lead=lead,
        k=COUNTS.index(k) + 1,
    )
