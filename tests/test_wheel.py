"""The package as others get it: built, installed elsewhere, and used as README.md says."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest

from bookkit.records import recorded_studies
from tests.test_readme import EXAMPLES

ROOT = Path(__file__).parents[1]
SOURCES = (
    "pyproject.toml", "README.md", "LICENSE", "companion", "bookkit", "experiments", "benchmarks",
    "tests",
)  # fmt: skip

pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command, away from this folder's modules; return what it prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def copy_of_the_project(folder: Path) -> Path:
    # A build leaves files behind, and packs what an older one left: neither happens in a copy.
    project = folder / "project"
    project.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(ROOT / name, project / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, project)
    return project


def bare_environment(folder: Path, *distributions: str) -> Path:
    """Make a virtual environment that sees these installed distributions; return its Python."""
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    library = next(folder.glob("lib/python*/site-packages"))
    for name in distributions:
        found = distribution(name)
        for top in {path.parts[0] for path in found.files or () if path.parts[0] != ".."}:
            if top != "__pycache__":
                (library / top).symlink_to(Path(str(found.locate_file(top))))
    return folder / "bin" / "python"


def install(python: Path, *what: str, cwd: Path) -> None:
    pip = (sys.executable, "-m", "pip", "--python", str(python), "install")
    run(*pip, "--quiet", "--no-index", "--disable-pip-version-check", *what, cwd=cwd)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the source archive and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("built")
    project = copy_of_the_project(folder)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, project, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the wheel, NumPy, and not a package more."""
    folder = tmp_path_factory.mktemp("installed")
    python = bare_environment(folder / "env", "numpy", "array-api-compat")
    install(python, str(wheel), cwd=folder)
    return python


def package_files() -> set[str]:
    """Return the files of the package in this folder."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "companion").rglob("*")
        if path.suffix in (".py", ".typed", ".json", ".toml") and path.name != "ruff.toml"
    }


def test_the_wheel_holds_the_package_its_licence_and_nothing_else(wheel: Path) -> None:
    archive = ZipFile(wheel)
    names = {name for name in archive.namelist() if not name.endswith("/")}
    assert {name for name in names if ".dist-info/" not in name} == package_files()
    assert "companion/py.typed" in names
    found = {n.split("/licenses/")[1]: n for n in archive.namelist() if "/licenses/" in n}
    assert found.keys() == {"LICENSE"}
    assert "Redistribution and use" in archive.read(found["LICENSE"]).decode()


def test_the_source_archive_can_be_built_from(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert package_files() | {"pyproject.toml", "README.md", "LICENSE"} <= names


def test_the_readme_example_prints_what_the_readme_says(installed: Path, tmp_path: Path) -> None:
    program, output = EXAMPLES[0]
    assert len(program.splitlines()) <= 10
    assert run(installed, "-c", program, cwd=tmp_path) == output


def test_pytest_finds_the_kit_in_an_installed_package(wheel: Path, tmp_path: Path) -> None:
    needs = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "numpy", "array-api-compat")
    python = bare_environment(tmp_path / "env", *needs)
    install(python, "--no-deps", str(wheel), cwd=tmp_path)
    given = "companion:scaled_dot_product_attention"
    said = run(python, "-m", "pytest", "--attention", given, cwd=tmp_path)
    assert re.search(r"\d\d passed, 5 skipped", said)  # no torch, window, weights or lse
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n", encoding="utf8")
    said = run(python, "-m", "pytest", cwd=tmp_path)
    assert "collected 1 item\n" in said


def test_the_books_package_carries_its_records_fonts_and_licences(tmp_path: Path) -> None:
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index")
    run(*pip, "--wheel-dir", tmp_path, ROOT / "bookkit", cwd=tmp_path)
    names = set(ZipFile(next(tmp_path.glob("*.whl"))).namelist())
    assert {f"experiments/{name}/record.json" for name in (*recorded_studies(), "atlas")} <= names
    assert not {name for name in names if "__pycache__" in name or "hatch_build" in name}
    read = {"bookkit/fonts/OFL.txt", "bookkit/playables/kit.css", "benchmarks/results/gpu.json"}
    assert read <= names
    assert {name.split("/licenses/")[1] for name in names if "/licenses/" in name} == {
        "fonts/OFL.txt",
        "data/CC-BY-4.0.txt",
    }


def test_conda_finds_the_package_by_its_pip_section(tmp_path: Path) -> None:
    # what environment.yml gives pip, run where conda has already brought the dependencies
    project = copy_of_the_project(tmp_path)
    builders = ("setuptools", "hatchling", "editables", "pathspec", "pluggy", "packaging")
    needs = ("trove-classifiers", "numpy", "array-api-compat")
    python = bare_environment(tmp_path / "env", *builders, *needs)
    install(python, "--no-build-isolation", "-e", ".", "-e", "./bookkit", cwd=project)
    program = (
        "import companion, bookkit, experiments; "
        "print(companion.__file__, bookkit.__file__, experiments.__file__)"
    )
    for path in run(python, "-c", program, cwd=tmp_path).split():
        assert Path(path).is_relative_to(project)
