"""Run a study by its name, or what serves them all: `python -m experiments NAME`.

python -m experiments bottleneck             run every arm on every seed, and write the record
python -m experiments bottleneck --tune      choose the settings of the arms, and stop there
python -m experiments atlas [ROW...]         hold today's models against their references
python -m experiments recompute [STUDY...]   compute intervals and verdicts from the runs again
python -m experiments reproduce [STUDY...]   run one reported seed of each again, and compare
python -m experiments history                hold the register against every record ever committed
python -m experiments headlines [STUDY...]   hold what pages say of claims against their intervals
"""

import sys
from collections.abc import Sequence
from importlib import import_module

from experiments.engine.record import STUDIES

OTHERS = {
    "atlas": "experiments.atlas.run",
    "recompute": "experiments.engine.recompute",
    "reproduce": "experiments.reproduce",
    "history": "experiments.history",
    "headlines": "experiments.headlines",
}
"""What is no study, by name: modules with a `main` of their own."""


def main(words: Sequence[str]) -> int:
    """Run what the first word names, with the other words as its arguments."""
    known = [*OTHERS, *sorted(path.parent.name for path in STUDIES.glob("*/study.py"))]
    if not words or words[0] not in known:
        print(__doc__, f"NAME is one of {', '.join(known)}.", sep="\n", file=sys.stderr)
        return 2
    name, *rest = words
    module = import_module(OTHERS.get(name, f"experiments.{name}.study"))
    if hasattr(module, "main"):
        return int(module.main(rest) or 0)
    module.STUDY.main(rest, module.__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
