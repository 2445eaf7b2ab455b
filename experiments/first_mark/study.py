"""Can a model without positions count where a text begins with a mark? With the mark, and without.

Question and models are those of `experiments.positions`, whose rows begin with any letter. Half of
the arms here read rows whose first letter is replaced by a mark, an id that no other place has: a
head that looks at all places alike gives the mark the smaller a share, the later it looks. Every
training is measured halfway and at its end. `--tune` chooses a learning rate for every arm from one
grid, on seeds of its own.
"""

from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Generator, Tensor

from bookkit.notebook.letters import Batch, Letters, letter_config
from companion.models.transformer import LanguageModel
from companion.models.transformer.config import Positions
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.descent import CLIP, WARMUP, descend
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.engine.trials import Trials, tuned
from experiments.positions.study import BUCKETS, HEADS, TASK, WIDTH, accuracy

SEEDS = tuple(range(201, 221))
LEARNING_RATES = (0.003, 0.006, 0.012, 0.024, 0.048)
LEARNED = 90.0
"""What has learned the question answers more than this, in %, at the training length."""
QUARTERS = ("first", "second", "third", "last")


class Marked(Letters):
    """Rows of letters, with a mark in the place of each first letter."""

    def draw(self, rows: int, n: int, generator: Generator) -> Batch:
        """Draw letters (rows, n) and the answers, which exist from position `back` on.

        >>> given, answers = Marked().draw(1, 6, Generator().manual_seed(1))
        >>> given.tolist(), answers[:, 3:].tolist()
        ([[8, 3, 4, 0, 7, 1]], [[8, 3, 4]])
        """
        given, _ = super().draw(rows, n, generator)
        given[:, 0] = self.letters
        return given, given.roll(self.back, 1)


@dataclass(frozen=True)
class Setting:
    """One arm of the study and its training."""

    positions: Positions
    marked: bool
    learning_rate: float = 0.0
    steps: int = 2000


def arms(way: Positions = "none") -> dict[str, Setting]:
    """Return the arms of a way of telling positions: without a mark, and with it."""
    return {way: Setting(way, marked=False), f"{way}-marked": Setting(way, marked=True)}


def reported(study: str = "first_mark", way: Positions = "none") -> dict[str, Setting]:
    """Return the tuned arms of a study."""
    return tuned(study, arms(way))


def fit(
    setting: Setting, task: Letters, seed: int
) -> tuple[LanguageModel, list[float], dict[str, float]]:
    """Train an arm; return its model, the loss of every update, and what was right halfway.

    Arms of one seed see the same letters, but for the first of each row.
    """
    config = letter_config(task, setting.positions, width=WIDTH, heads=HEADS, buckets=BUCKETS)
    halfway: dict[str, float] = {}
    updates = 0

    def loss(model: LanguageModel, batch: Batch) -> Tensor:
        nonlocal updates
        if updates == setting.steps // 2:
            halfway.update(accuracy(model, task, seed))
        updates += 1
        return task.loss(model, batch)

    model, losses = descend(lambda: LanguageModel(config), task.batch, loss, setting, seed)
    return model, losses, {f"halfway/{name}": value for name, value in halfway.items()}


@torch.no_grad()
def by_quarter(model: LanguageModel, task: Letters, seed: int) -> dict[str, float]:
    """Return the share of right answers in each quarter of the training length, in %.

    The first quarter has fewer answers than the others: they exist from position `back` on.
    """
    given, answers = task.draw(task.test_size, task.length, Generator().manual_seed(90_000 + seed))
    right = (model(given).argmax(-1) == answers).double()
    parts = zip(QUARTERS, right.chunk(4, 1), (task.back, 0, 0, 0), strict=True)
    return {f"quarter/{name}": 100 * float(part[:, skip:].mean()) for name, part, skip in parts}


def outcome(setting: Setting, task: Letters, seed: int) -> dict[str, float]:
    """Train one arm: its loss, its right answers halfway and at the end, and whether it learned."""
    asked = Marked(**vars(task)) if setting.marked else task
    model, losses, halfway = fit(setting, asked, seed)
    end = accuracy(model, asked, seed)
    learned = 100.0 * (end[f"accuracy/{task.length}"] > LEARNED)
    return {
        "final_loss": fmean(losses[-20:]), "learned": learned,
        **halfway, **end, **by_quarter(model, asked, seed),
    }  # fmt: skip


def smoke(way: Positions = "none") -> list[float]:
    """Run the whole pipeline small: a few updates of every arm, and what is measured of them."""
    task = Letters(letters=5, back=2, length=12, batch_size=4, test_size=6)
    trace: list[float] = []
    for arm in arms(way).values():
        asked = Marked(**vars(task)) if arm.marked else task
        setting = Setting(arm.positions, arm.marked, learning_rate=0.01, steps=4)
        model, losses, halfway = fit(setting, asked, seed=7)
        measures = halfway | accuracy(model, asked, seed=7) | by_quarter(model, asked, seed=7)
        trace += [*losses, fmean(measures.values()) / 1000]
    return trace


def fixed(settings: dict[str, Setting]) -> dict[str, object]:
    """Return what was fixed before the runs."""
    return {
        "task": TASK, "width": WIDTH, "heads": HEADS, "blocks": 2, "warmup": WARMUP, "clip": CLIP,
        "learned": LEARNED, "arms": settings,
    }  # fmt: skip


TRIALS = Trials(arms, LEARNING_RATES, TASK, metric="loss of the last 20 updates", digits=".6f")
STUDY = Experiment(
    name="first_mark", title="Models without positions, with a first mark and without",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, trials=TRIALS, workers=1,
    config=lambda: fixed(reported()),
    kinds={
        "*/final_loss": number("nats", 0), "*/learned": share(1, own=True),
        "*": share(TASK.test_size, own=True),
    },
    modules=(*TRANSFORMERS, "bookkit.notebook.letters", "experiments.positions.study"),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
