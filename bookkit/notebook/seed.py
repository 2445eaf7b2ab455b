"""The seed of a page's live runs, which a test can shift without touching the page."""

import os


def page_seed(base: int = 0) -> int:
    """Return `base` plus the whole number in the environment variable BOOK_SEED_SHIFT.

    A page must come out right for other seeds, too; the shift, 0 where nothing is set, asks it to.

    >>> page_seed(3) - page_seed()
    3
    """
    if type(base) is not int:
        raise TypeError(f"base: got {type(base).__name__}, wanted int")
    shift = os.environ.get("BOOK_SEED_SHIFT", "0")
    try:
        return base + int(shift)
    except ValueError:
        raise ValueError(f"BOOK_SEED_SHIFT: got {shift!r}, wanted a whole number") from None
