"""Train the two networks of the lesson "Learned by heart", which a page fetches after a click.

They are those of the first seed of the study `founding`: one learned the phrase book, the other the
same book with its translations shuffled. Their weights are stored in eight bits.
"""

import argparse
from dataclasses import asdict
from typing import Any

import torch

from bookkit.playables.finger import FILES, FOLDER
from bookkit.playables.weights import save_translator
from companion.data.pairs import Pair
from experiments.founding.study import SEEDS, arms, fit
from experiments.tools.page_translator import digest_of_pairs
from experiments.tools.stamp import current_run

ARMS = {"true": "additive", "shuffled": "shuffled"}
"""Under the name of each file the arm of the study that it holds."""


def _spelled(pairs: list[Pair]) -> list[list[str]]:
    return [["".join(pair.source), "".join(pair.target)] for pair in pairs]


def main() -> None:
    """Train and write."""
    argparse.ArgumentParser(
        prog="python -m experiments.tools.page_phrases", description=__doc__
    ).parse_args()
    torch.set_num_threads(1)
    for name, kind in ARMS.items():
        arm, seed = arms()[kind], SEEDS[0]
        corpus = arm.task.corpus(seed)
        about: dict[str, Any] = {
            "command": "python -m experiments.tools.page_phrases", "seed": seed,
            "setting": asdict(arm.setting), "learned": _spelled(corpus.train),
            "hidden": _spelled(corpus.tests["unseen"]), "data": digest_of_pairs(corpus.train),
            **current_run(),
        }  # fmt: skip
        translator, _ = fit(arm.setting, corpus, seed)
        save_translator(translator, FOLDER / FILES[name], about=about)


if __name__ == "__main__":
    main()
