"""What the pages show in their cells: measured claims, tested source, seeds that can be shifted."""

from companion.pages.notebook.box import MeasuredBox, measured
from companion.pages.notebook.seed import page_seed
from companion.pages.notebook.source import Source, show_source
from companion.pages.studies import load_result

__all__ = ["MeasuredBox", "Source", "load_result", "measured", "page_seed", "show_source"]
