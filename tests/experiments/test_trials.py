"""What is tuned, and how it is written: the files of `tuned.json` come out again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path

import pytest

from experiments.bottleneck import study as bottleneck
from experiments.captioning import study as captioning
from experiments.digits import study as digits
from experiments.engine import experiment, trials
from experiments.engine.trials import TUNING_SEEDS, tuned_file
from experiments.explanation import study as explanation
from experiments.founding import study as founding
from experiments.heads import study as heads
from experiments.kv_heads import study as kv_heads
from experiments.masks import study as masks
from experiments.positions import study as positions
from experiments.recall import study as recall
from experiments.scores import study as scores
from experiments.summarization import study as summarization


def every_measure(value: float) -> Mapping[str, float]:
    """One number, whatever measure is asked for."""
    return defaultdict(lambda: value)


@pytest.mark.parametrize(
    ("study", "run"),
    [
        ("captioning", captioning.STUDY.tune),
        ("digits", digits.STUDY.tune),
        ("explanation", explanation.STUDY.tune),
        ("founding", founding.STUDY.tune),
        ("bottleneck", bottleneck.STUDY.tune),
        ("heads", heads.STUDY.tune),
        ("kv_heads", kv_heads.STUDY.tune),
        ("masks", masks.STUDY.tune),
        ("positions", positions.STUDY.tune),
        ("recall", recall.STUDY.tune),
        ("scores", scores.STUDY.tune),
        ("summarization", summarization.STUDY.tune),
    ],
)
def test_the_same_runs_write_the_same_file(
    study: str,
    run: Callable[[int], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Grid, seeds, rounding and choice are those of the committed file."""
    committed = tuned_file(study).read_text(encoding="utf8")
    record = json.loads(committed)

    def read_back(
        work: object, jobs: Iterable[tuple[object, ...]], workers: int
    ) -> list[Mapping[str, float]]:
        assert workers == 3
        outcomes = []
        for *trial, seed in jobs:
            setting = next(
                asdict(part) for part in trial if is_dataclass(part) and not isinstance(part, type)
            )
            runs = next(old["runs"] for old in record["trials"] if old["setting"] == setting)
            # What rounding has to take away again.
            outcomes.append(every_measure(runs[TUNING_SEEDS.index(seed)] * (1 + 1e-9)))
        return outcomes

    monkeypatch.setattr(experiment, "in_parallel", read_back)
    monkeypatch.setattr(trials, "processor", lambda: record["processor"])
    monkeypatch.setattr(trials, "versions", lambda: record["versions"])
    monkeypatch.setattr(trials, "STUDIES", tmp_path)
    (tmp_path / study).mkdir()
    run(3)
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
