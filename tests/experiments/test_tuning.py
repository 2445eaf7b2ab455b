"""Models of a comparison are tuned alike, each with its optimum inside the grid."""

import importlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from experiments.engine import experiment, trials
from experiments.engine.record import STUDIES
from experiments.engine.trials import TUNING_SEEDS, tuned_file

FILES = sorted(path.relative_to(STUDIES).as_posix() for path in STUDIES.glob("*/tuned*.json"))
FREE = ("steps", "learning_rate")
"""What may differ between an arm and the same arm trained for longer."""
AT_AN_EDGE: dict[tuple[str, str, str], str] = {
    ("hops", "one/1", "learning_rate"): "At the largest rate its loss is 0, the least there is.",
    ("bottleneck", "additive", "dropout_p"): "Without dropout it does as well: 98.2 % either way.",
}
"""Study, arm and field of the settings at an edge of what was tried, and why they stand there."""
LONGER = {("hybrids", "states")}
"""Study and arm of what trains for longer than the arms that it is compared with."""
LEAST = {"dropout_p": 0.0}
"""The least value that a field can have: below it nothing can be tried."""
REWRITTEN = (
    "bottleneck", "captioning", "digits", "explanation", "founding", "heads", "kv_heads", "masks",
    "positions", "recall", "scores", "summarization",
)  # fmt: skip
"""Studies whose trials need no files and no trained models of their own."""

Trial = dict[str, Any]


def record_of(name: str) -> dict[str, Any]:
    return dict(json.loads((STUDIES / name).read_text(encoding="utf8")))


def by_arm(record: dict[str, Any]) -> dict[str, list[Trial]]:
    """Return the trials that competed for each arm; where they have no name, attention tells."""
    found: defaultdict[str, list[Trial]] = defaultdict(list)
    for trial in record["trials"]:
        found[trial.get("name", trial["setting"].get("attention"))].append(trial)
    return found


def is_longer_version(one: Trial, other: Trial) -> bool:
    """Say whether two trials differ in the number of updates, and else only in the rate."""
    first, second = (
        {name: value for name, value in trial["setting"].items() if name not in FREE}
        for trial in (one, other)
    )
    return first == second and one["setting"]["steps"] != other["setting"]["steps"]


def test_every_arm_was_tuned_alike_and_the_best_was_chosen() -> None:
    for name in FILES:
        record = record_of(name)
        sign = -1 if "lower is better" in record["metric"] else 1
        compared: defaultdict[tuple[str, int], dict[str, list[Trial]]] = defaultdict(dict)
        for arm, tried in by_arm(record).items():
            best = max(tried, key=lambda trial: sign * sum(trial["runs"]))
            assert record["chosen"][arm] == best["setting"], (name, arm)
            assert len({trial["setting"]["learning_rate"] for trial in tried}) > 1
            first = tried[0]["setting"]
            compared[first.get("optimizer", ""), first["steps"]][arm] = tried
        for arms in compared.values():
            alone = len(compared) > 1 and len(arms) == 1
            if alone and (name.partition("/")[0], *arms) not in LONGER:
                (tried,) = arms.values()
                assert any(is_longer_version(tried[0], trial) for trial in record["trials"])
            grids = ({t["setting"]["learning_rate"] for t in tried} for tried in arms.values())
            if len(set(map(frozenset, grids))) == 1:  # else each has its optimum inside its own
                assert len(set(map(effort, arms.values()))) == 1


def effort(tried: list[Trial]) -> tuple[tuple[int, int], ...]:
    """Return which of its dropouts each trial of an arm has, and how often it runs."""
    dropouts = [trial["setting"].get("dropout_p", 0.0) for trial in tried]
    places = map(sorted(set(dropouts)).index, dropouts)
    runs = (len(trial["runs"]) for trial in tried)
    return tuple(sorted(zip(places, runs, strict=True)))


def at_an_edge(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Return arm and field of every chosen number with no other tried below it, or none above."""
    found = []
    for arm, tried in by_arm(record).items():
        for field, value in record["chosen"][arm].items():
            values = {trial["setting"][field] for trial in tried}
            if not isinstance(value, int | float) or isinstance(value, bool) or len(values) == 1:
                continue
            open_below = value == min(values) and value != LEAST.get(field)
            if open_below or value == max(values):
                found.append((arm, field))
    return found


def test_the_optimum_lies_inside_the_grid() -> None:
    for name in FILES:
        study = name.partition("/")[0]
        found = {(study, arm, field) for arm, field in at_an_edge(record_of(name))}
        assert found == {place for place in AT_AN_EDGE if place[0] == study}


@pytest.mark.parametrize("study", REWRITTEN)
def test_the_same_runs_write_the_same_file(
    study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Grid, seeds, rounding and choice are those of the committed file."""
    committed = tuned_file(study).read_text(encoding="utf8")
    record = json.loads(committed)

    def read_back(
        work: object, jobs: Iterable[tuple[object, ...]], workers: int
    ) -> list[Mapping[str, float]]:
        outcomes: list[Mapping[str, float]] = []
        for *trial, seed in jobs:
            setting = next(
                asdict(part) for part in trial if is_dataclass(part) and not isinstance(part, type)
            )
            runs = next(old["runs"] for old in record["trials"] if old["setting"] == setting)
            value = runs[TUNING_SEEDS.index(seed)] * (1 + 1e-9)  # rounding takes that away again
            outcomes.append(defaultdict(partial(float, value)))
        return outcomes

    monkeypatch.setattr(experiment, "in_parallel", read_back)
    monkeypatch.setattr(trials, "processor", lambda: record["processor"])
    monkeypatch.setattr(trials, "versions", lambda: record["versions"])
    monkeypatch.setattr(trials, "STUDIES", tmp_path)
    (tmp_path / study).mkdir()
    importlib.import_module(f"experiments.{study}.study").STUDY.tune(3)
    assert (tmp_path / study / "tuned.json").read_text(encoding="utf8") == committed


@dataclass(frozen=True)
class Rate:
    learning_rate: float


@pytest.mark.parametrize(("lower_is_better", "best"), [(True, 0.1), (False, 0.3)])
def test_the_best_mean_is_chosen(
    lower_is_better: bool, best: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second has the least run and the greatest; of those that tie once rounded, the first."""
    monkeypatch.setattr(trials, "STUDIES", tmp_path)
    (tmp_path / "toy").mkdir()
    settings = [Rate(0.1), Rate(0.2), Rate(0.3), Rate(0.4)]
    runs = [[3.0, 4.0], [0.0, 9.0], [5.0, 5.00004], [5.0, 5.0]]
    chosen = trials.record_trials(
        "toy", "loss", ["a"] * 4, settings, runs, lower_is_better=lower_is_better
    )
    assert chosen == {"a": Rate(best)}
