"""The race of Transformer and recurrent translator where neither gets everything right.

In the older race both end at 99 % of the sentences. Here they train on 2,000 sentence pairs instead
of 10,000, which leaves room above, at three sizes: a Transformer 32, 64 and 96 wide, and recurrent
translators with additive attention and as many weights. What counts as equal, 3 points, was fixed
before the runs. What an update costs is measured, too: where it takes both about as long, equal
updates are equal seconds. `--tune` tries the same rates for all six, at the reported budget, on
sentences of their own. The middle size also trains twice as long.
"""

from collections.abc import Mapping
from dataclasses import replace

from experiments.engine.claims_file import read_claims
from experiments.engine.code import TRANSFORMERS, TRANSLATORS
from experiments.engine.experiment import Experiment, on
from experiments.engine.kinds import number
from experiments.engine.settings import LIVE_TASK
from experiments.engine.translators import Setting, Trainable, kinds, outcome, smoke_trace
from experiments.engine.trials import Trials, tuned
from experiments.engine.update_cost import update_costs
from experiments.memory_context.study import validation_loss
from experiments.transformer.study import TransformerSetting

SEEDS = tuple(range(561, 581))
TASK = replace(LIVE_TASK, train_pairs=2000, bins=(), test_pairs=1000)
VALIDATION = replace(TASK, test_pairs=500, test_seed=80_001, apart_from=TASK)
UPDATES = 800
LEARNING_RATES = (2e-3, 4e-3, 8e-3, 16e-3, 32e-3)
"""The last was added for all when the two narrow ones had taken the largest of the others."""
WIDTHS = {"narrow": (32, 28), "middle": (64, 92), "wide": (96, 152)}
"""Of the Transformer, and of the recurrent state with about as many weights."""


def arms() -> dict[str, Trainable]:
    """Return both translators at every size as they are tried: at the reported budget."""
    found: dict[str, Trainable] = {}
    for size, (embedding, state) in WIDTHS.items():
        found[f"transformer/{size}"] = TransformerSetting(
            embed_dim=embedding, hidden_dim=2 * embedding, steps=UPDATES
        )
        found[f"recurrent/{size}"] = Setting("additive", hidden_dim=state, steps=UPDATES)
    return found


def reported() -> Mapping[str, Trainable]:
    """Return the tuned arms, and those of the middle size with twice the updates."""
    settings = tuned("race_with_room", arms())
    middle = {name: one for name, one in settings.items() if name.endswith("middle")}
    return settings | {f"{k}_longer": replace(s, steps=2 * UPDATES) for k, s in middle.items()}


def update_cost(seed: int) -> dict[str, float]:
    """Return what an update of each Transformer costs, as a multiple of its rival's."""
    settings = arms()
    return {
        f"update_cost/{size}": update_costs(
            {kind: settings[f"{kind}/{size}"] for kind in ("recurrent", "transformer")}, TASK, seed
        )["transformer"]
        for size in WIDTHS
    }


STUDY = Experiment(
    name="race_with_room", title="A Transformer and a recurrent translator with room above",
    seeds=SEEDS, arms=lambda: on(TASK, reported()), outcome=outcome, beside=update_cost, timed=True,
    trials=Trials(arms, LEARNING_RATES, VALIDATION, "validation_loss", outcome=validation_loss),
    config=lambda: {"task": TASK, "validation": VALIDATION, "arms": reported()},
    kinds={"update_cost/*": number("× a recurrent update", 0, timed=True), **kinds(TASK)},
    modules=(
        *TRANSLATORS, *TRANSFORMERS, "experiments.engine.update_cost",
        "experiments.memory_context.study", "experiments.transformer.study",
    ),
    claims=read_claims(__file__), smoke=lambda: smoke_trace(arms().values()), workers=1,
)  # fmt: skip
