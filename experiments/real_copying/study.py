"""Heads that copy in a real language model, taken away one by one and together.

Each seed is one book and random tokens that come again, so that intervals are over texts and
tokens. Heads are found with the recipe of `experiments.induction`, on other random tokens.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor

from companion.models.transformer import LanguageModel
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number
from experiments.real_heads.heads import (
    FIRST,
    LENGTH,
    SEEDS,
    TASK,
    TEXTS,
    Heads,
    best,
    books,
    chosen,
    drawn,
    loaded,
    looks,
    predicted,
    small,
)

OTHERS = Path(__file__).with_name("others.json")
"""Sixteen heads a seed, drawn once from the layers of the best sixteen copying heads."""
BLOCKS = 2
TOGETHER = {"copying": (2, 3, 4, 8, 16, 32), "previous": (1, 3, 16)}
"""How many of the best heads are taken together."""


def taken_away(
    model: LanguageModel,
    passage: Tensor,
    blocks: tuple[Tensor, Tensor],
    means: Mapping[str, Tensor],
    ranks: Mapping[str, Heads],
    others: Heads,
) -> dict[str, float]:
    """Take copying heads away, one by one and together, from repetitions and from text."""
    copiers = ranks["copying"]
    groups: dict[str, Heads] = {
        "none": [],
        **{f"alone/{rank}": [one] for rank, one in enumerate(copiers[:8], 1)},
    }
    for kind, counts in TOGETHER.items():
        groups |= {f"{kind}/{count}": ranks[kind][:count] for count in counts}
    groups["others/16"] = others
    scores = looks(model, *blocks)["copying"]
    found = {f"weight/{n}": float(scores[one]) for n, one in enumerate(copiers[:16], 1)}
    found["heads"] = float((scores >= 0.2).sum())
    text = predicted(model, passage, groups, means["text"])
    again = [
        predicted(model, row, groups, means["blocks"], length + 1)
        for row, length in zip(blocks[0], blocks[1].tolist(), strict=True)
    ]
    for name in groups:
        loss, right = map(fmean, zip(*(one[name] for one in again), strict=True))
        found |= {f"{name}/repetition": loss, f"{name}/right": right, f"{name}/text": text[name][0]}
    return found


def run(seed: int) -> dict[str, float]:
    """Take heads away from one book and from random tokens."""
    model, tokenizer, means, _ = loaded()
    passage = torch.tensor(tokenizer.encode(books("reported")[seed - 1])[:LENGTH])
    others = [(layer, head) for layer, head in json.loads(OTHERS.read_text("utf-8"))[seed - 1]]
    return taken_away(model, passage, drawn(seed, BLOCKS), means, chosen(), others)


def smoke() -> list[float]:
    """Run all of it on a model that has learned nothing."""
    model, blocks, passage, means = small()
    ranks = {name: best(one) for name, one in looks(model, *blocks).items()}
    found = taken_away(model, passage, blocks, means, ranks, [(0, 1), (1, 2)])
    # A tie would change shares and counts.
    return [value for name, value in found.items() if not name.endswith(("right", "heads"))]


STUDY = Experiment(
    name="real_copying",
    title="Heads that copy in a real language model",
    seeds=SEEDS, over="texts", beside=run, workers=1,
    config=lambda: {
        "length": LENGTH, "first": FIRST, "task": TASK, "blocks": BLOCKS,
        "chosen": {kind: chosen()[kind] for kind in TOGETHER},
    },
    kinds={
        "weight/*": number("", 0, 1), "heads": number("heads", 0, 270),
        "*/right": number("%", 0, 100), "*": number("nats", 0),
    },
    modules=(
        *TRANSFORMERS, "companion.models.smollm", "experiments.induction.study",
        "experiments.real_heads.heads",
    ),
    data={
        "credit": "books of Project Gutenberg, named in experiments/real_heads/texts.json",
        "licence": "public domain in the United States",
        "sha256": sha256(TEXTS.read_bytes()).hexdigest(),
    },
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
