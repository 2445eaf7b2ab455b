"""Luong's choices with and without dropout, tuned alike, at the size of the pages' translators.

Dot, general, concat, general in a predicted window (local-p) and dot with input feeding are each
trained with dropout and without. `--tune` tries the same rates for all ten, at the reported budget,
on validation sentences of their own. With dropout, only the scores are reported: twenty seeds of
all ten would have taken too long.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from companion.data.pairs import Pair
from companion.models.seq2seq import Seq2SeqConfig
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Answers, Experiment, on
from experiments.engine.settings import LIVE_SETTINGS, LIVE_TASK
from experiments.engine.translators import Trained, alignment, kinds, outcome, smoke_trace
from experiments.engine.trials import Trials, tuned
from experiments.memory_context.study import VALIDATION, validation_loss
from experiments.predicted_window.study import WINDOW, WindowSetting

SEEDS = tuple(range(211, 231))
TASK = replace(LIVE_TASK, bins=(*LIVE_TASK.bins, (15, 18)))
"""The sentences of the pages' translators, and some that are longer than any of training."""
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)
DROPOUT = 0.1


@dataclass(frozen=True)
class Choice(WindowSetting):
    """A translator in Luong's order, and its training."""

    window: int | None = None
    input_feeding: bool | None = None

    def config(self, vocabularies: tuple[int, int]) -> Seq2SeqConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return replace(super().config(vocabularies), input_feeding=self.input_feeding)

    def links(self, trained: Trained, pairs: Sequence[Pair]) -> dict[str, float | Answers]:
        """Hold attention against the gold links."""
        return alignment(trained, pairs)


def arms() -> dict[str, Choice]:
    """Return all ten arms as they are tried: at the reported budget."""
    dot = replace(Choice(**vars(LIVE_SETTINGS["dot"])), dropout_p=0.0)
    general = replace(dot, attention="general")
    plain = {
        "dot": dot,
        "general": general,
        "concat": replace(dot, attention="concat"),
        "local": replace(general, window=WINDOW),
        "fed": replace(dot, input_feeding=True),
    }
    with_dropout = {name: replace(one, dropout_p=DROPOUT) for name, one in plain.items()}
    return plain | {f"{name}_dropout": one for name, one in with_dropout.items()}


def reported() -> dict[str, Choice]:
    """Return the tuned arms, without those with dropout that differ in more than the score."""
    left_out = {"local_dropout", "fed_dropout"}
    return {k: one for k, one in tuned("tuned_choices", arms()).items() if k not in left_out}


STUDY = Experiment(
    name="tuned_choices", title="Luong's choices, with and without dropout, tuned alike",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, VALIDATION, "validation_loss", outcome=validation_loss),
    config=lambda: {"task": TASK, "validation": VALIDATION, "arms": reported()},
    kinds=kinds(TASK),
    modules=(
        *TRANSLATORS, "experiments.memory_context.study", "experiments.predicted_window.study",
    ),
    claims=read_claims(__file__), smoke=lambda: smoke_trace(arms().values()), workers=1,
)  # fmt: skip
