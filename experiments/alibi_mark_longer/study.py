"""Does ALiBi with a first mark keep its answers on longer texts, if it trains for longer?

The study `alibi_mark`, with three times the updates, on other seeds.
"""

from dataclasses import replace

from experiments.alibi_mark.study import STUDY as ALIBI_MARK
from experiments.alibi_mark.study import reported as shorter
from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import on
from experiments.first_mark.study import Setting, fixed
from experiments.positions.study import TASK

SEEDS = tuple(range(421, 441))
STEPS = 6000


def reported() -> dict[str, Setting]:
    """Return ALiBi with a mark, as tuned for the shorter training."""
    return {"alibi-marked": replace(shorter()["alibi-marked"], steps=STEPS)}


STUDY = replace(
    ALIBI_MARK, name="alibi_mark_longer", title="ALiBi with a first mark, for longer",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), config=lambda: fixed(reported()), trials=None,
    modules=(*ALIBI_MARK.modules, "experiments.alibi_mark.study"), claims=read_claims(__file__),
)  # fmt: skip
