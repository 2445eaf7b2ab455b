"""The bug museum: mistakes that raise no error, each beside what is right and a check that tells.

`EXHIBITS` has them by name, in the order of the rooms. The broken variants are written for this
collection: short, and wrong on purpose.
"""

from bookkit.museum.caches import CACHES
from bookkit.museum.exhibit import Exhibit
from bookkit.museum.groups import GROUPS
from bookkit.museum.indexers import INDEXERS
from bookkit.museum.looking import LOOKING
from bookkit.museum.masks import MASKS
from bookkit.museum.norms import NORMS
from bookkit.museum.padding import PADDING
from bookkit.museum.positions import POSITIONS
from bookkit.museum.rows import ROWS
from bookkit.museum.scoring import SCORING
from bookkit.museum.shapes import SHAPES
from bookkit.museum.sinks import SINKS
from bookkit.museum.states import STATES

OLD_WING = MASKS, LOOKING, PADDING, NORMS, POSITIONS, CACHES, ROWS, SHAPES, SCORING  # fmt: skip
TODAY = (SINKS, GROUPS, INDEXERS, STATES)
"""Mistakes in what models have had since about 2023."""

EXHIBITS = {one.name: one for room in OLD_WING + TODAY for one in room}
"""All exhibits by name."""

__all__ = ["EXHIBITS", "Exhibit"]
