"""The pages are HTML as the standard has it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from book_site.node import find_node

from tests.book.built import EXTENSIONS, Page

PROGRAM = EXTENSIONS / "node_modules" / "html-validate" / "bin" / "html-validate.mjs"
CONFIG = {
    "root": True,
    "extends": ["html-validate:standard"],
    # An output that must look right in a notebook, too, brings its style sheet along, in the body.
    "elements": ["html5", {"style": {"flow": True, "phrasing": True, "metadata": True}}],
}


def faults(pages: list[Path], config: Path) -> list[str]:
    """Return what html-validate finds in some files."""
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    command: list[str | Path] = [
        find_node(),
        PROGRAM,
        "--config",
        config,
        "--formatter",
        "json",
        *pages,
    ]
    report = config.with_name("report.json")
    with report.open("w") as told:  # the program ends before a pipe has taken a long report
        done = subprocess.run(command, stdout=told, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [
        f"{Path(one['filePath']).name}:{fault['line']}: {fault['ruleId']}: {fault['message']}"
        for one in json.loads(report.read_text(encoding="utf-8"))
        for fault in one["messages"]
        if fault["severity"] == 2
    ]


@pytest.fixture(autouse=True)
def _installed() -> None:
    if not PROGRAM.exists():
        pytest.skip("html-validate is not installed: npm ci --prefix book/_ext")


def test_pages_are_valid(some: list[Page], tmp_path: Path) -> None:
    assert not faults([page.path for page in some], tmp_path / "config.json")


def test_faults_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<p id="a"><small>open</p><p id="a"><b></b></p>', encoding="utf-8")
    messages = faults([page], tmp_path / "config.json")
    assert {"no-dup-id", "close-order"} <= {one.split(": ")[1] for one in messages}
