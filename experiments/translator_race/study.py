"""A Transformer and a recurrent translator, with equal updates and with equal time.

Both translate the sentences of the small task and have about as many weights. The recurrent one
has additive attention, the stronger of the two kinds that the study of the bottleneck recorded.
Rate and dropout of both are chosen from one grid after 800 updates, on seeds and sentences that
are not reported. Every training has a budget of its own, at whose end its learning rate is 0; a
budget is twice the one before it, which shows whether a model still improves. An update of the
Transformer takes about as long as a recurrent one or less, which the study measures, too: who is
ahead after equal updates is ahead in equal time.
"""

from collections.abc import Sequence
from dataclasses import replace

from experiments.engine import trials
from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS, TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number
from experiments.engine.settings import LIVE_TASK, REPORT_SEEDS
from experiments.engine.translators import Setting, Trainable, kinds, outcome, smoke_trace
from experiments.engine.tune import tune as tune_settings
from experiments.engine.update_cost import update_costs
from experiments.transformer.study import TransformerSetting

NAME = "translator_race"
TASK = replace(LIVE_TASK, bins=(), test_pairs=1000)
VALIDATION = replace(TASK, test_pairs=500, test_seed=80_001, apart_from=TASK)
TRIED = 800
BUDGETS = {"short": 1600, "long": 3200, "longest": 6400}
"""Updates of a trial, and of the budgets that are reported."""

TRANSFORMER = TransformerSetting(embed_dim=64, hidden_dim=128, dropout_p=0.0, steps=TRIED)
RECURRENT = Setting("additive", hidden_dim=92, dropout_p=0.0, steps=TRIED)
"""With a state of 92 it has about as many weights as the Transformer, 192,000."""
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)


def tune(workers: int = 1) -> None:
    """Choose the learning rate of both without dropout, then try dropout at the best rate."""
    starts: tuple[Trainable, ...] = (TRANSFORMER, RECURRENT)
    rates = [replace(one, learning_rate=rate) for one in starts for rate in LEARNING_RATES]
    best = choose(rates, workers)
    choose([*rates, *(replace(one, dropout_p=0.1) for one in best.values())], workers)


def choose(settings: Sequence[Trainable], workers: int) -> dict[str, Trainable]:
    """Try every setting, record all, and return the best Transformer and the best recurrent."""
    return tune_settings(NAME, settings, VALIDATION, "exact_match/test", workers)


def arms() -> dict[str, Trainable]:
    """Return both as tuned, each with its budgets."""
    starts: dict[str, Trainable] = {"transformer": TRANSFORMER, "additive": RECURRENT}
    chosen = trials.tuned(NAME, starts)
    rivals = {"transformer": chosen["transformer"], "recurrent": chosen["additive"]}
    return {
        f"{name}_{budget}": replace(setting, steps=steps)
        for name, setting in rivals.items()
        for budget, steps in BUDGETS.items()
    }


def update_cost(seed: int) -> dict[str, float]:
    """Return what an update of the Transformer costs, as a multiple of a recurrent one."""
    every = arms()
    rivals = {"recurrent": every["recurrent_long"], "transformer": every["transformer_long"]}
    return {"update_cost/transformer": update_costs(rivals, TASK, seed)["transformer"]}


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`."""
    return smoke_trace([TRANSFORMER, RECURRENT])


STUDY = Experiment(
    name=NAME, title="A Transformer and a recurrent translator: equal updates and equal time",
    seeds=REPORT_SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome, beside=update_cost,
    timed=True,
    kinds={"update_cost/*": number("× a recurrent update", 0, timed=True), **kinds(TASK)},
    modules=(
        *TRANSLATORS, *TRANSFORMERS, "experiments.engine.update_cost",
        "experiments.transformer.study",
    ),
    claims=read_claims(__file__), smoke=smoke, tuning=tune,
)  # fmt: skip
