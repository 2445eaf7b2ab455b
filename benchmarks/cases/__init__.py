"""What is measured, case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchmarks.contest import Result
    from benchmarks.timing import Protocol

NAMES = {
    "forward": "attention",
    "gradients": "attention",
    "precision": "attention",
    "window": "attention",
    "arrays": "attention",
    "overhead": "overhead",
    "modules": "modules",
    "recurrent": "training",
    "training": "training",
    "generation": "generation",
    "smollm": "real_model",
    "memory": "memory",
    "imports": "imports",
    "gpu": "gpu",
}
"""Cases in the order of the table, and the modules that they stand in."""

ON_REQUEST = {"gpu"}
"""Cases that run only where they are asked for by name."""


class Case(NamedTuple):
    """What the table calls it, what is fixed, and what runs it, quickly or in full."""

    title: str
    settings: Mapping[str, object]
    run: Callable[[bool, Protocol], Iterator[Result]]


def load(name: str) -> Case:
    """Import a case."""
    case: Case = import_module(f"benchmarks.cases.{NAMES[name]}").CASES[name]
    return case
