"""`python -m experiments.atlas`: hold every architecture, or those named, against its reference.

    python -m experiments.atlas
    python -m experiments.atlas qwen3 gpt_oss

Without names the record `companion/results/atlas.json` is written.
"""

from __future__ import annotations

import argparse
import traceback

from experiments.atlas.check import check
from experiments.atlas.rows import ROWS


def main() -> None:
    """Check rows and print what they gave."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="rows; all if none is named")
    names = parser.parse_args().names
    for row in ROWS:
        if names and row.name not in names:
            continue
        try:
            print(row.name, check(row), flush=True)
        except Exception:
            print(row.name, "FAILED", traceback.format_exc(limit=-3), flush=True)


if __name__ == "__main__":
    main()
