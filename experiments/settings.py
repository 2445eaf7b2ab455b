"""The settings that the studies report: chosen by `experiments.tune`, on seeds of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from experiments.translators import KINDS, GrammarTask, Kind, Setting

TUNING_SEEDS = (101, 102)
REPORT_SEEDS = (1, 2, 3, 4, 5)
REPORT_STEPS = 2000
"""Updates of a reported training on the grammar; tuning takes `Setting.steps`, fewer."""
TUNED = Path(__file__).parent / "tuned"


def reported() -> dict[Kind, Setting]:
    """Return the settings of the grammar's reported translators: as tuned, trained for longer."""
    return {
        kind: replace(setting, steps=REPORT_STEPS) for kind, setting in tuned("grammar").items()
    }


LIVE_TASK = GrammarTask(
    train_pairs=10_000,
    max_length=14,
    test_pairs=200,
    bin_pairs=100,
    bins=((1, 5), (6, 10), (11, 14)),
    test_seed=70_001,
)
"""A task that a page can train on in seconds."""

LIVE_SETTINGS: dict[str, Setting] = {
    kind: Setting(kind, learning_rate=4e-3, steps=800, hidden_dim=96) for kind in KINDS
}


def chosen(study: str) -> dict[str, dict[str, Any]]:
    """Return what tuning chose for every arm.

    Args:
        study: name of a file in `experiments/tuned/`.
    """
    record = json.loads((TUNED / f"{study}.json").read_text(encoding="utf8"))
    found: dict[str, dict[str, Any]] = record["chosen"]
    return found


def tuned(task: str) -> dict[Kind, Setting]:
    """Return the setting that tuning chose for every kind of attention.

    Args:
        task: name of a file in `experiments/tuned/`.
    """
    settings = chosen(task)
    return {kind: Setting(**settings[kind]) for kind in KINDS if kind in settings}
