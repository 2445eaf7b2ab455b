"""The bug museum: mistakes that raise no error, each beside what is right and a check that tells.

`EXHIBITS` has them by name, in the order of the rooms. The broken variants are written for this
collection: short, and wrong on purpose.
"""

from companion.museum.caches import CACHES
from companion.museum.exhibit import Exhibit
from companion.museum.looking import LOOKING
from companion.museum.masks import MASKS
from companion.museum.norms import NORMS
from companion.museum.padding import PADDING
from companion.museum.positions import POSITIONS
from companion.museum.rows import ROWS
from companion.museum.scoring import SCORING
from companion.museum.shapes import SHAPES

EXHIBITS = {
    exhibit.name: exhibit
    for room in (MASKS, LOOKING, PADDING, NORMS, POSITIONS, CACHES, ROWS, SHAPES, SCORING)
    for exhibit in room
}
"""All exhibits by name."""

__all__ = ["EXHIBITS", "Exhibit"]
