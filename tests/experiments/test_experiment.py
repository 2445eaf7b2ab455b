"""What studies share: claims, units, the runner; and every study's tables against its record."""

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import pytest
import torch

from bookkit.notebook import load_result
from bookkit.records.reading import RECORD
from experiments.engine import experiment, record
from experiments.engine.claims import Claim, History
from experiments.engine.experiment import Answers, Experiment, by_item, on, run_cached
from experiments.engine.kinds import number, share
from experiments.engine.recompute import recomputed
from experiments.engine.trials import Trials
from experiments.reproduce import left_out, outside, rerun

LATER = History("ours", "check", "added later", "It was less.")


def outcome(setting: float, task: float, seed: int) -> dict[str, float]:
    return {"sum": setting + task + seed, "half/seed": seed / 2}


def beside(seed: int) -> dict[str, float]:
    return {"other/sum": 3.0 * seed, "a/half/seed": seed / 2}


def toy(**changes: Any) -> Experiment:
    given: dict[str, Any] = {
        "name": "toy", "title": "A toy", "seeds": (1, 2, 3, 4, 5), "outcome": outcome,
        "beside": beside, "modules": ["companion.scores"], "smoke": lambda: [1.0, 2.0],
        "arms": lambda: on(10.0, {"a": 100.0, "b/c": 200.0}),
        "kinds": {"*/seed": number("seeds"), "*": number("points")},
        "claims": {"more": Claim("B is more.", "b/c/sum", "a/sum", "points", 50, history=LATER)},
    }  # fmt: skip
    return Experiment(**{**given, **changes})


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Run in this process, keep outcomes elsewhere, and note how many workers are asked for."""
    workers: list[int] = []

    def run(work: Callable[..., Any], jobs: Iterable[tuple[object, ...]], count: int) -> list[Any]:
        workers.append(count)
        return [work(*job) for job in jobs]

    monkeypatch.setattr(experiment, "in_parallel", run)
    monkeypatch.setattr(experiment, "RUNS", tmp_path)
    monkeypatch.setattr(Experiment, "all_modules", ["companion.scores"])
    return workers


def test_every_arm_runs_on_every_seed(at_once: list[int]) -> None:
    halves = [0.5, 1.0, 1.5, 2.0, 2.5]
    assert toy().run(3) == {
        "a/sum": [111.0, 112.0, 113.0, 114.0, 115.0], "a/half/seed": halves,
        "b/c/sum": [211.0, 212.0, 213.0, 214.0, 215.0], "b/c/half/seed": halves,
        "other/sum": [3.0, 6.0, 9.0, 12.0, 15.0],
    }  # fmt: skip
    toy(timed=True).run(3)
    assert at_once == [3, 3, 3, 1], "what measures times runs alone"


def process(number: int) -> tuple[int, int, int]:
    return number, os.getpid(), torch.get_num_threads()


@pytest.mark.parametrize("workers", [1, 2])
def test_jobs_run_elsewhere_in_one_thread_each_and_come_in_order(workers: int) -> None:
    found = experiment.in_parallel(process, [(n,) for n in range(4)], workers)
    assert [number for number, _, _ in found] == [0, 1, 2, 3]
    assert {threads for *_, threads in found} == {1}
    assert os.getpid() not in {pid for _, pid, _ in found}
    with joblib.parallel_config(backend="threading"):  # where several run is told from outside
        found = experiment.in_parallel(process, [(n,) for n in range(4)], 2)
    assert {pid for _, pid, _ in found} == {os.getpid()}


def asked(setting: float, task: float, seed: int) -> dict[str, float | Answers]:
    points = [float((n * seed) % 7 > setting) for n in range(20)]
    return {"right/test": 5 * sum(points), by_item("right/test"): [(p, 1.0) for p in points]}


def test_answers_by_item_are_recorded_and_read_again(
    at_once: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "STUDIES", tmp_path)
    study = toy(
        arms=lambda: on(10.0, {"a": 0.0, "b": 1.0, "silent": 2.0}), outcome=asked, beside=None,
        kinds={"*": share(20)},
        claims={"more": Claim("A is more.", "a/right/test", "b/right/test", "points", above=0)},
    )  # fmt: skip
    study.record(2)
    stored = json.loads((tmp_path / "toy" / RECORD).read_text("utf8"))
    held = {name for name, entry in stored["measures"].items() if "answers" in entry}
    assert held == {"a/right/test", "b/right/test"}
    monkeypatch.setitem(sys.modules, "experiments.toy.study", SimpleNamespace(STUDY=study))
    assert recomputed(stored) == stored
    apart = study.decide({name: e["runs"] for name, e in stored["measures"].items()})["more"]
    assert stored["claims"]["more"]["item_error"] < apart["item_error"]


def test_a_record_is_written(
    at_once: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "STUDIES", tmp_path)
    toy(recorded=lambda runs: {name: runs[name] for name in runs if "half" not in name}).record(2)
    study = load_result("toy", directory=tmp_path)
    assert set(study.measures) == {"a/sum", "b/c/sum", "other/sum"}
    assert study["a/sum"].unit == "points"
    assert study.claim("more").verdict == "holds"
    assert study.claim("more").before == "It was less."
    assert study.command == "python -m experiments toy"
    assert list(study.code["files"]) == ["companion/scores.py"]
    assert study.config["b/c"] == {"setting": 200.0, "task": 10.0}


def test_a_seed_that_runs_again_is_held_against_its_record(
    at_once: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "STUDIES", tmp_path)
    toy().record(2)
    stored = load_result("toy", directory=tmp_path)
    found = rerun(toy(), 2, workers=1)
    assert found == {name: one.runs[1] for name, one in stored.measures.items()}
    assert outside(stored, found) == []
    (said,) = outside(stored, {**found, "a/sum": 500.0})
    assert said.startswith("toy/a/sum: 500")
    assert rerun(toy(timed=True), 2, workers=1).keys() == found.keys() - {"other/sum"}
    assert left_out(toy(arguments=" PAIRS"))
    assert left_out(toy(timed=True, outcome=None))
    assert not left_out(toy())


def test_an_outcome_is_read_back_for_the_same_arguments_and_code(at_once: list[int]) -> None:
    calls: list[float] = []

    def work(setting: float) -> dict[str, float]:
        calls.append(setting)
        return {"calls": len(calls)}

    first = run_cached("toy", "code", work, 1.0)
    assert run_cached("toy", "code", work, 1.0) == first
    assert run_cached("toy", "code", work, 2.0)["calls"] == 2
    assert run_cached("toy", "other code", work, 1.0)["calls"] == 3


@pytest.mark.parametrize(
    ("words", "done"), [([], ("record", 2)), (["--tune", "--workers", "5"], ("tune", 5))]
)
def test_the_command_line_tunes_or_runs(
    words: list[str], done: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[str, int]] = []
    for name in ("record", "tune"):
        monkeypatch.setattr(
            Experiment, name, lambda _, workers, name=name: calls.append((name, workers))
        )
    toy(trials=Trials(dict, (), None)).main(words, "A study.")
    assert calls == [done]
