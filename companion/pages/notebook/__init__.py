"""What the pages show in their cells: findings, claims, tested source, glossed sentences."""

from companion.pages.notebook.atlas import (
    AtlasList,
    CensusTable,
    MissingList,
    census_table,
    disagreements,
    missing_list,
    parity_table,
)
from companion.pages.notebook.beside import Beside, beside
from companion.pages.notebook.box import MeasuredBox, measured
from companion.pages.notebook.claims import ClaimsTable, claims_table
from companion.pages.notebook.gloss import Gloss, gloss, gloss_pair
from companion.pages.notebook.mixers import MixerCode, mixer_code
from companion.pages.notebook.seed import page_seed
from companion.pages.notebook.source import Source, show_source
from companion.pages.studies import load_result

__all__ = [
    "AtlasList", "Beside", "CensusTable", "ClaimsTable", "Gloss", "MeasuredBox", "MissingList",
    "MixerCode", "Source", "beside", "census_table", "claims_table", "disagreements", "gloss",
    "gloss_pair", "load_result", "measured", "missing_list", "mixer_code", "page_seed",
    "parity_table", "show_source",
]  # fmt: skip
