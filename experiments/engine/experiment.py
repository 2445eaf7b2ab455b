"""What every study is, as data: arms, a task, measures and claims; and what runs it.

A study is a folder whose `study.py` has `STUDY = Experiment(...)`. `python -m experiments NAME`
runs every arm on every seed and writes the record; with `--tune` it chooses the settings.
"""

import argparse
import json
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, TypeVar, cast

import torch
from joblib import Parallel, delayed

from bookkit.records import Measure
from experiments.engine.answers import Answered, answered, as_entry, error, from_measure
from experiments.engine.claims import Answers as AnswersOf
from experiments.engine.claims import Claim, Runs, worded
from experiments.engine.code import code_of, hashes
from experiments.engine.kinds import Kinds, NumberKind, kind_of
from experiments.engine.record import (
    LEAST_SEEDS,
    Entry,
    fingerprint,
    measure,
    rounded,
    write_result,
)
from experiments.engine.trials import TUNING_SEEDS, Trials, record_trials

Outcome = TypeVar("Outcome")
Name = TypeVar("Name", bound=str)
Answers = list[tuple[float, float]]
"""What was scored of every test item, and of how much."""
Measures = Mapping[str, float | Answers]
"""What one run gives: numbers, and as `by_item(name)` the answers that a number is computed of."""
RUNS = Path("runs")
"""Outcomes of finished runs, and checkpoints: a study that is started again goes on there."""


class Arm(NamedTuple):
    """One side of a comparison: a setting, and the task that it is trained for."""

    setting: Any
    task: Any


def on(task: object, settings: Mapping[Name, object]) -> dict[str, Arm]:
    """Return the arms that share a task."""
    return {name: Arm(setting, task) for name, setting in settings.items()}


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A study of several seeds."""

    name: str  # of the folder and of the record
    title: str  # what is studied
    seeds: Sequence[int]  # those that are reported, none of which any setting was chosen on
    over: str = "seeds"  # what they stand for: "texts", where each is another text, or "questions"
    modules: Sequence[str]  # those that decide the runs, beside its own
    smoke: Callable[[], Sequence[float]]  # runs all in seconds: losses that tell a change
    kinds: Kinds  # of the measures, by patterns of their names; the first that matches counts
    arms: Callable[[], Mapping[str, Arm]] = dict  # gives what is compared
    outcome: Callable[..., Measures] | None = None  # of an arm's setting, its task and a seed
    beside: Callable[[int], Measures] | None = None  # of a seed and no arm, by their whole names
    timed: bool = False  # whether `beside` measures times, so that its runs follow one another
    recorded: Callable[[Runs], Runs] = dict  # gives those that are recorded and claims speak of
    claims: Mapping[str, Claim] = field(default_factory=dict)  # by name
    elsewhere: Callable[[], Mapping[str, Measure]] = dict  # what claims speak of in other records
    # Gives what was fixed beforehand; by default setting and task of every arm.
    config: Callable[[], Mapping[str, object]] | None = None
    tolerance: float = 1e-3  # by how much these may differ from the recorded ones
    least_seeds: int = LEAST_SEEDS  # how many of them there have to be
    trials: Trials | None = None  # how the settings of the arms are chosen
    tuning: Callable[[int], object] | None = None  # chooses them, with workers, where trials cannot
    workers: int = 2  # processes of one thread each
    arguments: str = ""  # of the command, where it takes any
    data: Mapping[str, str] | None = None  # "credit", "licence" and "sha256" of others' data

    @property
    def command(self) -> str:
        """What runs the study."""
        return f"python -m experiments {self.name}{self.arguments}"

    def fixed(self) -> Mapping[str, object]:
        """Return what was fixed before the runs."""
        if self.config is not None:
            return self.config()
        return {name: arm._asdict() for name, arm in self.arms().items()}

    @property
    def all_modules(self) -> list[str]:
        """All modules that decide the runs."""
        return [f"experiments.{self.name}.study", *self.modules]

    def code(self) -> list[object]:
        """Return what else tells runs of one code from those of another."""
        return [fingerprint(self.smoke()), hashes(self.all_modules)]

    def kind(self, name: str) -> NumberKind:
        """Return the kind of a measure."""
        return kind_of(name, self.kinds)

    def measured(self, runs: Runs, answers: AnswersOf | None = None) -> dict[str, Entry]:
        """Return the entries of all measures, with the answers of those that claims speak of."""
        kept = self._spoken_of(runs, answers) if answers else {}
        return {name: self._measured(name, runs[name], kept.get(name)) for name in runs}

    def _measured(self, name: str, values: list[float], answers: Answered | None) -> Entry:
        kind = self.kind(name)
        if answers is None:
            return measure(values, kind)
        shared = error({name: [1.0] * len(values)}, {name: answers}, len)
        entry = measure(values, replace(kind, item_error=shared))
        return {**entry, **as_entry(answers)}

    def _spoken_of(self, runs: Runs, answers: AnswersOf) -> dict[str, Answered]:
        """Return the answers to shared items, of measures that some claim is computed of."""
        known, kinds = self._known(runs)
        spoken = {
            name for one in self.claims.values() for name in one.slopes(known, kinds.__getitem__)
        }
        return {name: answers[name] for name in answers if name in spoken and kinds[name].items}

    def _known(self, runs: Runs) -> tuple[Runs, dict[str, NumberKind]]:
        """Return the runs as they are recorded, also those of other studies, and their kinds."""
        others = {name: list(one.runs) for name, one in self.elsewhere().items()}
        known = {name: rounded(values) for name, values in (others | runs).items()}
        return known, {name: self.kind(name) for name in known}

    def decide(self, runs: Runs, answers: AnswersOf | None = None) -> dict[str, Entry]:
        """Decide every claim by the runs as they are recorded and the answers that are known."""
        known, kinds = self._known(runs)
        others = {name: from_measure(one) for name, one in self.elsewhere().items()}
        told = {name: one for name, one in others.items() if one is not None} | {
            name: one for name, one in (answers or {}).items() if name in runs
        }
        return {
            name: worded(
                one.decide(known, kinds.__getitem__, told) | one.history.as_entry(), one.finding
            )
            for name, one in self.claims.items()
        }

    def run(self, workers: int) -> Runs:
        """Run every arm on every seed, and what is measured beside them."""
        return self.outcomes(workers)[0]

    def outcomes(self, workers: int) -> tuple[Runs, dict[str, Answered]]:
        """Run every arm on every seed; return what was measured, and answers by item."""
        code, arms = self.code(), self.arms()
        found: dict[str, list[Any]] = defaultdict(list)
        pairs = list(product(self.seeds, arms))
        jobs = [(self.name, code, self.outcome, *arms[name], seed) for seed, name in pairs]
        for (_, name), measures in zip(pairs, in_parallel(run_cached, jobs, workers), strict=True):
            for what, value in measures.items():
                found[f"{name}/{what}"].append(value)
        if self.beside is not None:
            key = code, as_key(**self.fixed())
            work = [(self.name, key, self.beside, seed) for seed in self.seeds]
            outcomes = list(in_parallel(run_cached, work, 1 if self.timed else workers))
            # A number of an arm that is measured beside it, too, is the one beside it.
            found |= {what: [measures[what] for measures in outcomes] for what in outcomes[0]}
        runs = {name: values for name, values in found.items() if not isinstance(values[0], list)}
        told = {name: found[by_item(name)] for name in runs if by_item(name) in found}
        return runs, {name: answered(values) for name, values in told.items()}

    def record(self, workers: int) -> Path:
        """Run the study, and write its record."""
        code = code_of(self.all_modules)  # what changes during the runs did not make them
        measured, answers = self.outcomes(workers)
        runs = self.recorded(measured)
        return write_result(
            self.name, title=self.title, command=self.command, seeds=self.seeds, over=self.over,
            threads=1,
            config=self.fixed(), measures=self.measured(runs, answers),
            claims=self.decide(runs, answers), data=self.data, code=code,
            least_seeds=self.least_seeds,
            fingerprint=fingerprint(self.smoke(), tolerance=self.tolerance),
        )  # fmt: skip

    def tune(self, workers: int) -> None:
        """Do every trial on the tuning seeds; record all, and the best setting of each arm."""
        if self.tuning is not None:
            self.tuning(workers)
            return
        assert self.trials is not None
        trials, rows = self.trials, self.trials.rows()
        outcome = trials.outcome or self.outcome
        assert outcome is not None
        arms = [(setting, trials.task) for _, setting in rows]
        record_trials(
            self.name, trials.metric or trials.measure,
            [name for name, _ in rows], [setting for _, setting in rows],
            tried(self.name, outcome, arms, trials.measure, workers, self.code()),
            named=trials.named, digits=trials.digits,
        )  # fmt: skip

    def main(self, words: Sequence[str], about: str | None) -> None:
        """Do what the command line asks for: run the study, or its trials."""
        parser = argparse.ArgumentParser(prog=self.command, description=about)
        if self.tuning is not None or self.trials is not None:
            say = "choose the settings, and stop there"
            parser.add_argument("--tune", action="store_true", help=say)
        parser.add_argument(
            "--workers", type=int, default=self.workers, help="processes of one thread each"
        )
        options = vars(parser.parse_args(words))
        (self.tune if options.get("tune") else self.record)(options["workers"])


def without(*parts: str) -> Callable[[Runs], Runs]:
    """Return what leaves out measures whose first part begins like this.

    >>> without("link")({"dot/links/noun": [1.0], "dot/loss": [2.0]})
    {'dot/loss': [2.0]}
    """
    return lambda runs: {
        name: values
        for name, values in runs.items()
        if not name.partition("/")[2].startswith(parts)
    }


def split_off(names: Collection[str]) -> Callable[[Runs], Runs]:
    """Return what makes arms of their own of what was measured beside an arm, under these names.

    >>> split_off(["coverage"])({"pointer/coverage/loss": [1.0], "pointer/loss": [2.0]})
    {'coverage/loss': [1.0], 'pointer/loss': [2.0]}
    """
    return lambda runs: {
        name.partition("/")[2] if name.split("/")[1] in names else name: values
        for name, values in runs.items()
    }


def by_item(name: str) -> str:
    """Return what the answers are called that a measure is computed of.

    >>> by_item("exact_match/test")
    'exact_match/test by item'
    """
    return f"{name} by item"


def numbers(measures: Measures) -> dict[str, float]:
    """Return what a run measured, without the answers to single items.

    >>> numbers({"right": 50.0, by_item("right"): [(1.0, 1.0), (0.0, 1.0)]})
    {'right': 50.0}
    """
    return {name: value for name, value in measures.items() if not isinstance(value, list)}


# Running


def in_parallel(
    work: Callable[..., Outcome], jobs: Iterable[tuple[object, ...]], workers: int
) -> list[Outcome]:
    """Do jobs, the arguments of each call, in processes of one thread; return outcomes in order.

    A single worker is a fresh process of this machine, so that nothing from before is in the times
    and the memory that it measures. Several are joblib's, and so they may be on other machines:
    see `joblib.parallel_config`. How many are done is printed once a minute.
    """
    given = list(jobs)
    if workers == 1:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return list(told(pool.map(partial(alone, work), given), len(given)))
    calls = (delayed(alone)(work, job) for job in given)
    return list(told(Parallel(n_jobs=workers, return_as="generator")(calls), len(given)))


def alone(work: Callable[..., Outcome], job: tuple[object, ...]) -> Outcome:
    """Do one job in one thread."""
    torch.set_num_threads(1)
    return work(*job)


def told(outcomes: Iterable[Outcome], count: int, every: float = 60.0) -> Iterator[Outcome]:
    """Yield outcomes, and print now and then how many of how many there are.

    >>> list(told("ab", 2, every=0.0))
    1 of 2 runs after 0 min
    2 of 2 runs after 0 min
    ['a', 'b']
    """
    start = last = monotonic()
    for number, outcome in enumerate(outcomes, 1):
        now = monotonic()
        if now - last >= every:
            last = now
            print(f"{number} of {count} runs after {(now - start) / 60:.0f} min", flush=True)
        yield outcome


def tried(
    study: str,
    outcome: Callable[..., Measures],
    arms: Sequence[tuple[object, object]],
    measured: str,
    workers: int,
    code: object,
) -> list[list[float]]:
    """Run setting and task of every trial on the tuning seeds; return one list of runs for each.

    What counts is the measure that is named; `code` is as in `run_cached`.
    """
    jobs = [(f"{study}/trials", code, outcome, *arm, seed) for arm in arms for seed in TUNING_SEEDS]
    outcomes = in_parallel(run_cached, jobs, workers)
    values = iter([cast(float, one[measured]) for one in outcomes])
    return [[next(values) for _ in TUNING_SEEDS] for _ in arms]


def as_key(**parts: object) -> dict[str, object]:
    """Return what tells one run from another, as JSON reads it back."""
    return dict(json.loads(json.dumps(parts, default=vars)))


def digest(key: Mapping[str, object]) -> str:
    """Return a short name for a key.

    >>> digest({"seed": 1})
    '12d1e005'
    """
    return f"{zlib.crc32(json.dumps(key, sort_keys=True).encode()):08x}"


def run_cached(
    folder: str, code: object, work: Callable[..., Measures], *arguments: object
) -> Measures:
    """Do one run, or read back what it gave before, if the same code gave it.

    Outcomes are kept in a folder below `RUNS`. `code` changes when the computation does: hashes of
    files, the trace of a smoke run.
    """
    key = as_key(code=code, work=work.__qualname__, arguments=arguments)
    return cached(f"{folder}/{digest(key)}", key, lambda: dict(work(*arguments)))


def cached(
    name: str, key: dict[str, object], compute: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Return the outcome of a run that was done before with the same key, else compute it."""
    path = RUNS / f"{name}.json"
    if path.exists():
        saved = json.loads(path.read_text(encoding="utf8"))
        if saved["key"] == key:
            return dict(saved["outcome"])
    outcome = compute()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps({"key": key, "outcome": outcome}), encoding="utf8")
    partial.replace(path)
    return outcome
