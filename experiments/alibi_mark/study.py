"""Does a first mark help ALiBi, too? The study `first_mark`, with ALiBi instead of no positions."""

from dataclasses import replace
from functools import partial

from experiments.engine.claims_file import read_claims
from experiments.engine.experiment import on
from experiments.first_mark.study import STUDY as FIRST_MARK
from experiments.first_mark.study import TRIALS, arms, fixed, smoke
from experiments.first_mark.study import reported as settings
from experiments.positions.study import TASK

reported = partial(settings, "alibi_mark", "alibi")

STUDY = replace(
    FIRST_MARK, name="alibi_mark", title="ALiBi, with a first mark and without",
    arms=lambda: on(TASK, reported()), config=lambda: fixed(reported()),
    trials=replace(TRIALS, arms=partial(arms, "alibi")),
    modules=(*FIRST_MARK.modules, "experiments.first_mark.study"),
    claims=read_claims(__file__), smoke=partial(smoke, "alibi"),
)  # fmt: skip
