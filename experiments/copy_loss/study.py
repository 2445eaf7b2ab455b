"""Is the sudden step of copying in the loss, too? Two layers, by accuracy and by loss.

Task, models and settings are those of `experiments.induction`, which counts a symbol as right or
wrong. Such a count may jump where the probability of the right symbol grows steadily. Here the
repetition is measured while two layers train by its accuracy, by its loss, and by the probability
of the right symbol, on the same texts. Each seed has texts of its own.
"""

from statistics import fmean

import torch
from torch import Generator, Tensor

from companion.models.transformer import LanguageModel
from companion.training import TrainingConfig, train
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number, share
from experiments.induction.study import TASK, WITHIN, Batches, Setting, Task, attention_only
from experiments.induction.study import reported as settings

SEEDS = tuple(range(461, 481))
TEXTS_SEED = 90_000
"""What is added to a seed for the texts that it is measured on."""


def reported() -> dict[str, Setting]:
    """Return the arm of two layers, as `induction` reports it."""
    return {"two": settings()["two"]}


@torch.no_grad()
def measured(model: LanguageModel, sequences: Tensor, lengths: Tensor) -> dict[str, float]:
    """Return accuracy and probability in %, and the loss, where the repetition decides the symbol.

    That is from the second symbol of the second copy on.
    """
    known = (torch.arange(sequences.shape[1]) >= lengths[:, None])[:, :-1]
    log_p = model(sequences)[:, :-1].log_softmax(-1)[known]
    wanted = sequences[:, 1:][known]
    of_wanted = log_p.gather(-1, wanted[:, None]).double()
    return {
        "accuracy": 100 * float((log_p.argmax(-1) == wanted).double().mean()),
        "loss": -float(of_wanted.mean()),
        "probability": 100 * float(of_wanted.exp().mean()),
    }


def outcome(setting: Setting, task: Task, seed: int) -> dict[str, float]:
    """Train a model, and measure it before the first update, every so many, and at the end."""
    torch.manual_seed(seed)
    model = attention_only(setting, task)
    texts = task.draw(Generator().manual_seed(TEXTS_SEED + seed), task.watched)
    batches, measures, updates = Batches(task, seed), dict[str, float](), 0

    def look(step: int) -> None:
        measures.update({f"{name}/{step:04d}": v for name, v in measured(model, *texts).items()})

    def loss(model: LanguageModel, batch: Tensor) -> Tensor:
        nonlocal updates
        if updates % setting.every == 0:
            look(updates)
        updates += 1
        return model.loss(batch)

    config = TrainingConfig(setting.steps, setting.learning_rate, min(50, setting.steps), seed=seed)
    losses = train(model, batches, loss, config, progress=False)
    look(setting.steps)
    return measures | {"final_loss": fmean(losses[-20:])}


def smoke() -> list[float]:
    """Run the whole pipeline small."""
    task = Task(symbols=7, length=12, shortest=3, longest=5, batch_size=4, test_size=6)
    setting = Setting(2, 6, 4e-3, every=3, width=16, num_heads=2)
    return [value / 10 for value in outcome(setting, task, seed=7).values()]


def steepest(runs: Runs, measure: str) -> list[float]:
    """Return the largest change of a measure within `WITHIN` updates, in % of its whole change.

    >>> curve = [4.0, 3.0, 3.0, 2.0, 1.0, 0.0]
    >>> steepest({f"two/loss/{25 * n:04d}": [loss] for n, loss in enumerate(curve)}, "loss")
    [75.0]
    """
    span = WITHIN // Setting(2).every
    names = sorted(name for name in runs if name.startswith(f"two/{measure}/"))
    curves = list(zip(*(runs[name] for name in names), strict=True))
    spans = [zip(curve[:-span], curve[span:], strict=True) for curve in curves]
    return [
        max(100 * (after - before) / (curve[-1] - curve[0]) for before, after in pairs)
        for curve, pairs in zip(curves, spans, strict=True)
    ]


STUDY = Experiment(
    name="copy_loss", title="How suddenly two layers learn to copy, by accuracy and by loss",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, workers=1,
    config=lambda: {"task": TASK, "arms": reported(), "within": WITHIN},
    kinds={
        "*/accuracy/*": share(TASK.watched, own=True), "*/probability/*": number("%", 0, 100),
        "*": number("nats", 0),
    },
    modules=(*TRANSFORMERS, "experiments.induction.study"),
    claims=read_claims(__file__, steepest), smoke=smoke,
)  # fmt: skip
