"""The pages are HTML as the standard has it."""

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


def test_pages_are_valid(some: list[Page], tmp_path: Path) -> None:
    if not PROGRAM.exists():
        pytest.skip("html-validate is not installed: npm ci --prefix book/_ext")
    config, report = tmp_path / "config.json", tmp_path / "report.json"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")
    command: list[str | Path] = [find_node(), PROGRAM, "--config", config, "--formatter", "json"]
    with report.open("w") as told:  # the program ends before a pipe has taken a long report
        files = [page.path for page in some]
        done = subprocess.run([*command, *files], stdout=told, stderr=subprocess.PIPE, text=True)
    assert done.returncode in (0, 1), done.stderr
    faults = [
        f"{Path(one['filePath']).name}:{fault['line']}: {fault['ruleId']}: {fault['message']}"
        for one in json.loads(report.read_text(encoding="utf-8"))
        for fault in one["messages"]
        if fault["severity"] == 2
    ]
    assert not faults
