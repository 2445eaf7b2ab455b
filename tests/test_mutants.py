"""Tests that cannot fail are no tests: break the package in known ways, and see them fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
SECONDS = 300  # only so that a break that never ends is one that is noticed

pytestmark = pytest.mark.mutants


def copy_of_the_package(folder: Path) -> Path:
    """Copy what the targeted tests need, and return the folder of the package."""
    skip = shutil.ignore_patterns("__pycache__", "fonts", "results")
    for name in ("companion", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder / "companion"


def run_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests on the copy of the package in a folder: it comes first on the path."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "PYTEST_ADDOPTS": "",
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # loading plugins takes longer than the tests
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("tests", sorted({mutant.tests for mutant in MUTANTS}))
def test_the_whole_package_passes(tests: str, tmp_path: Path) -> None:
    package = copy_of_the_package(tmp_path)
    probe = "import companion; print(companion.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert Path(found.stdout.strip()).parent == package
    selections = {mutant.select for mutant in MUTANTS if mutant.tests == tests}
    either = " or ".join(f"({selection})" for selection in sorted(selections))
    result = run_tests(tmp_path, f"tests/{tests}", "-k", either)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_break_is_noticed(mutant: Mutant, tmp_path: Path) -> None:
    package = copy_of_the_package(tmp_path)
    source = (package / mutant.file).read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1, f"{mutant.file} has no single {mutant.old!r}"
    (package / mutant.file).write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")

    result = run_tests(tmp_path, f"tests/{mutant.tests}", "-k", mutant.select)
    assert result.returncode == pytest.ExitCode.TESTS_FAILED, result.stdout + result.stderr
    assert "\nERROR " not in result.stdout, result.stdout  # a test failed, nothing else
