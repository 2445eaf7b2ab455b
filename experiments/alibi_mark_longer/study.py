"""Does ALiBi with a first mark keep its answers on longer texts, if it trains for longer?

The study `alibi_mark`, with three times the updates, on other seeds.
"""

from dataclasses import replace

from experiments.alibi_mark.study import STUDY as ALIBI_MARK
from experiments.alibi_mark.study import reported as shorter
from experiments.engine.claims import Runs
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import on
from experiments.engine.record import differences
from experiments.first_mark.study import Setting, fixed
from experiments.positions.study import TASK

SEEDS = tuple(range(421, 441))
STEPS = 6000


def reported() -> dict[str, Setting]:
    """Return ALiBi with a mark, as tuned for the shorter training."""
    return {"alibi-marked": replace(shorter()["alibi-marked"], steps=STEPS)}


def lost(runs: Runs, when: str = "") -> list[float]:
    """Return how much less is right on texts four times as long, seed by seed."""
    short, long = (runs[f"alibi-marked/{when}accuracy/{n}"] for n in (TASK.length, 4 * TASK.length))
    return differences(short, long)


def caught_up(runs: Runs) -> list[float]:
    """Return how much less is lost at the end than halfway."""
    return differences(lost(runs, "halfway/"), lost(runs))


STUDY = replace(
    ALIBI_MARK, name="alibi_mark_longer", title="ALiBi with a first mark, for longer",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), config=lambda: fixed(reported()), trials=None,
    modules=(*ALIBI_MARK.modules, "experiments.alibi_mark.study"),
    claims=read_claims(__file__, caught_up),
)  # fmt: skip
