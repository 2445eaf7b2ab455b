"""A predicted window and input feeding, trained with dropout.

The study of Luong's choices tuned these two with dropout and trained them without it alone. Here
they train with it, at the rates that were chosen there and on the same seeds, so that each meets
its rival of that study, seed by seed.
"""

from functools import cache

from bookkit.records import Measure, load_result
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import Experiment, on
from experiments.engine.translators import outcome
from experiments.engine.trials import tuned
from experiments.tuned_choices import study as choices
from experiments.tuned_choices.study import SEEDS, TASK, Choice

RIVALS = ("general_dropout", "dot_dropout")


def arms() -> dict[str, Choice]:
    """Return both as they were tuned."""
    settings = tuned("tuned_choices", choices.arms())
    return {name: settings[name] for name in ("local_dropout", "fed_dropout")}


@cache
def rivals() -> dict[str, Measure]:
    """Return what the same seeds gave with all words, and without input feeding."""
    study = load_result("tuned_choices")
    return {name: study[name] for name in study.measures if name.startswith(RIVALS)}


STUDY = Experiment(
    name="choices_dropout", title="A predicted window and input feeding, with dropout",
    seeds=SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome,
    config=lambda: {"task": TASK, "arms": arms()}, kinds=choices.STUDY.kinds,
    modules=("experiments.tuned_choices.study", *choices.STUDY.modules),
    claims=read_claims(__file__), elsewhere=rivals, smoke=choices.STUDY.smoke, workers=1,
)  # fmt: skip
