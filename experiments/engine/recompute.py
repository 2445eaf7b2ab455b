"""Compute the intervals and verdicts of recorded studies again, from the runs that they hold.

    python -m experiments recompute [STUDY...]
    python -m experiments recompute --check [STUDY...]

Nothing is trained: a change of how intervals are made, of a kind, or of anything in `claims.yaml`
reaches the records in this way. Printed is what a claim's verdict or sentence was, and what it is
now. With `--check` nothing is written, and it is an error if a record would change. It also lists
the files that made a record and are different today. That alone is no error: the smoke run tells
whether they still compute the same.
"""

import argparse
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bookkit.records import read_study, recorded_studies
from bookkit.records.reading import RECORD
from experiments.engine.answers import from_entry
from experiments.engine.code import changed_since
from experiments.engine.experiment import Experiment
from experiments.engine.record import STUDIES, layout, replace_file


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
        "command": study.command,
        "measures": study.measured(runs, answers),
        "claims": study.decide(runs, answers),
        **({} if study.over == "seeds" else {"over": study.over}),
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


def other_code(record: Mapping[str, Any]) -> str:
    """Say which files are others today than when a record was made; "" if none."""
    code = record["code"]
    if not (others := changed_since(code)):
        return ""
    since = "its runs" if code["of"] == "code" else "it was stored"
    return (
        f"{record['study']}: since {since} (commit {code['commit'][:7]}), {len(others)} of "
        f"{len(code['files'])} files have changed or moved: {', '.join(others)}"
    )


def changed(before: Mapping[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Say of every claim whose verdict or sentence is another now what it was."""
    study = after["study"]
    olds, news = (read_study(one, name=study).claims for one in (before, after))
    for name, claim in news.items():
        old = olds.get(name)
        if old is None or old.verdict != claim.verdict:
            was = old.verdict if old else "new"
            yield f"{study}/{name}: {was}, now {claim.verdict}, {claim}"
        elif old.claim != claim.claim:
            yield f"{study}/{name}: {old.claim!r}, now {claim.claim!r}"


def recompute(path: Path, *, write: bool) -> bool:
    """Compute a record again, print the verdicts that change, and say whether anything does."""
    text = path.read_text(encoding="utf8")
    before = json.loads(text)
    if missing := lacking(before):
        print(missing)
        return True
    after = recomputed(before)
    for line in changed(before, after):
        print(line)
    again = layout(after) + "\n"
    if write and again != text:
        replace_file(again, path)
    return again != text


def main(words: Sequence[str]) -> int:
    """Compute records again and write those that change; return 1 if `--check` finds any."""
    parser = argparse.ArgumentParser(prog="python -m experiments recompute", description=__doc__)
    parser.add_argument("studies", nargs="*", help="all if none is named")
    parser.add_argument("--check", action="store_true", help="only say what would change")
    options = parser.parse_args(words)
    differ = []
    for name in options.studies or recorded_studies(STUDIES):
        path = STUDIES / name / RECORD
        paths = (path, *path.parent.glob("machines/*.json"))  # of other machines, too
        differ += [recompute(one, write=not options.check) for one in paths]
        if options.check and (said := other_code(json.loads(path.read_text(encoding="utf8")))):
            print(said)
    print(f"{len(differ)} records were computed again, and {sum(differ)} of them changed.")
    return int(options.check and any(differ))
