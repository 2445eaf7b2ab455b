"""Every setting that was chosen has others tried on both sides of it, so that none is cut off."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from experiments.engine.record import STUDIES

FILES = sorted(STUDIES.glob("*/tuned*.json"))

AT_AN_EDGE: dict[tuple[str, str, str], str] = {
    ("hops", "one/1", "learning_rate"): "At the largest rate its loss is 0, the least there is.",
    ("bottleneck", "additive", "dropout_p"): "Without dropout it does as well: 98.2 % either way.",
}
"""File, arm and field of the settings at an edge of what was tried, and why they stand there."""

LEAST = {"dropout_p": 0.0}
"""The least value that a field can have: below it nothing can be tried."""


def trials_of(record: dict[str, Any], arm: str) -> list[dict[str, Any]]:
    """Return the settings that competed for an arm; where trials have no name, attention tells."""
    chosen = record["chosen"][arm]
    return [
        trial["setting"]
        for trial in record["trials"]
        if trial.get("name", arm) == arm
        and trial["setting"].get("attention") == chosen.get("attention")
    ]


def at_an_edge(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Return arm and field of every chosen number with no other tried below it, or none above."""
    found = []
    for arm, chosen in record["chosen"].items():
        tried: defaultdict[str, set[float]] = defaultdict(set)
        for setting in trials_of(record, arm):
            for field, value in setting.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    tried[field].add(value)
        for field, values in tried.items():
            low, high = min(values), max(values)
            open_below = chosen[field] == low and low != LEAST.get(field)
            if low < high and (open_below or chosen[field] == high):
                found.append((arm, field))
    return found


def test_an_edge_is_seen() -> None:
    def record(chosen: float, *rates: float, field: str = "learning_rate") -> dict[str, Any]:
        settings = [{"attention": "dot", field: rate, "steps": 20} for rate in rates]
        others = [{"attention": "none", field: rate / 2, "steps": 9} for rate in rates]
        return {
            "chosen": {"dot": {"attention": "dot", field: chosen, "steps": 20}},
            "trials": [{"setting": setting} for setting in settings + others],
        }

    edge = [("dot", "learning_rate")]
    assert at_an_edge(record(0.2, 0.1, 0.2, 0.4)) == []
    assert at_an_edge(record(0.1, 0.1, 0.2, 0.4)) == edge
    assert at_an_edge(record(0.4, 0.1, 0.2, 0.4)) == edge
    assert at_an_edge(record(0.0, 0.0, 0.1, field="dropout_p")) == []
    assert at_an_edge(record(0.1, 0.0, 0.1, field="dropout_p")) == [("dot", "dropout_p")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_optimum_lies_inside_the_grid(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf8"))
    found = {(path.parent.name, arm, field) for arm, field in at_an_edge(record)}
    assert found == {place for place in AT_AN_EDGE if place[0] == path.parent.name}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_rates_competed_for_every_arm(path: Path) -> None:
    record = json.loads(path.read_text(encoding="utf8"))
    for arm in record["chosen"]:
        assert len({setting["learning_rate"] for setting in trials_of(record, arm)}) > 1
