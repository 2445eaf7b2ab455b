"""How many words does a table of word pairs get right, in the eyes of a language model?

The language model is that of the study of decoding. The draft is a table that says how often each
word followed each other one in the sentences that the model has read. It proposes words, and one
pass of the model keeps some of them, so that the model's own distribution is what is written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean

import torch
from torch import Generator, Tensor

from companion.data.vocabulary import Vocabulary
from companion.decoding import Score, Speculated, overlap, speculate
from companion.models.transformer import LanguageModel
from experiments.decoding import study as decoding
from experiments.decoding.study import Setting, fit
from experiments.engine.claims_file import read_claims
from experiments.engine.code import GRAMMAR, TEXTS, TRANSFORMERS
from experiments.engine.experiment import Experiment
from experiments.engine.kinds import number

SEEDS = tuple(range(1, 21))
AHEADS = (1, 2, 4, 8)
"""How many words are proposed for one pass."""


@dataclass(frozen=True)
class Task:
    """What the model and the table read, and how much is written."""

    read: decoding.Task = field(default_factory=decoding.Task)
    samples: int = 150
    unseen: float = 0.01


TASK = Task()
SETTING = Setting()


def pair_table(sentences: Iterable[Sequence[int]], size: int, unseen: float) -> Tensor:
    """Return how probable each word is after each other one, (before, after).

    Args:
        unseen: what a pair counts that never occurred.
    """
    counts = torch.full((size, size), unseen, dtype=torch.float64)
    for ids in sentences:
        for before, after in pairwise(ids):
            counts[before, after] += 1
    return counts / counts.sum(1, keepdim=True)


def draft_of(seen: Iterable[tuple[str, ...]], vocab: Vocabulary, unseen: float) -> Score:
    """Return the draft: the row of the table for the last word."""
    marked = ([vocab.bos_id, *vocab.encode(words), vocab.eos_id] for words in sorted(seen))
    table = pair_table(marked, len(vocab), unseen)
    return lambda tokens: table[tokens]


def score_of(model: LanguageModel) -> Score:
    """Return what the model gives every next word."""

    @torch.no_grad()
    def score(tokens: Tensor) -> Tensor:
        return model(tokens[None])[0].double().softmax(-1)

    return score


def measured(
    written: Sequence[Speculated], draft: Score, target: Score, bos: int
) -> dict[str, float]:
    """Return what was kept of what was checked, in percent, and how many words a pass gave."""
    origins = [origin for one in written for origin in one.origins]
    checked = len(origins) - origins.count("added")
    shared = []
    for one in written:
        before = torch.cat((torch.tensor([bos]), one.tokens[:-1]))
        places = torch.tensor([origin != "added" for origin in one.origins])
        shared.append(overlap(draft(before), target(before))[places])
    return {
        "kept": 100 * origins.count("kept") / checked,
        "overlap": 100 * float(torch.cat(shared).mean()),
        "words": len(origins) / sum(one.passes for one in written),
    }


def outcome(seed: int, setting: Setting = SETTING, task: Task = TASK) -> dict[str, float]:
    """Train one model, and let the table of pairs write with it."""
    model, vocab, seen, losses = fit(setting, task.read, seed)
    draft, target = draft_of(seen, vocab, task.unseen), score_of(model)
    measures = {"final_loss": fmean(losses[-20:])}
    for ahead in AHEADS:
        generator = Generator().manual_seed(seed)
        written = [
            speculate(
                draft, target, torch.tensor([vocab.bos_id]), eos_id=vocab.eos_id,
                max_len=task.read.limit, ahead=ahead, generator=generator,
            )
            for _ in range(task.samples)
        ]  # fmt: skip
        found = measured(written, draft, target, vocab.bos_id)
        measures |= {f"{ahead}/{name}": value for name, value in found.items()}
    return measures


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    task = Task(decoding.Task(sentences=150, max_length=6, beginnings=3, limit=8), samples=6)
    setting = Setting(steps=8, batch_size=16, embed_dim=16)
    return [*fit(setting, task.read, seed=7).losses, *outcome(7, setting, task).values()]


STUDY = Experiment(
    name="speculative", title="How many words a pass of a language model writes with a draft",
    seeds=SEEDS, beside=outcome, workers=1,
    config=lambda: {"setting": SETTING, "task": TASK, "aheads": AHEADS},
    kinds={
        "final_loss": number("nats", 0), "*/kept": number("%", 0, 100),
        "*/overlap": number("%", 0, 100), "*/words": number("words a pass", 1),
    },
    modules=(
        *TRANSFORMERS, *TEXTS, *GRAMMAR, "companion.decoding",
        "experiments.decoding.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
