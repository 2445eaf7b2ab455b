"""Can a recurrent encoder answer a look-up without learned weights, if it is wide and trains long?

`experiments.explanation` trains the look-up with a biGRU and uniform attention at one width, for
1,000 updates at most. Here the same classifier is trained at three widths, and measured after a
quarter, a half and all of each training, on more test sentences and on other seeds. The rate stays
as it is after its warm-up, so no point comes after a decay that the others have not had. `--tune`
chooses a rate for every width from one grid, by the loss at the first point.
"""

from collections import Counter
from dataclasses import replace
from itertools import count
from statistics import fmean

from torch import Tensor

from bookkit.data.classification import Examples
from companion.models.classifier import AttentionClassifier, ClassifierConfig
from companion.training import TrainingConfig
from experiments.engine.claims_file import read_claims
from experiments.engine.code import LAYERS
from experiments.engine.descent import train_new
from experiments.engine.experiment import Answers, Experiment, Measures, by_item, numbers, on
from experiments.engine.kinds import exact, number, share
from experiments.engine.trials import Trials, tuned
from experiments.explanation.study import (
    SMOKE,
    TASKS,
    TESTS,
    Drawn,
    Setting,
    Tests,
    correct,
    held_out,
    loss_of,
    percent,
)

SEEDS = tuple(range(521, 541))
WIDTHS = (32, 64, 128)
STEPS = 4000
TRIAL_STEPS = STEPS // 4
LEARNING_RATES = (0.001, 0.002, 0.004, 0.008, 0.016)
AVERAGED = 100
"""Updates over which a loss is averaged, at most."""
TASK = TASKS["lookup"]
ASKED = replace(TESTS, examples=2000)


class Constant(TrainingConfig):
    """A rate that stays as it is after the warm-up."""

    def rate(self, step: int) -> float:
        """Return the learning rate of update `step`, counted from 0.

        >>> config = Constant(8, learning_rate=1.0, warmup_steps=2)
        >>> [config.rate(step) for step in (0, 1, 7)]
        [0.5, 1.0, 1.0]
        """
        return self.learning_rate * min(1, (step + 1) / self.warmup_steps)


def outcome(setting: Setting, tests: Tests, seed: int) -> Measures:
    """Train one classifier; measure its answers and its loss after a quarter, a half and all."""
    shape = TASK.vocab_size, TASK.classes, TASK.questions, setting.embed_dim
    config = ClassifierConfig(*shape, setting.encoder, setting.attention)
    examples, points = held_out(TASK, tests), [setting.steps // part for part in (4, 2, 1)]
    measures: dict[str, float | Answers] = {}
    updates = count()

    def look(model: AttentionClassifier, done: int) -> None:
        hits = correct(model, examples)
        measures[f"{done}/accuracy"] = percent(hits)
        measures[by_item(f"{done}/accuracy")] = [(float(hit), 1.0) for hit in hits.tolist()]

    def loss(model: AttentionClassifier, batch: Examples) -> Tensor:
        if (done := next(updates)) in points:
            look(model, done)
        return loss_of(model, batch)

    model, losses = train_new(
        lambda: AttentionClassifier(config),
        Drawn(TASK, setting.batch_size, seed),
        loss,
        Constant(setting.steps, setting.learning_rate, setting.warmup_steps, seed=seed),
    )
    look(model, setting.steps)
    return measures | {f"{n}/loss": fmean(losses[max(0, n - AVERAGED) : n]) for n in points}


def ceiling(seed: int) -> Measures:
    """Return how many answers embeddings can get right at most on the test sentences, in %."""
    examples = held_out(TASK, ASKED)
    facts = zip(examples.tokens[..., 1].tolist(), examples.lengths.tolist(), strict=True)
    return {"ceiling": 100 * fmean(max(Counter(said[:n]).values()) / n for said, n in facts)}


def arms() -> dict[str, Setting]:
    """Return the classifier at every width, as its rate is tried."""
    narrow = Setting("lookup", "gru", "uniform", steps=TRIAL_STEPS)
    return {str(width): replace(narrow, embed_dim=width) for width in WIDTHS}


def reported() -> dict[str, Setting]:
    """Return the tuned arms, trained for longer."""
    return tuned("wider_lookup", arms(), steps=STEPS)


def smoke() -> list[float]:
    """Run the whole pipeline small: a few updates at every width, and what is measured of them."""
    small = [replace(arm, learning_rate=0.01, steps=8, warmup_steps=2) for arm in arms().values()]
    found = [outcome(arm, SMOKE, seed=7) for arm in small]
    return [value / 100 for one in found for value in numbers(one).values()]


STUDY = Experiment(
    name="wider_lookup", title="Look-up without learned weights, by width and by updates",
    seeds=SEEDS, arms=lambda: on(ASKED, reported()), outcome=outcome, beside=ceiling,
    trials=Trials(
        arms, LEARNING_RATES, ASKED, f"{TRIAL_STEPS}/loss", metric="loss of the last 100 updates"
    ),
    config=lambda: {"task": TASK, "tests": ASKED, "arms": reported(), "rates": LEARNING_RATES},
    kinds={"*/loss": number("nats", 0), "*/accuracy": share(ASKED.examples), "ceiling": exact("%")},
    modules=(
        *LAYERS, "bookkit.data.classification", "companion.models.classifier",
        "experiments.explanation.study",
    ),
    claims=read_claims(__file__), smoke=smoke,
)  # fmt: skip
