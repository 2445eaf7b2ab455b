"""What the pages show in their cells: findings, claims, tested source, glossed sentences."""

from companion.pages.notebook.beside import Beside, beside
from companion.pages.notebook.box import MeasuredBox, measured
from companion.pages.notebook.claims import ClaimsTable, claims_table
from companion.pages.notebook.gloss import Gloss, gloss, gloss_pair
from companion.pages.notebook.seed import page_seed
from companion.pages.notebook.source import Source, show_source
from companion.pages.studies import load_result

__all__ = [
    "Beside", "ClaimsTable", "Gloss", "MeasuredBox", "Source", "beside", "claims_table", "gloss",
    "gloss_pair", "load_result", "measured", "page_seed", "show_source",
]  # fmt: skip
