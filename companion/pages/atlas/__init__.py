"""The atlas of today's attention for its pages: the record, its words, its drawings."""

from companion.pages.atlas.rows import Atlas, AtlasRow, Missing, Parity, load_atlas, read_atlas

__all__ = ["Atlas", "AtlasRow", "Missing", "Parity", "load_atlas", "read_atlas"]
