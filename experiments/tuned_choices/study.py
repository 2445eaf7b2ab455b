"""Luong's choices with and without dropout, tuned alike.

Dot, general, concat, general in a predicted window (local-p) and dot with input feeding are each
trained with dropout and without. `--tune` tries the same rates for all ten, at the reported budget,
on validation sentences of their own. Of local-p it is also recorded where every predicted position
lies; see `experiments.predicted_window`.
"""

from dataclasses import dataclass, replace

import torch

from companion.data.batching import collate
from companion.models.seq2seq import Seq2SeqConfig
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.settings import REPORT_STEPS
from experiments.engine.translators import GrammarTask, fit, outcome, smoke_trace
from experiments.engine.trials import Trials, tuned
from experiments.predicted_window.study import KINDS, SEEDS, TASK, WINDOW, WindowSetting

VALIDATION = GrammarTask(test_pairs=300, bins=(), test_seed=80_001, apart_from=TASK)
"""Sentences as long as the reported ones, none of which is in a reported test set."""
LEARNING_RATES = (2e-3, 4e-3, 8e-3)
DROPOUT = 0.1


@dataclass(frozen=True)
class Choice(WindowSetting):
    """A translator in Luong's order, and its training."""

    window: int | None = None
    input_feeding: bool | None = None

    def config(self, vocabularies: tuple[int, int]) -> Seq2SeqConfig:
        """Return the model's configuration, for source and target vocabularies of a size."""
        return replace(super().config(vocabularies), input_feeding=self.input_feeding)


def arms() -> dict[str, Choice]:
    """Return all ten arms as they are tried: at the reported budget."""
    dot = Choice("dot", steps=REPORT_STEPS, dropout_p=0.0)
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


def validation_loss(setting: Choice, task: GrammarTask, seed: int) -> dict[str, float]:
    """Train on a seed; return the loss on sentences that are read by no training."""
    corpus = task.corpus(seed)
    model = fit(setting, corpus, seed).translator.model
    batch = collate(corpus.tests["test"], corpus.source_vocab, corpus.target_vocab)
    with torch.no_grad():
        return {"validation_loss": float(model.loss(batch))}


def reported() -> dict[str, Choice]:
    """Return the tuned arms."""
    return tuned("tuned_choices", arms())


STUDY = Experiment(
    name="tuned_choices", title="Luong's choices, with and without dropout, tuned alike",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome,
    trials=Trials(arms, LEARNING_RATES, VALIDATION, "validation_loss", outcome=validation_loss),
    config=lambda: {
        "task": TASK, "validation": VALIDATION, "rates": LEARNING_RATES, "arms": reported(),
    },
    kinds=KINDS, modules=(*TRANSLATORS, "experiments.predicted_window.study"),
    claims=read_claims(__file__), smoke=lambda: smoke_trace(arms().values()),
)  # fmt: skip
