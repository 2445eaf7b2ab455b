"""Put the findings of a study's claims into its record: `python -m experiments reword NAME...`.

A finding says in words what the numbers of a record say, so it may be written after the runs. Only
the findings change: the sentence of a claim, its threshold and its numbers stay as they are.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from bookkit.records import read_study
from bookkit.records.reading import RECORD
from experiments.engine.claims import Claim, worded
from experiments.engine.record import STUDIES, layout, replace_file


def reword(path: Path, claims: Mapping[str, Claim]) -> None:
    """Write the findings of claims into a record.

    Args:
        path: the record.
        claims: by name, as the study's table has them.

    Raises:
        ValueError: the record has other claims than the table, or words a claim in another way.
    """
    record = json.loads(path.read_text(encoding="utf-8"))
    entries = record["claims"]
    if entries.keys() != claims.keys():
        others = ", ".join(sorted(entries.keys() ^ claims.keys()))
        raise ValueError(
            f"{record['study']}: record and table differ in {others}; run the study again"
        )
    for name, one in claims.items():
        if entries[name]["claim"] != one.sentence:
            raise ValueError(
                f"{record['study']}, {name}: the record has {entries[name]['claim']!r}, "
                f"the table has {one.sentence!r}; run the study again"
            )
        entries[name] = worded(entries[name], one.finding)
    read_study(record, name=record["study"])
    replace_file(layout(record) + "\n", path)


def main(words: Sequence[str]) -> None:
    """Reword the records of the studies that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m experiments reword", description=__doc__)
    parser.add_argument("studies", nargs="+", help="folders of experiments/")
    for name in parser.parse_args(words).studies:
        study = importlib.import_module(f"experiments.{name}.study").STUDY
        reword(STUDIES / name / RECORD, study.claims)
