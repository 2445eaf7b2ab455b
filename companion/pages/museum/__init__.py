"""The bug museum: mistakes that raise no error, each beside what is right and a check that tells.

`EXHIBITS` has them by name, in the order of the rooms. The broken variants are written for this
collection: short, and wrong on purpose.
"""

from companion.pages.museum.caches import CACHES
from companion.pages.museum.exhibit import Exhibit
from companion.pages.museum.groups import GROUPS
from companion.pages.museum.indexers import INDEXERS
from companion.pages.museum.looking import LOOKING
from companion.pages.museum.masks import MASKS
from companion.pages.museum.norms import NORMS
from companion.pages.museum.padding import PADDING
from companion.pages.museum.positions import POSITIONS
from companion.pages.museum.rows import ROWS
from companion.pages.museum.scoring import SCORING
from companion.pages.museum.shapes import SHAPES
from companion.pages.museum.sinks import SINKS
from companion.pages.museum.states import STATES

OLD_WING = (MASKS, LOOKING, PADDING, NORMS, POSITIONS, CACHES, ROWS, SHAPES, SCORING)
TODAY = (SINKS, GROUPS, INDEXERS, STATES)
"""Mistakes in what models have had since about 2023."""

EXHIBITS = {exhibit.name: exhibit for room in OLD_WING + TODAY for exhibit in room}
"""All exhibits by name."""

__all__ = ["EXHIBITS", "Exhibit"]
