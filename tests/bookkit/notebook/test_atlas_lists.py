"""The lists and tables of the atlas pages."""

from dataclasses import replace
from typing import Any

from bookkit.atlas.rows import Atlas, load_atlas
from bookkit.notebook.atlas import disagreements

ATLAS = load_atlas()


def changed(**parity: Any) -> Atlas:
    """Return an atlas whose first row gave something else."""
    first = ATLAS.rows[0]
    row = replace(first, parity=replace(first.parity, **parity))
    return replace(ATLAS, rows=(row, *ATLAS.rows[1:]))


def test_a_reference_that_differs_from_itself_is_listed() -> None:
    before = [line[0] for line in disagreements().lines]
    found = disagreements(changed(reference_cached=0.2)).lines
    assert (ATLAS.rows[0].name, "0.2") in [line[:2] for line in found]
    assert ATLAS.rows[0].name not in before
