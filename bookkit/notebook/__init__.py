"""What the pages show in their cells: findings, claims, tested source, glossed sentences."""

from bookkit.notebook.beside import Beside, beside
from bookkit.notebook.box import MeasuredBox, measured
from bookkit.notebook.claims import ClaimsTable, claims_table
from bookkit.notebook.gloss import Gloss, gloss
from bookkit.notebook.machines import Timings, gpu_readings, machines, timings
from bookkit.notebook.seed import page_seed
from bookkit.notebook.source import Source, show_source
from bookkit.notebook.trained import trained
from bookkit.records import load_result

__all__ = [
    "Beside", "ClaimsTable", "Gloss", "MeasuredBox", "Source", "Timings", "beside", "claims_table",
    "gloss", "gpu_readings", "load_result", "machines", "measured", "page_seed", "show_source",
    "timings", "trained",
]  # fmt: skip
