"""A Transformer and a recurrent translator, with equal updates and with equal time.

Both translate the sentences of the small task and have about as many weights. The recurrent one
has additive attention, the stronger of the two kinds that the study of the bottleneck recorded.
Rate and dropout of both are chosen from one grid after 800 updates, on seeds and sentences that are
not reported. Every training has a budget of its own, at whose end its learning rate is 0; the
longer budget is twice the shorter, which shows whether a model still improves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from experiments import trials
from experiments.claims import Claim
from experiments.experiment import Experiment, on
from experiments.findings import with_findings
from experiments.findings.translator_race import FINDINGS
from experiments.kinds import number
from experiments.settings import LIVE_TASK
from experiments.transformer import TransformerSetting
from experiments.translators import AnySetting, Setting, gain, kinds, outcome, smoke_trace
from experiments.tune import tune as tune_settings
from experiments.update_cost import update_costs

NAME = "translator_race"
SEEDS = (1, 2, 3)
TASK = replace(LIVE_TASK, bins=(), test_pairs=1000)
VALIDATION = replace(TASK, test_pairs=500, test_seed=80_001, apart_from=TASK)
SHORT, LONG = 800, 1600
TIME_RATIO = 1.4
"""How many recurrent updates take the time of one of the Transformer's, timed before the runs."""

TRANSFORMER = TransformerSetting(embed_dim=64, hidden_dim=128, dropout_p=0.0, steps=SHORT)
RECURRENT = Setting("additive", hidden_dim=92, dropout_p=0.0, steps=SHORT)
"""With a state of 92 it has about as many weights as the Transformer, 192,000."""
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3)
SETTLED = 2.0
"""Points of exact match: a model that twice the updates improve by less has settled."""


def tune(workers: int = 1) -> None:
    """Choose the learning rate of both without dropout, then try dropout at the best rate."""
    starts: tuple[AnySetting, ...] = (TRANSFORMER, RECURRENT)
    rates = [replace(one, learning_rate=rate) for one in starts for rate in LEARNING_RATES]
    best = choose(rates, workers)
    choose([*rates, *(replace(one, dropout_p=0.1) for one in best.values())], workers)


def choose(settings: Sequence[AnySetting], workers: int) -> dict[str, AnySetting]:
    """Try every setting, record all, and return the best Transformer and the best recurrent."""
    return tune_settings(NAME, settings, VALIDATION, "exact_match/test", workers)


def arms() -> dict[str, AnySetting]:
    """Return both as tuned, each with its budgets."""
    starts: dict[str, AnySetting] = {"transformer": TRANSFORMER, "additive": RECURRENT}
    chosen = trials.tuned(NAME, starts)
    transformer, recurrent = chosen["transformer"], chosen["additive"]
    return {
        "transformer_short": replace(transformer, steps=SHORT),
        "transformer_long": replace(transformer, steps=LONG),
        "recurrent_short": replace(recurrent, steps=SHORT),
        "recurrent_long": replace(recurrent, steps=LONG),
        "recurrent_short_time": replace(recurrent, steps=round(TIME_RATIO * SHORT)),
        "recurrent_long_time": replace(recurrent, steps=round(TIME_RATIO * LONG)),
    }


def update_cost(seed: int) -> dict[str, float]:
    """Return what an update of the Transformer costs, as a multiple of a recurrent one."""
    every = arms()
    rivals = {"recurrent": every["recurrent_long"], "transformer": every["transformer_long"]}
    return {"update_cost/transformer": update_costs(rivals, TASK, seed)["transformer"]}


def smoke() -> list[float]:
    """Run the whole pipeline on a few sentences; see `smoke_trace`."""
    return smoke_trace([TRANSFORMER, RECURRENT])


def settled(sentence: str, longer: str, shorter: str) -> Claim:
    """Claim that twice the updates gain little."""
    first, second = (f"{arm}/exact_match/test" for arm in (longer, shorter))
    return Claim(sentence, first, second, "points of exact match", below=SETTLED)


CLAIMS = with_findings(FINDINGS, {
    "equal_updates": gain(
        "After 1,600 updates each, the Transformer gets more sentences right than the recurrent "
        "translator.",
        "transformer_long", "recurrent_long"),
    "equal_time": gain(
        "In the processor time of 1,600 of its updates, the Transformer gets more sentences right "
        "than the recurrent translator.",
        "transformer_long", "recurrent_long_time"),
    "equal_updates_short": gain(
        "After 800 updates each, the Transformer gets more sentences right than the recurrent "
        "translator.",
        "transformer_short", "recurrent_short"),
    "equal_time_short": gain(
        "In the processor time of 800 of its updates, the Transformer gets more sentences right "
        "than the recurrent translator.",
        "transformer_short", "recurrent_short_time"),
    "new_combinations": gain(
        "After 1,600 updates each, the Transformer gets more right of the sentences with new "
        "combinations of words.",
        "transformer_long", "recurrent_long", "held_out"),
    "transformer_settled": settled(
        "Twice the updates gain the Transformer less than 2 points.",
        "transformer_long", "transformer_short"),
    "recurrent_settled": settled(
        "Twice the updates gain the recurrent translator less than 2 points.",
        "recurrent_long_time", "recurrent_short_time"),
})  # fmt: skip

STUDY = Experiment(
    name=NAME, title="A Transformer and a recurrent translator: equal updates and equal time",
    seeds=SEEDS, arms=lambda: on(TASK, arms()), outcome=outcome, beside=update_cost,
    timed=True, kinds={"update_cost/*": number("× a recurrent update", 0), **kinds(TASK)},
    claims=CLAIMS, smoke=smoke, workers=1, least_seeds=len(SEEDS),
)  # fmt: skip

if __name__ == "__main__":
    STUDY.main(__doc__, tune)
