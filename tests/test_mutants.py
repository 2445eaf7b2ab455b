"""Tests that cannot fail are no tests: break the package in known ways, and see them fail."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[1]
SECONDS = 300  # only so that a break that never ends is one that is noticed

pytestmark = pytest.mark.mutants


# A process that has loaded torch and forks: an interpreter for each break would load it every time.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["torch", "torch.distributed.tensor", "numpy", "pytest", "array_api_strict"]  # torch.testing's
)


WITHOUT = ["-p", "no:cacheprovider", "-p", "no:unraisableexception"]  # each takes its time


class Result(NamedTuple):
    """How a run of pytest ended, None where it did not, and what it wrote."""

    code: int | None
    output: str


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that goes at once: pytest would keep every copy for the next two sessions."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        yield Path(path).resolve()


def copy_of_the_package(folder: Path) -> Path:
    """Copy what the targeted tests need, and return the folder of the package."""
    skip = shutil.ignore_patterns("fonts", "results")
    for name in ("companion", "bookkit", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder / "companion"


def run_tests(folder: Path, *arguments: str) -> Result:
    """Run tests on the copy of the package in a folder, in a process of their own."""
    output = folder / "output.txt"
    process = FORKS.Process(target=run_here, args=(folder, output, arguments))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.kill()
        process.join()
    code = folder / "code.txt"
    return Result(int(code.read_text()) if code.exists() else None, output.read_text("utf-8"))


def run_here(folder: Path, output: Path, arguments: tuple[str, ...]) -> None:
    """Run pytest in this process, which has loaded nothing of the package yet."""
    with output.open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(folder)
    os.environ.update(
        PYTHONPATH=str(folder),
        PYTEST_ADDOPTS="",
        PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",  # loading plugins takes longer than the tests
        OMP_NUM_THREADS="1",
    )
    for name in [
        name for name in sys.modules if name.partition(".")[0] in ("companion", "bookkit", "tests")
    ]:
        del sys.modules[name]
    sys.path[:] = [str(folder), *(path for path in sys.path if Path(path or ".").resolve() != ROOT)]
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    code = pytest.main(["-x", "-q", *WITHOUT, *arguments])
    import companion

    assert Path(companion.__file__).parent == folder / "companion"
    (folder / "code.txt").write_text(str(int(code)))


@pytest.mark.parametrize("tests", sorted({mutant.tests for mutant in MUTANTS}))
def test_the_whole_package_passes(tests: str, folder: Path) -> None:
    copy_of_the_package(folder)
    selections = {mutant.select for mutant in MUTANTS if mutant.tests == tests}
    either = " or ".join(f"({selection})" for selection in sorted(selections))
    result = run_tests(folder, f"tests/{tests}", "-k", either)
    assert result.code == 0, result.output


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_break_is_noticed(mutant: Mutant, folder: Path) -> None:
    package = copy_of_the_package(folder)
    source = (package / mutant.file).read_text(encoding="utf-8")
    assert source.count(mutant.old) == 1, f"{mutant.file} has no single {mutant.old!r}"
    (package / mutant.file).write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")

    result = run_tests(folder, f"tests/{mutant.tests}", "-k", mutant.select)
    assert result.code == pytest.ExitCode.TESTS_FAILED, result.output
    assert "\nERROR " not in result.output, result.output  # a test failed, nothing else
