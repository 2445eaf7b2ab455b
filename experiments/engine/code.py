"""Which code made a record: the commit, and the hashes of the files that its study declares.

A study names the modules that decide its runs, beside its own `study.py`. What is not named, such
as the wording of a claim or the drawing of a figure, may change without a word.
"""

import hashlib
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from experiments.engine.record import STUDIES, Entry

ROOT = STUDIES.parent

ATTENTION = ("companion.arrays", "companion.attention", "companion.masks", "companion.scores")
"""The definitions."""
SMALL = (*ATTENTION, "companion.training", "experiments.engine.descent")
"""What trains a small model that a study defines itself."""
LAYERS = (*SMALL, "companion.layers", "companion.positions")
"""A small model with heads."""
TRANSFORMERS = (*LAYERS, "companion.cache", "companion.models.transformer")
"""A Transformer."""
TEXTS = tuple(f"companion.data.{name}" for name in ("batching", "pairs", "texts", "vocabulary"))
"""Sentences as numbers."""
GRAMMAR = ("bookkit.data.grammar",)
"""The grammar's sentences."""
TRANSLATORS = (
    *LAYERS, *TEXTS, *GRAMMAR, "companion.alignment", "companion.decoding", "companion.metrics",
    "companion.models.seq2seq", "companion.translation", "experiments.engine.settings",
    "experiments.engine.translators",
)  # fmt: skip
"""A recurrent translator, and what is asked of it."""


def hashes(modules: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of the files of modules, by their paths from the repository on.

    Modules have the names of their packages before them; of a package, all modules and tables in
    it count.

    Raises:
        ValueError: there is no such module.

    >>> list(hashes(["companion.scores", "experiments.tools"]))[:2]
    ['companion/scores.py', 'experiments/tools/__init__.py']
    """
    found = {module: list(_files(module)) for module in modules}
    if missing := [module for module, paths in found.items() if not paths]:
        raise ValueError(f"modules: got {', '.join(missing)}, wanted modules that are there")
    names = {path.relative_to(ROOT).as_posix() for paths in found.values() for path in paths}
    return {name: _sha256(ROOT / name) for name in sorted(names)}


def _files(module: str) -> Iterator[Path]:
    path = ROOT.joinpath(*module.split("."))
    file = path.with_suffix(".py")
    whole = (one for one in path.rglob("*") if one.suffix in (".py", ".yaml"))
    yield from [file] if file.is_file() else whole


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def commit() -> str | None:
    """Return the commit that is checked out; None outside of a repository."""
    command = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def code_of(modules: Iterable[str]) -> Entry:
    """Return the entry of a record that is made by the code as it stands."""
    return {"commit": commit(), "of": "code", "files": hashes(modules)}


def changed_since(code: Mapping[str, Any]) -> list[str]:
    """Return the files of an entry that are others today, or in another place."""
    return [
        name
        for name, digest in code["files"].items()
        if not (ROOT / name).is_file() or _sha256(ROOT / name) != digest
    ]
