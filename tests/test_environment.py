"""The files that say what is installed agree: pyproject.toml, constraints.txt, environment.yml."""

import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

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
NAMES_IN_CONDA = {"torch": "pytorch", "matplotlib": "matplotlib-base"}  # no Qt for a notebook


def declared(*extras: str) -> list[Requirement]:
    """Return the dependencies and what the extras add, references to other extras resolved."""
    found = [Requirement(line) for line in PROJECT["dependencies"]]
    for extra in extras:
        for line in EXTRAS[extra]:
            requirement = Requirement(line)
            own = requirement.name in (PROJECT["name"], KIT["name"])
            found += declared(*sorted(requirement.extras)) if own else [requirement]
    return found


def pins() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf8").splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {name: Version(version) for name, version in pairs}


def test_conda_asks_for_what_the_notebooks_need_with_the_same_bounds() -> None:
    conda = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf8"))["dependencies"]
    *lines, pip = conda
    found = dict(line.partition(" ")[::2] for line in lines if line != "pip")
    wanted = {
        NAMES_IN_CONDA.get(one.name, one.name): one.specifier for one in declared("notebooks")
    }
    assert {name: SpecifierSet(bounds) for name, bounds in found.items()} == {
        **wanted,
        "python": SpecifierSet(PROJECT["requires-python"]),
    }
    assert pip == {"pip": ["-e .", "-e ./bookkit"]}


def test_every_requirement_is_bounded_and_pinned_within_and_so_is_what_it_needs() -> None:
    pinned, seen = pins(), set()
    waiting = declared("mutants", "bench", "notebooks", "pdf")
    for requirement in waiting:
        assert {one.operator for one in requirement.specifier} == {">=", "<"}, requirement
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if (key := (name, *sorted(requirement.extras))) in seen:
            continue
        seen.add(key)
        assert requirement.specifier.contains(pinned[name]), requirement
        try:
            needs = map(Requirement, requires(name) or ())
        except PackageNotFoundError:  # what the benchmarks compare with need not be there
            continue
        waiting += [
            one
            for one in needs
            if not one.marker
            or any(one.marker.evaluate({"extra": extra}) for extra in requirement.extras or {""})
        ]
    assert len(seen) > 100  # the walk went somewhere


def test_rendering_the_book_needs_no_torch() -> None:
    assert "torch" not in {requirement.name for requirement in declared("book")}


def test_the_citation_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    assert citation["version"] == PROJECT["version"]
