"""Which code made a record: the commit, and the hashes of the files that its study declares.

A study names the files that decide its runs as patterns, its own `study.py` aside. What is not
named, such as the wording of a claim or the drawing of a figure, may change without a word.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

from experiments.engine.record import STUDIES, Entry

ROOT = STUDIES.parent

ATTENTION = tuple(f"companion/{name}.py" for name in ("arrays", "attention", "masks", "scores"))
"""The definitions."""
SMALL = (*ATTENTION, "companion/training.py", "experiments/engine/descent.py")
"""What trains a small model that a study defines itself."""
LAYERS = (*SMALL, "companion/layers/*.py", "companion/positions/*.py")
"""A small model with heads."""
TRANSFORMERS = (*LAYERS, "companion/cache*.py", "companion/models/transformer/*.py")
"""A Transformer."""
TEXTS = tuple(f"companion/data/{name}.py" for name in ("batching", "pairs", "texts", "vocabulary"))
"""Sentences as numbers."""
GRAMMAR = ("bookkit/data/grammar/*.py",)
"""The grammar's sentences."""
TRANSLATORS = (
    *LAYERS, *TEXTS, *GRAMMAR, "companion/alignment/*.py", "companion/decoding/*.py",
    "companion/metrics.py", "companion/models/seq2seq.py", "companion/translation.py",
    "experiments/engine/settings.py", "experiments/engine/translators.py",
)  # fmt: skip
"""A recurrent translator, and what is asked of it."""


def hashes(patterns: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of all files that match, by their paths from the repository on.

    Raises:
        ValueError: a pattern matches no file.

    >>> list(hashes(["companion/scores.py", "companion/sc*.py"]))
    ['companion/scores.py']
    """
    found = {pattern: list(ROOT.glob(pattern)) for pattern in patterns}
    if empty := [pattern for pattern, paths in found.items() if not paths]:
        raise ValueError(f"files: got {', '.join(empty)}, wanted patterns of files that are there")
    names = {path.relative_to(ROOT).as_posix() for paths in found.values() for path in paths}
    return {name: hashlib.sha256((ROOT / name).read_bytes()).hexdigest() for name in sorted(names)}


def commit() -> str | None:
    """Return the commit that is checked out; None outside of a repository."""
    command = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def code_of(patterns: Iterable[str]) -> Entry:
    """Return the entry of a record that is made by the code as it stands."""
    return {"commit": commit(), "of": "code", "files": hashes(patterns)}


def changed_since(code: Mapping[str, Any]) -> list[str]:
    """Return the files of an entry that are others today, or in another place."""
    return [
        name
        for name, digest in code["files"].items()
        if not (ROOT / name).is_file() or hashes([name])[name] != digest
    ]
