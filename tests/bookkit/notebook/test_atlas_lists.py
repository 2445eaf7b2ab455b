"""The lists and tables of the atlas pages."""

import re
from dataclasses import replace
from typing import Any

from bookkit.atlas.rows import Atlas, load_atlas
from bookkit.notebook.atlas import disagreements
from bookkit.notebook.mixers import DEFINITIONS, mixer_code
from companion.models.atlas.model import MIXERS

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


def test_every_kind_of_mixer_shows_its_code_and_its_definition() -> None:
    kinds = {type(layer.mixer) for row in ATLAS.rows for layer in row.spec.layers if layer.mixer}
    code = mixer_code()
    assert len(code.sources) == len(kinds)
    for kind in kinds:
        (title,) = [name for name in code.sources if name.endswith(f": {kind.__name__}")]
        assert re.search(r"def (forward|mix)\(", repr(code.sources[title]))
    assert {kind.__name__ for kind in MIXERS} >= DEFINITIONS.keys()
    assert str(code).count("def scaled_dot_product_attention(") == 1
