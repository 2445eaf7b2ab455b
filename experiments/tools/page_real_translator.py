"""Store the translator of real sentences, which the study `sentences` has trained, for a page.

`python -m experiments.tools.page_real_translator PAIRS --credit "..." --licence "..."` reads what
the study left in `runs`, or trains it. Weights have eight bits. The file says whom the sentences
are owed to.
"""

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bookkit.playables.real_translator import FILE
from bookkit.playables.weights import save_translator
from experiments.real_sentences.study import sha256_of
from experiments.sentences.pieces import split
from experiments.sentences.study import SEED, SHIPPED
from experiments.sentences.translators import Trained, trained
from experiments.tools.stamp import current_run


def store(one: Trained, path: Path, about: Mapping[str, Any]) -> None:
    """Write a translator of pieces, with the pairs of pieces that are merged, in their order."""
    merges = json.loads(one.pieces.to_str())["model"]["merges"]
    save_translator(one.translator, path, about={**about, "merges": [*map(" ".join, merges)]})


def main() -> None:
    """Train or read back, and write."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.tools.page_real_translator", description=__doc__
    )
    parser.add_argument("pairs")
    parser.add_argument("--credit", required=True)
    parser.add_argument("--licence", required=True)
    options = parser.parse_args()
    store(
        trained(SHIPPED, options.pairs, SEED), FILE,
        {
            "command": parser.prog, "seed": SEED, "setting": asdict(SHIPPED),
            "training_pairs": len(split(options.pairs).train), "data": sha256_of(options.pairs),
            "credit": options.credit, "licence": options.licence, **current_run(),
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
