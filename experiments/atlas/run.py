"""`python -m experiments atlas`: hold every architecture, or those named, against its reference.

    python -m experiments atlas
    python -m experiments atlas qwen3 gpt_oss

Without names the record `experiments/atlas/record.json` is written, if every check could run.
"""

import argparse
import traceback
from collections.abc import Sequence

from experiments.atlas.check import Outcome, check
from experiments.atlas.record import write
from experiments.atlas.rows import ROWS


def main(words: Sequence[str]) -> int:
    """Check rows and print what they gave; return 1 if one could not be checked."""
    parser = argparse.ArgumentParser(prog="python -m experiments atlas", description=__doc__)
    parser.add_argument("names", nargs="*", help="rows; all if none is named")
    names = parser.parse_args(words).names
    outcomes: dict[str, Outcome] = {}
    wanted = [row for row in ROWS if not names or row.name in names]
    for row in wanted:
        try:
            outcomes[row.name] = check(row)
            print(row.name, outcomes[row.name], flush=True)
        except Exception:
            print(row.name, "FAILED", traceback.format_exc(limit=-3), flush=True)
    if len(outcomes) < len(wanted):
        return 1
    if not names:
        print(write(outcomes))
    return 0
