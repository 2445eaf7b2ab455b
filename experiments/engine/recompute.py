"""Compute the intervals and verdicts of recorded studies again, from the runs that they hold.

    python -m experiments recompute
    python -m experiments recompute --check
    python -m experiments recompute --traces

Nothing is trained: a change of how intervals are made, of a kind or of a claim reaches the records
in this way. Printed is what a claim's verdict was, and what it is now. With `--check` nothing is
written: printed are the records that were made by other code than today's, and those that do not
say by which. With `--traces` records get the trace of today's smoke run, if it begins with theirs.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bookkit.records import read_study, recorded_studies, verdict_of
from bookkit.records.reading import RECORD
from experiments.engine.answers import from_entry
from experiments.engine.experiment import Experiment
from experiments.engine.outdated import OUTDATED
from experiments.engine.record import STUDIES, fingerprint, layout, replace_file


def _paths() -> list[Path]:
    """Return the files of all studies."""
    return [STUDIES / name / RECORD for name in recorded_studies(STUDIES)]


def study_of(record: Mapping[str, Any]) -> Experiment:
    """Return the study that a record is of."""
    study: Experiment = importlib.import_module(f"experiments.{record['study']}.study").STUDY
    return study


def recomputed(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record whose measures and claims are what the study's code says of its runs."""
    study = study_of(record)
    runs = {name: entry["runs"] for name, entry in record["measures"].items()}
    known = {name: from_entry(entry) for name, entry in record["measures"].items()}
    answers = {name: one for name, one in known.items() if one is not None}
    return {
        **record,
        "measures": study.measured(runs, answers),
        "claims": study.decide(runs, answers),
    }


def lacking(record: Mapping[str, Any]) -> str:
    """Say which claims of a study speak of measures that its record does not have; "" for none."""
    study = study_of(record)
    runs = {name: entry["runs"] for name, entry in record["measures"].items()}
    others = {name: list(one.runs) for name, one in study.elsewhere().items()}
    missing = []
    for name, one in study.claims.items():
        try:
            one.decide(others | runs, study.kind)
        except KeyError:
            missing.append(name)
    return f"{record['study']}: not measured yet: {', '.join(missing)}" if missing else ""


def outdated(record: Mapping[str, Any], now: str) -> str:
    """Say whether other code made a record than there is now; "" if not.

    Args:
        record: as the file holds it.
        now: the digest of today's code, from `Experiment.code`.

    >>> outdated({"study": "heads", "code": "0b5e"}, "17aa")
    'heads: made by code 0b5e, which is 17aa now'
    >>> outdated({"study": "heads"}, "17aa")
    'heads: made before records named their code'
    """
    made = record.get("code")
    if made is None:
        return f"{record['study']}: made before records named their code"
    return "" if made == now else f"{record['study']}: made by code {made}, which is {now} now"


def check() -> None:
    """Print the records that today's code did not make, with the reasons why they stand."""
    for path in _paths():
        record = json.loads(path.read_text(encoding="utf8"))
        if said := outdated(record, study_of(record).code):
            print(f"{said}. {OUTDATED.get(record['study'], '')}".rstrip())


def retraced(record: Mapping[str, Any], trace: Sequence[float]) -> dict[str, Any]:
    """Return a record with a longer trace of its smoke run.

    Args:
        record: as the file holds it.
        trace: of today's smoke run.

    Raises:
        ValueError: the trace does not begin with the recorded numbers, so the code has changed.
    """
    old = record["fingerprint"]
    losses, tolerance = old["losses"], old["tolerance"]
    same = all(abs(a - b) <= tolerance for a, b in zip(losses, trace, strict=False))
    if len(trace) < len(losses) or not same:
        raise ValueError(f"{record['study']}: today's smoke run gives other numbers; run it again")
    longer = fingerprint([*losses, *trace[len(losses) :]], tolerance=tolerance)
    return {**record, "fingerprint": longer}


def retrace() -> None:
    """Give every record the trace of today's smoke run, if it begins with the recorded one."""
    for path in _paths():
        record = json.loads(path.read_text(encoding="utf8"))
        try:
            after = retraced(record, study_of(record).trace())
        except ValueError as error:
            print(error)
        else:
            replace_file(layout(after) + "\n", path)


def changed(before: Mapping[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Say of every claim whose verdict is another now what it was, and what decides it."""
    for name, claim in read_study(after, name=after["study"]).claims.items():
        old = before["claims"].get(name)
        was = verdict_of(old["interval"], old["side"], old["threshold"]) if old else "new"
        if was != claim.verdict:
            yield f"{after['study']}/{name}: {was}, now {claim.verdict}, {claim}"


def main(words: Sequence[str]) -> None:
    """Compute every record again and write those that change, or list outdated ones."""
    parser = argparse.ArgumentParser(prog="python -m experiments recompute", description=__doc__)
    parser.add_argument("--check", action="store_true", help="list records made by other code")
    parser.add_argument("--traces", action="store_true", help="take longer traces of smoke runs")
    options = parser.parse_args(words)
    (check if options.check else retrace if options.traces else rewrite)()


def rewrite() -> None:
    """Compute every record again, write those that change, and print the verdicts that do."""
    for path in _paths():
        text = path.read_text(encoding="utf8")
        before = json.loads(text)
        if missing := lacking(before):
            print(missing)
            continue
        after = recomputed(before)
        for line in changed(before, after):
            print(line)
        if layout(after) + "\n" != text:
            replace_file(layout(after) + "\n", path)
