"""Run one reported seed of every study again, and hold what it measures against the record.

    python -m experiments reproduce [STUDY...]

A record says where 95 % of new runs fall. On the machine and with the libraries of the record, a
seed gives the same digits again. Elsewhere other rounding makes another run of it, which has to
fall where a new one would. Each measure that does not is printed, and the command fails if these
are more than one in ten. The runs are kept below `runs/reproduce/`, apart from those that made the
records, so that a command that was stopped goes on where it was.

Left out are times, which are those of one machine, measures that a record does not have, because
it is older than they are, and studies of data that have to be fetched.
"""

import argparse
from collections.abc import Mapping, Sequence

from bookkit.records import Study, load_result, recorded_studies
from experiments.engine import experiment
from experiments.engine.experiment import Experiment, numbers, run_cached
from experiments.engine.recompute import study_of
from experiments.engine.record import rounded

LEAST = 0.9
"""The share of measures inside that is asked for; the measures of a run hang together."""


def left_out(study: Experiment) -> str:
    """Say why a study cannot be run again here; "" if it can."""
    if study.arguments:
        return "its data have to be fetched"
    return "it measures a machine" if study.timed and study.outcome is None else ""


def rerun(study: Experiment, seed: int, workers: int) -> dict[str, float]:
    """Return what all arms measure on a seed, and what is measured beside them, but for times."""
    folder, code, arms = f"reproduce/{study.name}", study.code(), study.arms()
    jobs = [(folder, code, study.outcome, *arm, seed) for arm in arms.values()]
    outcomes = experiment.in_parallel(run_cached, jobs, workers)
    found = {
        f"{name}/{what}": [value]
        for name, measures in zip(arms, outcomes, strict=True)
        for what, value in numbers(measures).items()
    }
    if study.beside is not None and not study.timed:
        job = folder, code, study.beside, seed
        (measures,) = experiment.in_parallel(run_cached, [job], 1)
        found |= {what: [value] for what, value in numbers(measures).items()}
    kept = {n: v for n, v in study.recorded(found).items() if not study.kind(n).timed}
    return {name: rounded(values)[0] for name, values in kept.items()}


def outside(record: Study, found: Mapping[str, float]) -> list[str]:
    """Say where each measure fell that lies outside the range of new runs."""
    return [
        f"{record.study}/{name}: {record[name].explain(value)}"
        for name, value in found.items()
        if value not in record[name]
    ]


def main(words: Sequence[str]) -> int:
    """Print what falls outside, and a summary; return 1 if it is more than a tenth."""
    parser = argparse.ArgumentParser(prog="python -m experiments reproduce", description=__doc__)
    parser.add_argument("studies", nargs="*", help="all if none is named")
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    options = parser.parse_args(words)
    measured = missed = 0
    for name in options.studies or recorded_studies():
        study, record = study_of({"study": name}), load_result(name)
        if why := left_out(study):
            print(f"{name}: left out, for {why}", flush=True)
            continue
        again = rerun(study, record.seeds[0], options.workers)
        found = {one: value for one, value in again.items() if one in record.measures}
        lines = outside(record, found)
        same = sum(value == record[one].runs[0] for one, value in found.items())
        said = f"{len(found) - len(lines)} of {len(found)} measures inside, {same} as recorded"
        if new := len(again) - len(found):
            said += f"; {new} that the record does not have"
        print(*lines, f"{name}, seed {record.seeds[0]}: {said}", sep="\n", flush=True)
        measured, missed = measured + len(found), missed + len(lines)
    print(f"{measured - missed} of {measured} measures fall where 95 of 100 new runs do.")
    return int(missed > (1 - LEAST) * measured)
