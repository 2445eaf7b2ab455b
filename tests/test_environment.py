"""The files that say what is installed agree: pyproject.toml, constraints.txt, environment.yml."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import distributions, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT, KIT = (
    tomllib.loads((ROOT / file).read_text(encoding="utf8"))["project"]
    for file in ("pyproject.toml", "bookkit/pyproject.toml")
)
EXTRAS = PROJECT["optional-dependencies"] | KIT["optional-dependencies"]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf8"))
NAMES_IN_CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base"}  # no Qt for a notebook
IMPORT_NAMES = {
    "beautifulsoup4": "bs4",
    "fonttools": "fontTools",
    "griffelib": "griffe",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
COMES_WITH = {  # always
    "PIL": "matplotlib",
    "cycler": "matplotlib",
    "docutils": "sphinx",
    "sphinxcontrib": "jupyter_book",  # its bibliography
}


def declared(*extras: str) -> list[Requirement]:
    """Return the dependencies and what the extras add, references to other extras resolved."""
    found = [Requirement(line) for line in PROJECT["dependencies"]]
    for extra in extras:
        for line in EXTRAS[extra]:
            requirement = Requirement(line)
            own = requirement.name in (PROJECT["name"], KIT["name"])
            found += declared(*sorted(requirement.extras)) if own else [requirement]
    return found


def bounds(requirements: list[Requirement]) -> dict[str, SpecifierSet]:
    return {canonicalize_name(r.name): r.specifier for r in requirements}


def conda_bounds() -> dict[str, SpecifierSet]:
    """Return what environment.yml asks conda for, `pip` aside."""
    lines = [line for line in CONDA["dependencies"] if isinstance(line, str) and line != "pip"]
    return {name: SpecifierSet(rest) for name, _, rest in (line.partition(" ") for line in lines)}


def pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {name: Version(version) for name, version in pairs}


def test_conda_asks_for_what_the_notebooks_need_with_the_same_bounds() -> None:
    wanted = {NAMES_IN_CONDA.get(n, n): s for n, s in bounds(declared("notebooks")).items()}
    assert conda_bounds() == wanted | {"python": SpecifierSet(PROJECT["requires-python"])}


def test_conda_installs_the_two_packages_and_nothing_else_by_pip() -> None:
    assert [line["pip"] for line in CONDA["dependencies"] if isinstance(line, dict)] == [
        ["-e .", "-e ./bookkit"]
    ]
    assert "pip" in CONDA["dependencies"]


def test_extras_do_not_contradict_one_another() -> None:
    for name in EXTRAS:
        for requirement in declared(name):
            assert (
                requirement.specifier
                == bounds(declared("bench", "test", "notebooks", "pdf"))[
                    canonicalize_name(requirement.name)
                ]
            ), f"{requirement.name} has other bounds in {name}"


@pytest.mark.parametrize(
    "requirement", declared("test", "bench", "notebooks", "pdf"), ids=lambda r: r.name
)
def test_every_direct_requirement_is_bounded_and_pinned_within(requirement: Requirement) -> None:
    operators = {specifier.operator for specifier in requirement.specifier}
    assert operators == {">=", "<"}
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_what_is_needed_indirectly_is_pinned_too() -> None:
    pinned, seen = pins(), set()
    waiting = declared("test", "notebooks", "pdf") + [
        r for r in declared("bench") if installed(r.name)
    ]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (name, *sorted(requirement.extras)) in seen:
            continue
        seen.add((name, *sorted(requirement.extras)))
        assert name in pinned
        for needed in map(Requirement, requires(name) or ()):
            extras = requirement.extras or {""}
            if not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(needed)
    assert len(seen) > 100  # the walk went somewhere


def installed(name: str) -> bool:
    """Say whether a distribution is there: what the benchmarks compare with need not be."""
    return bool(list(distributions(name=name)))


def test_constraints_are_one_sorted_list_of_exact_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    lines = [line for line in lines if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", line)] == []
    names = [line.split("==")[0] for line in lines]
    assert names == sorted(set(names))


def test_rendering_the_book_needs_no_torch() -> None:
    assert "torch" not in bounds(declared("book"))
    assert pins()["torch"] == Version("2.13.0")


def test_the_makefile_asks_for_the_same_pythons() -> None:
    found = re.search(r"\((3, \d+)\) <= sys.version_info < \((3, \d+)\)", makefile())
    assert found is not None
    low, high = (bound.replace(", ", ".") for bound in found.groups())
    assert SpecifierSet(f">={low},<{high}") == SpecifierSet(PROJECT["requires-python"])


def makefile() -> str:
    return (ROOT / "Makefile").read_text(encoding="utf8")


def test_every_target_explains_itself() -> None:
    targets = set(re.findall(r"^([a-z-]+):", makefile(), re.MULTILINE))
    explained = set(re.findall(r"^([a-z-]+):.*## \w", makefile(), re.MULTILINE))
    assert targets == explained == set(re.findall(r"^\.PHONY: (.*)$", makefile(), re.M)[0].split())


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["version"] == PROJECT["version"]
    assert {"message", "title", "authors"} <= citation.keys()


# These run only where their package is: inside pytest, and beside the reference of the models.
BESIDE = {
    "companion/conformance/plugin.py": {"pytest"},
    "bookkit/hatch_build.py": {"hatchling"},
    "experiments/atlas/check.py": {"transformers"},
    "experiments/atlas/library.py": {"transformers"},
}


@pytest.mark.parametrize(
    ("folder", "extras"),
    [
        ("companion", ["train"]),
        ("bookkit", ["notebooks"]),
        ("experiments", ["studies"]),
        ("benchmarks", ["bench"]),
        ("book/_ext/book_site", ["book"]),
        ("book/_ext/book_print", ["pdf"]),
        ("book/_ext/book_check", ["test", "pdf"]),
        ("tests", ["test", "notebooks", "pdf"]),
    ],
)
def test_what_is_imported_is_declared(folder: str, extras: list[str]) -> None:
    names = {IMPORT_NAMES.get(n, n.replace("-", "_")) for n in bounds(declared(*extras))}
    own = {"benchmarks", "bookkit", "companion", "experiments", "tests", "tools"}
    own |= {"book_site", "book_print", "book_check"}
    for path in sorted((ROOT / folder).rglob("*.py")):
        if "node_modules" not in path.parts:
            neighbours = {other.stem for other in path.parent.glob("*.py")}
            beside = BESIDE.get(path.relative_to(ROOT).as_posix(), set())
            for package in imported(path) - sys.stdlib_module_names - own - neighbours - beside:
                assert COMES_WITH.get(package, package) in names, f"{path.name} imports {package}"


def imported(path: Path) -> set[str]:
    """Return the first part of every absolute import of a module."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found
