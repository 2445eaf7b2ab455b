"""The note in a page on its run: it is there after `stamp`, and nothing else has changed."""

from __future__ import annotations

import json
from pathlib import Path

from experiments.tools import stamp

PAGE = """{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "title",
   "metadata": {},
   "source": [
    "# ¿Dónde? “Aquí”"
   ]
  }
 ],
 "metadata": {
  "language_info": {
   "name": "python"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
"""


def test_a_stamp_is_all_that_changes(tmp_path: Path) -> None:
    path = tmp_path / "page.ipynb"
    path.write_text(PAGE, encoding="utf-8")
    before = path.read_text(encoding="utf-8").splitlines()
    run = {"date": "2026-11-02", "versions": {"python": "3.11.7"}}
    stamp.stamp(path, run)
    after = path.read_text(encoding="utf-8").splitlines()
    # The line before the new one gets a comma.
    assert [line for line in before if line not in after and f"{line}," not in after] == []
    page = json.loads("\n".join(after))
    assert page["metadata"] == {"am": {"run": run}, "language_info": {"name": "python"}}
    assert list(page["metadata"]) == ["am", "language_info"]  # as every other program writes it
    assert page["cells"] == json.loads(PAGE)["cells"]
